"""CUDA graphs of the decode kernel, on a GPU alone: replays, other lengths, no wait."""

from dataclasses import replace

import pytest
import torch

from kernels.decode import paged_attention, plan_decode
from tests.kernels.problem import make_problem, poison, tiled

__test__ = torch.cuda.is_available()  # elsewhere there is nothing to collect
pytestmark = pytest.mark.gpu

REPLAYS = 10_000
LENGTHS = (700, 0, 1, 4000, 129, 64, 513, 1023) * 3  # more to merge than programs that do
STEPS = [(500,) * 5, (20, 6000, 0, 77, 1), (0,) * 5, (2000, 1999, 2001, 0, 1234), (1,) * 5]
FLOAT16 = torch.float16
CUDA = torch.device("cuda")


class Step:
    """Tensors that a graph has captured, and the graph: the plan and two layers' attention.

    `config` None is the kernel's own choice."""

    def __init__(self, problem, planned, config=None):
        self.problem, self.planned, self.config = problem, planned, config
        self.arguments = {
            name: value.clone() if isinstance(value, torch.Tensor) else value
            for name, value in problem.arguments.items()
        }
        self.outs = [torch.empty_like(problem.query) for _ in range(2)]
        self.lse = torch.empty(problem.query.shape[:2], device=CUDA)
        self.plan = None
        if self.planned == "before it":
            self.make_plan()
        self.run()  # compiles
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.run()

    def make_plan(self):
        step = (self.arguments[name] for name in ("query", "key_cache", "seq_lens"))
        window = self.arguments.get("sliding_window")
        self.plan = plan_decode(*step, sliding_window=window, config=self.config)

    def run(self):
        if self.planned == "in the graph":
            self.make_plan()
        for out in self.outs:
            paged_attention(**self.arguments, out=out, lse=self.lse, plan=self.plan)

    def poison(self):
        for result in (*self.outs, self.lse):
            result.fill_(torch.nan)
        if self.plan:
            poison(self.plan)

    def replay(self):
        self.graph.replay()
        return self.outs[0].clone(), self.outs[1].clone(), self.lse.clone()

    def load(self, problem):
        """Another step's contents into the captured tensors."""
        for name, value in problem.arguments.items():
            if isinstance(value, torch.Tensor):
                self.arguments[name].copy_(value)


def is_right(step, problem, results):
    out, lse = problem.answer()
    tolerance = 4e-3 if problem.query.dtype == FLOAT16 else 1e-5
    first, second, ours = (result.double().cpu() for result in results)
    return (
        torch.equal(first, second)
        and (first - out).abs().max() <= tolerance
        and torch.where(ours == lse, 0.0, (ours - lse).abs()).max() <= 1e-4
    )


@pytest.mark.parametrize("planned", ["in the graph", "before it", "not"])
@pytest.mark.parametrize("heads", [(28, 4), (8, 8)])
def test_ten_thousand_replays_have_the_same_bits(planned, heads):
    problem = make_problem(CUDA, LENGTHS, heads, 128, dtype=FLOAT16)
    step = Step(problem, planned)
    step.poison()
    first = step.replay()
    assert is_right(step, problem, first)
    differ = torch.zeros((), dtype=torch.int64, device=CUDA)

    for number in range(REPLAYS):
        if number % 7 == 0:
            step.poison()
        for result, expected in zip(step.replay(), first, strict=True):
            differ += (result.view(torch.uint8) != expected.view(torch.uint8)).sum()

    assert differ.item() == 0


@pytest.mark.parametrize("planned", ["in the graph", "not"])
@pytest.mark.parametrize("config", [None, tiled(64, 1), tiled(32, 4)])
@pytest.mark.parametrize("options", [{}, {"sliding_window": 300}, {"soft_cap": 5.0}])
def test_one_graph_serves_other_lengths_and_tables(planned, config, options):
    """The plan is made in the graph: each replay plans for the lengths that it finds."""
    steps = [
        make_problem(CUDA, lengths, (8, 2), dtype=FLOAT16, seed=seed, **options)
        for seed, lengths in enumerate(STEPS)
    ]
    widest = max(steps, key=lambda problem: problem.block_tables.shape[1])
    largest = max(len(problem.key_cache) for problem in steps)
    steps = [grown(problem, widest.block_tables.shape[1], largest) for problem in steps]
    step = Step(steps[0], planned, config)

    for problem in (*steps, *reversed(steps)):
        step.load(problem)
        step.poison()
        assert is_right(step, problem, step.replay())


def grown(problem, width, num_blocks):
    """With a table and caches of that size; what is new is NaN, or leads nowhere."""
    tables = torch.full((len(problem.query), width), -1, dtype=torch.int32, device=CUDA)
    tables[:, : problem.block_tables.shape[1]] = problem.block_tables
    caches = []
    for cache in (problem.key_cache, problem.value_cache):
        larger = torch.full((num_blocks, *cache.shape[1:]), torch.nan, dtype=FLOAT16, device=CUDA)
        larger[: len(cache)] = cache
        caches.append(larger)
    return replace(problem, block_tables=tables, key_cache=caches[0], value_cache=caches[1])


@pytest.mark.parametrize("cache_dtype", [FLOAT16, torch.float8_e4m3fn])
@pytest.mark.parametrize("num_seqs", [1, 3, 40])
def test_the_host_waits_for_nothing(cache_dtype, num_seqs):
    lengths = (300,) * num_seqs
    problem = make_problem(CUDA, lengths, (8, 2), 64, dtype=FLOAT16, cache_dtype=cache_dtype)
    scale = torch.full((1,), 2.0, device=CUDA)
    step = (problem.query, problem.key_cache, problem.seq_lens)

    def run():
        plan = plan_decode(*step)
        for one in (plan, None):
            paged_attention(**problem.arguments, plan=one, k_scale=scale, v_scale=scale)

    run()  # compiles
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        run()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_two_streams_with_plans_of_their_own():
    """Calls that run at the same time share nothing, if each has its plan."""
    problems = [
        make_problem(CUDA, LENGTHS, (8, 2), 64, dtype=FLOAT16, seed=seed) for seed in range(2)
    ]
    streams = [torch.cuda.Stream() for _ in problems]
    step = ("query", "key_cache", "seq_lens")
    expected = [problem.attend()[0] for problem in problems]
    outs = [[], []]
    torch.cuda.synchronize()
    for _ in range(100):
        for problem, stream, results in zip(problems, streams, outs, strict=True):
            with torch.cuda.stream(stream):
                plan = plan_decode(*(getattr(problem, name) for name in step))
                results.append(paged_attention(**problem.arguments, plan=plan))
    torch.cuda.synchronize()

    for right, results in zip(expected, outs, strict=True):
        assert all(torch.equal(result, results[0]) for result in results)
        assert (results[0] - right).abs().max() <= 2e-3
