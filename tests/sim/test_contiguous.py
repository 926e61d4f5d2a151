from hypothesis import given, settings

from sim.contiguous import reserve_to_maximum
from sim.simulate import simulate
from sim.stop import num_outputs
from tests.sim.strategies import scenarios


def test_by_hand(scenario, request_spec):
    """28 slots of memory, 12 a reservation: two run, the third waits for the first to end."""
    a, b, c = (request_spec(name, [1, 2, 3], 2) for name in "ABC")
    run = reserve_to_maximum(scenario(a, b, c, max_model_len=12))
    columns = {name: column.tolist() for name, column in run.columns.items()}
    assert (run.capacity, run.reservation, run.most_at_once) == (28, 12, 2)
    assert columns["running"] == [2, 2, 1, 1]
    assert columns["waiting"] == [1, 1, 0, 0]
    assert columns["used"] == [6, 8, 3, 4]
    assert columns["reserved"] == [2, 0, 1, 0]
    assert columns["internal"] == [16, 16, 8, 8]
    assert columns["external"] == [4, 4, 0, 0]


def test_orca_max_of_the_vllm_paper(scenario, request_spec):
    """12 GiB at 800 KiB a token are 15,728 slots: 7 requests of 2,048 (Fig. 13: 7.00)."""
    slots = 12 * 2**30 // (800 * 2**10)
    requests = [request_spec(f"r{i}", [1] * 161, 338) for i in range(30)]
    settings = {"block_size": 1, "max_model_len": 2048, "max_num_batched_tokens": 8192}
    run = reserve_to_maximum(scenario(*requests, num_gpu_blocks=slots + 1, **settings))
    assert run.capacity == 15_728
    assert run.most_at_once == run.columns["running"].max() == 7
    unusable = run.columns["external"][run.columns["running"] == 7]
    assert round(100 * unusable[0] / slots, 1) == 8.9  # Fig. 2: external and others 8.9 %


def test_a_reservation_larger_than_the_memory_never_runs(scenario, request_spec):
    run = reserve_to_maximum(scenario(request_spec("A", [1], 1), max_model_len=29))
    assert (run.num_steps, run.most_at_once) == (0, 0)
    assert run.at(simulate(scenario(request_spec("A", [1], 1))).columns["engine_step"])[
        "running"
    ].tolist() == [0, 0]


def test_arrivals_and_budget_are_the_paged_run_s(scenario, request_spec):
    a = request_spec("A", [1] * 10, 1, arrival=2)
    run = reserve_to_maximum(scenario(a, max_num_batched_tokens=4, max_model_len=12))
    assert run.columns["running"].tolist() == [0, 0, 1, 1, 1]
    assert run.columns["used"].tolist() == [0, 0, 4, 8, 10]


@settings(max_examples=150, deadline=None)
@given(scenarios())
def test_every_slot_is_counted_once_and_every_request_ends(scenario):
    run = reserve_to_maximum(scenario)
    columns = run.columns
    held = columns["used"] + columns["reserved"] + columns["internal"]
    assert (held == columns["running"] * run.reservation).all()
    assert (held + columns["external"] <= run.capacity).all()
    assert all((column >= 0).all() for column in columns.values())
    if run.most_at_once:
        computed = sum(
            r.prompt.num_tokens + num_outputs(scenario, r) - 1 for r in scenario.requests
        )
        ended = run.columns["used"][-1]
        assert 0 < ended <= computed
