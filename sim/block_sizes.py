"""The same requests in the same memory, simulated once for each of several block sizes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sim.event_log import EventLog
from sim.pressure import pressure
from sim.scenario import MAX_BLOCKS, Scenario
from sim.simulate import simulate
from sim.stays import Stays
from sim.table_lengths import TableLengths
from sim.waste_history import paged_history

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ENTRY_BYTES = 4  # vLLM's block tables are int32 (vllm/v1/worker/block_table.py)

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class BlockSizeRun:
    """What a run with one block size comes to; `stalled`: it never ends, so it comes to nothing.

    `empty_share` is that of `WasteHistory`; `longest` is a table in entries, `mean_entries` the
    mean over all tables of all steps; `asked` and `hit` are prompt tokens of new requests, looked
    up in the prefix cache and found.
    """

    block_size: int
    num_blocks: int
    stalled: bool
    num_steps: int
    empty_share: float
    longest: int
    mean_entries: float
    asked: int
    hit: int


def usable_slots(scenario: Scenario) -> int:
    """Slots of the pool without the null block."""
    return (scenario.num_gpu_blocks - 1) * scenario.block_size


def sizes_for(scenario: Scenario) -> list[int]:
    """SIZES and the scenario's own, without those that would be more blocks than are simulated."""
    slots = usable_slots(scenario)
    sizes = sorted({*SIZES, scenario.block_size})
    return [size for size in sizes if slots // size < MAX_BLOCKS]


def cut_anew(scenario: Scenario, block_size: int) -> Scenario:
    """The scenario with its slots in blocks of another size, rounded down to whole blocks."""
    blocks = usable_slots(scenario) // block_size + 1
    return replace(scenario, block_size=block_size, num_gpu_blocks=blocks)


def sweep(scenario: Scenario, progress: Progress | None = None) -> list[BlockSizeRun]:
    """A run for each of `sizes_for`, small blocks first.

    `progress(share)` is called now and then; what it raises ends the sweep.
    """
    sizes, runs = sizes_for(scenario), []
    for place, size in enumerate(sizes):

        def show(finished: int, requests: int, place: int = place) -> None:
            if progress:
                progress((place + finished / requests) / len(sizes))

        runs.append(measured(simulate(cut_anew(scenario, size), show)))
    return runs


def measured(log: EventLog) -> BlockSizeRun:
    """What the run of a log comes to."""
    stays = Stays(log)
    columns, tables = pressure(log, stays), TableLengths(stays)
    num_tables = int(columns.running.sum())
    entries = int(tables.total(tables.length).sum())
    return BlockSizeRun(
        block_size=log.scenario.block_size,
        num_blocks=log.scenario.num_gpu_blocks,
        stalled=log.stalled,
        num_steps=log.num_steps,
        empty_share=paged_history(log, columns, tables).empty_share,
        longest=tables.longest,
        mean_entries=entries / num_tables if num_tables else 0.0,
        asked=int(columns.asked_new.sum()),
        hit=int(columns.hit_new.sum()),
    )
