"""Times of a call on a GPU: CUDA events around graphs of many launches, the cache read cold."""

from collections.abc import Callable, Sequence
from functools import partial

import torch

from kernels.device import free_bytes
from kernels.inputs import Inputs
from kernels.job import Timing

WARM_UP = 3
SAMPLES = 50
SAMPLE_US = 2_000  # length of one graph: event resolution and launch cost vanish in it
MAX_COPIES = 64


def measure(attend: Callable[..., torch.Tensor], inputs: Inputs) -> Timing:
    """Time the attention over copies of the cache, read in turn so that none is found in L2."""
    out = torch.empty_like(inputs.query)
    tables = (inputs.block_tables, inputs.seq_lens, inputs.scale)
    calls = [partial(attend, inputs.query, *cache, *tables, out=out) for cache in _copies(inputs)]
    return replay(calls, _cache_bytes(inputs))


def replay(
    calls: Sequence[Callable[[], object]], call_bytes: int, samples: int = SAMPLES
) -> Timing:
    """Time one of the calls, each of which touches `call_bytes` of its own.

    One graph holds all calls the same number of times, in turn; it is replayed `samples` times
    after WARM_UP replays, each between two events. Every call must have run before.
    """
    turn = _capture(calls, 1)
    turn.replay()
    rounds = max(1, round(SAMPLE_US / _microseconds(turn.replay)))
    graph = _capture(calls, rounds) if rounds > 1 else turn
    for _ in range(WARM_UP):
        graph.replay()
    launches = rounds * len(calls)
    times = tuple(_microseconds(graph.replay) / launches for _ in range(samples))
    return Timing(times, launches, len(calls), len(calls) * call_bytes, l2_bytes())


def l2_bytes() -> int:
    """The size of this GPU's L2."""
    return int(torch.cuda.get_device_properties(0).L2_cache_size)


def _cache_bytes(inputs: Inputs) -> int:
    return 2 * inputs.key.nbytes  # what is written is what is read; the rest of the pool is not


def _copies(inputs: Inputs) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The cache and enough copies to read three times the L2, within half the free memory."""
    enough = -(-3 * l2_bytes() // max(1, _cache_bytes(inputs)))
    room = free_bytes() // 2 // (2 * inputs.key_cache.nbytes)
    copies = [(inputs.key_cache, inputs.value_cache)]
    for _ in range(min(enough, MAX_COPIES, room + 1) - 1):
        copies.append((inputs.key_cache.clone(), inputs.value_cache.clone()))
    return copies


def _capture(calls: Sequence[Callable[[], object]], rounds: int) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(rounds):
            for call in calls:
                call()
    return graph


def _microseconds(call: Callable[[], object]) -> float:
    """Time of one call on the device."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) * 1e3
