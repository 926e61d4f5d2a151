"""Runs of any size that use all of a pool: the player is measured on them, and tested on some.

Conversations come back longer, so they hit their own past; more arrive than the pool can hold, so
requests wait, what was cached is evicted, and who was admitted last is preempted.
"""

from random import Random

from sim.columns import pack
from sim.event_log import EventLog
from sim.prompt import HashedPrompt
from sim.scenario import RequestSpec, Scenario
from sim.simulate import Run

BLOCK_SIZE = 16
TURNOVER = 0.01  # of the pool's blocks, prefilled in a step
CONVERSATIONS = 40


def busy_scenario(num_blocks: int, num_steps: int, seed: int = 0) -> Scenario:
    """More requests than a pool of `num_blocks` serves in `num_steps`."""
    random = Random(seed)
    budget = max(4, int(num_blocks * TURNOVER))
    talks: list[tuple[int, ...]] = [()] * CONVERSATIONS
    requests: list[RequestSpec] = []
    blocks_asked = fresh = 0
    longest = max(4, num_blocks // 25)
    while blocks_asked < budget * num_steps:
        talk = random.randrange(CONVERSATIONS)
        turn = random.randint(1, max(2, num_blocks // 100))
        past = talks[talk] if len(talks[talk]) + turn <= longest else ()
        talks[talk] = (*past, *range(fresh, fresh + turn))
        fresh += turn
        prompt = HashedPrompt(talks[talk], BLOCK_SIZE, len(talks[talk]) * BLOCK_SIZE)
        arrival, outputs = blocks_asked // budget, random.randint(60, 200)
        requests.append(RequestSpec(f"r{len(requests)}", arrival, prompt, outputs))
        blocks_asked += turn
    return Scenario(
        num_gpu_blocks=num_blocks,
        block_size=BLOCK_SIZE,
        requests=tuple(requests),
        max_num_batched_tokens=budget * BLOCK_SIZE,
        max_model_len=longest * BLOCK_SIZE + 256,
        scheduler_reserve_full_isl=False,
    )


def busy_log(num_blocks: int, num_steps: int) -> EventLog:
    """The first `num_steps` of the run, with what each of them needs."""
    scenario = busy_scenario(num_blocks, num_steps)
    run = Run(scenario)
    while run.num_steps < num_steps and run.advance():
        pass
    return EventLog(scenario, run.log.columns(), run.stalled)


def busy_blob(num_blocks: int, num_steps: int) -> bytes:
    """The log as the player gets it."""
    log = busy_log(num_blocks, num_steps)
    return pack({**log.header(), "stage": "pool"}, log.columns)
