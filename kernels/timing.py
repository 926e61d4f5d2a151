"""Times of a call on a GPU: CUDA events around graphs of many launches, the cache read cold."""

from collections.abc import Callable

import torch

from kernels.device import free_bytes
from kernels.inputs import Inputs
from kernels.job import Timing

WARM_UP = 3
SAMPLES = 50
SAMPLE_US = 2_000  # length of one graph: event resolution and launch cost vanish in it
MAX_COPIES = 64


def measure(attend: Callable[..., torch.Tensor], inputs: Inputs) -> Timing:
    """Time the attention over copies of the cache, read in turn so that none is found in L2.

    One graph holds every copy's call the same number of times; it is replayed SAMPLES times after
    WARM_UP replays, each between two events.
    """
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    caches = _copies(inputs, l2_bytes)
    out = torch.empty_like(inputs.query)

    def call_each() -> None:
        for key_cache, value_cache in caches:
            attend(
                inputs.query,
                key_cache,
                value_cache,
                inputs.block_tables,
                inputs.seq_lens,
                inputs.scale,
                out=out,
            )

    rounds = max(1, round(SAMPLE_US / _microseconds(call_each)))
    graph = _capture(call_each, rounds)
    for _ in range(WARM_UP):
        graph.replay()
    launches = rounds * len(caches)
    samples = tuple(_microseconds(graph.replay) / launches for _ in range(SAMPLES))
    return Timing(samples, launches, len(caches), len(caches) * _cache_bytes(inputs), l2_bytes)


def _cache_bytes(inputs: Inputs) -> int:
    return 2 * inputs.key.nbytes  # what is written is what is read; the rest of the pool is not


def _copies(inputs: Inputs, l2_bytes: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The cache and enough copies to read three times the L2, within half the free memory."""
    enough = -(-3 * l2_bytes // max(1, _cache_bytes(inputs)))
    room = free_bytes() // 2 // (2 * inputs.key_cache.nbytes)
    copies = [(inputs.key_cache, inputs.value_cache)]
    for _ in range(min(enough, MAX_COPIES, room + 1) - 1):
        copies.append((inputs.key_cache.clone(), inputs.value_cache.clone()))
    return copies


def _capture(call: Callable[[], None], rounds: int) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(rounds):
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
