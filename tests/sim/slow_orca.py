"""Orca step by step, request by request and slot by slot: slow, and plain to check."""

from dataclasses import dataclass

from sim.contiguous import Reservation
from sim.stop import num_outputs


def doubled(slots):
    size = 1
    while size < slots:
        size *= 2
    return size


def free_blocks(capacity, held):
    """(size, start) of the free blocks, when the slots in `held` are not free: halve what is."""
    start, found = 0, []
    for size in (2**k for k in reversed(range(32))):
        if capacity - start >= size:
            found += _free_within(start, size, held)
            start += size
    return found


def _free_within(start, size, held):
    if not held & set(range(start, start + size)):
        return [(size, start)]
    half = size // 2
    return (half and _free_within(start, half, held) + _free_within(start + half, half, held)) or []


@dataclass(eq=False)
class Tenant:
    prompt: int
    outputs: int
    reserved: int
    start: int = -1
    computed: int = 0
    emitted: int = 0

    @property
    def stored(self):
        return self.prompt + self.outputs - 1

    def compute(self, budget):
        """Tokens that it computes of those it has; it emits one when it has computed all."""
        tokens = min(self.prompt + self.emitted - self.computed, budget)
        self.computed += tokens
        return tokens


def tenant(scenario, spec, how):
    prompt, outputs = spec.prompt.num_tokens, num_outputs(scenario, spec)
    reserved = {
        Reservation.MAX: scenario.max_model_len,
        Reservation.POW2: min(prompt + doubled(outputs), scenario.max_model_len),
        Reservation.ORACLE: prompt + outputs - 1,
    }[how]
    return Tenant(prompt, outputs, reserved)


def slow_orca(scenario, how):
    """Rows of (running, waiting, used, reserved, internal, external)."""
    capacity = (scenario.num_gpu_blocks - 1) * scenario.block_size
    specs = sorted(scenario.requests, key=lambda spec: spec.arrival_step)
    coming = [(spec.arrival_step, tenant(scenario, spec, how)) for spec in specs]
    waiting, running, owners, rows = [], [], {}, []
    while True:
        line = waiting + [one for _, one in coming]
        if not running and not (line and doubled(line[0].reserved) <= capacity):
            return rows
        while coming and coming[0][0] <= len(rows):
            waiting.append(coming.pop(0)[1])
        budget = scenario.max_num_batched_tokens
        for one in running:
            budget -= one.compute(budget)
        while waiting and budget and len(running) < scenario.max_num_seqs:
            size = doubled(waiting[0].reserved)
            fitting = [block for block in free_blocks(capacity, set(owners)) if block[0] >= size]
            if not fitting:
                break
            one = waiting.pop(0)
            one.start = min(fitting)[1]
            for slot in range(one.start, one.start + size):
                assert slot not in owners, "two requests in one slot"
                owners[slot] = one
            running.append(one)
            budget -= one.compute(budget)
        rows.append(count(capacity, running, waiting, owners))
        for one in list(running):
            one.emitted += one.computed == one.prompt + one.emitted
            if one.emitted == one.outputs:
                running.remove(one)
                owners = {slot: owner for slot, owner in owners.items() if owner is not one}


def count(capacity, running, waiting, owners):
    """One row, from what each slot is."""
    need = doubled(waiting[0].reserved) if waiting else 0
    kinds = [kind(owners[slot], slot) for slot in owners]
    for size, _ in free_blocks(capacity, set(owners)):
        kinds += ["usable" if size >= need else "external"] * size
    assert len(kinds) == capacity
    shares = [kinds.count(name) for name in ("used", "reserved", "internal", "external")]
    return (len(running), len(waiting), *shares)


def kind(owner, slot):
    place = slot - owner.start
    for end, name in (
        (owner.computed, "used"),
        (owner.stored, "reserved"),
        (owner.reserved, "internal"),
    ):
        if place < end:
            return name
    return "external"
