"""What the benchmark counts; its times are the machine's."""

import gzip

import pytest

from sim.bench import measure, request_steps, reuse, whole_trace, workloads
from sim.simulate import simulate
from tests.sim.test_mooncake import line


def test_request_steps_count_who_computed_something(scenario, request_spec):
    """A and B preempt each other and stand at the end of the budget; counted frame by frame."""
    a = request_spec("A", [1] * 8, 5)
    b = request_spec("B", [2] * 8, 5, arrival=1)
    log = simulate(scenario(a, b, num_gpu_blocks=6, max_num_batched_tokens=5))
    counted = [len(log.frame(step).scheduled) for step in range(log.num_steps)]
    assert request_steps(log) == sum(counted)
    assert min(counted) == 0 < max(counted) == 2


def test_a_workload_is_measured_in_blocks_and_steps(scenario, request_spec):
    """9 tokens in blocks of 4 take 3 blocks; 2 outputs take 2 steps, and one more says so."""
    found = measure("small", lambda: scenario(request_spec("A", [1] * 9, 2)))
    assert (found.steps, found.request_steps, found.blocks) == (3, 2, 3)
    assert found.seconds > 0
    assert found.peak_mb > 1
    assert str(found).startswith("small ")


def test_a_trace_is_run_whole_and_its_reuse_counted(tmp_path):
    """B has A's first block of 16 in common. Whole prompts of full blocks are never all read."""
    rows = (line(), line(hash_ids=[1, 3]), line(hash_ids=[1], input_length=16))
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(rows)))
    spec = whole_trace(str(path), 50)
    assert [request.prompt.num_tokens for request in spec.requests] == [20, 20, 16]
    assert simulate(spec).frame(0).running == ("r0", "r1", "r2")
    told = reuse(str(path))
    assert told == "trace.jsonl.gz, blocks of 16: 2 of 5 hit, 32 tokens; 16 by vLLM's rule"


@pytest.mark.parametrize("traces", [[], ["a", "b"]])
def test_every_trace_adds_a_small_and_a_large_pool(traces):
    assert len(list(workloads(traces))) == 5 + 2 * len(traces)
