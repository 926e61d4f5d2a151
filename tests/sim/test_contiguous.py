from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.contiguous import Reservation
from sim.contiguous.orca import Orca, line_up
from sim.contiguous.run import COLUMNS, reserve
from sim.prompt import TokenPrompt
from sim.scenario import RequestSpec, Scenario
from tests.sim.slow_orca import slow_orca
from tests.sim.strategies import scenarios

MAX, POW2, ORACLE = Reservation
reservations = st.sampled_from(Reservation)


def rows(run):
    return list(zip(*(run.columns[name].tolist() for name in COLUMNS), strict=True))


def opt_13b(requests):
    """12 GiB of KV cache at 800 KiB a token, the vLLM paper's OPT-13B on an A100 of 40 GB."""
    slots = 12 * 2**30 // (800 * 2**10)
    assert slots == 15_728
    return Scenario(slots + 1, 1, tuple(requests), max_model_len=2048, max_num_batched_tokens=10**6)


# --- how much is reserved -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outputs", "pow2", "oracle"),
    [(25, 132, 124), (32, 132, 131), (33, 164, 132), (1, 101, 100), (600, 700, 699)],
)
def test_slots_of_a_reservation(scenario, request_spec, outputs, pow2, oracle):
    """After a prompt of 100; the last output is never stored, and 700 is all that may be."""
    spec = request_spec("A", [1] * 100, outputs)
    settings = scenario(spec, max_model_len=700)
    assert [how.slots(settings, spec) for how in Reservation] == [700, pow2, oracle]


def test_labels_are_the_papers():
    assert [how.label for how in Reservation] == ["Orca (Max)", "Orca (Pow2)", "Orca (Oracle)"]


# --- runs by hand ---------------------------------------------------------------------------------

# 28 slots: blocks of 16 at 0, 8 at 16, 4 at 24. A and B: 5 tokens in, 3 out; C: 3 in, 1 out.
BY_HAND = {
    # A and B reserve 12 of 16 slots, 7 of which will be full; so does C, for 3.
    MAX: [
        *((1, 2, 5, 2, 5, 4 + 12), (1, 2, 6, 1, 5, 4 + 12), (1, 2, 7, 0, 5, 4 + 12)),
        *((1, 1, 5, 2, 5, 4 + 12), (1, 1, 6, 1, 5, 4 + 12), (1, 1, 7, 0, 5, 4 + 12)),
        (1, 0, 3, 0, 9, 4),
    ],
    # A and B reserve 5 + 4 of 16 slots, C reserves 3 + 1: it would fit in, but is behind B.
    POW2: [
        *((1, 2, 5, 2, 2, 7 + 12), (1, 2, 6, 1, 2, 7 + 12), (1, 2, 7, 0, 2, 7 + 12)),
        *((2, 0, 8, 2, 3, 7), (1, 0, 6, 1, 2, 7), (1, 0, 7, 0, 2, 7)),
    ],
    # A has 7 of the 8 at 16, B 7 of 8 at 0, C 3 of the 4 at 24.
    ORACLE: [(3, 0, 13, 4, 0, 3), (2, 0, 12, 2, 0, 2), (2, 0, 14, 0, 0, 2)],
}


@pytest.mark.parametrize("how", Reservation)
def test_by_hand(scenario, request_spec, how):
    requests = [
        request_spec(*row) for row in (("A", [1] * 5, 3), ("B", [1] * 5, 3), ("C", [1] * 3, 1))
    ]
    run = reserve(scenario(*requests, max_model_len=12), how)
    assert (run.capacity, run.reservation, run.stuck) == (28, how, None)
    assert rows(run) == BY_HAND[how]


def test_only_blocks_too_small_for_the_next_in_line_are_external(scenario, request_spec):
    """A has 8 at 16. B waits for A's turn to end, not for memory: it could use 16, but not 4."""
    a, b = (request_spec(name, [1] * 7, 2) for name in "AB")
    run = reserve(scenario(a, b, max_num_seqs=1), ORACLE)
    assert rows(run) == [
        (1, 1, 7, 1, 0, 4),
        (1, 1, 8, 0, 0, 4),
        (1, 0, 7, 1, 0, 0),
        (1, 0, 8, 0, 0, 0),
    ]


def test_arrivals_and_budget_are_the_paged_run_s(scenario, request_spec):
    a = request_spec("A", [1] * 10, 1, arrival=2)
    run = reserve(scenario(a, max_num_batched_tokens=4, max_model_len=12), MAX)
    assert run.columns["running"].tolist() == [0, 0, 1, 1, 1]
    assert run.columns["used"].tolist() == [0, 0, 4, 8, 10]


def test_the_line_is_in_order_of_arrival_then_of_the_scenario(scenario, request_spec):
    late, *early = (request_spec(name, [1], 1, arrival=name == "A") for name in "ABC")
    line = line_up(scenario(late, *early), MAX)
    assert [request.id for request in line] == ["B", "C", "A"]


def test_nobody_runs_when_the_memory_has_no_piece_as_large(scenario, request_spec):
    """28 slots, but no 17 of them in one piece."""
    run = reserve(scenario(request_spec("A", [1], 1), max_model_len=17), MAX)
    assert (run.num_steps, run.stuck) == (0, "A")
    assert run.at(np.array([0, 3]))["running"].tolist() == [0, 0]


def test_who_can_never_enter_keeps_out_all_behind(scenario, request_spec):
    a, b, c = request_spec("A", [1], 2), request_spec("B", [1] * 17, 1), request_spec("C", [1], 1)
    run = reserve(scenario(a, b, c), ORACLE)
    assert run.columns["running"].tolist() == [1, 1]
    assert run.columns["waiting"].tolist() == [2, 2]
    assert run.columns["external"].tolist() == [26, 26]
    assert run.stuck == "B"


def test_a_long_decode_takes_two_looks(scenario, request_spec):
    long = scenario(request_spec("A", [1], 100_000), max_model_len=200_000)
    orca = Orca(long, line_up(long, MAX), capacity=2**18)
    assert [span.step for span in orca.spans(until=None)] == [0, 1]
    assert orca.step == 100_000


# --- the vLLM paper -------------------------------------------------------------------------------


def test_orca_max_of_the_paper():
    """Fig. 13: 7.00 requests at once; Fig. 2: 8.9 % external and others."""
    requests = [RequestSpec(f"r{i}", 0, TokenPrompt((1,) * 161), 338) for i in range(30)]
    run = reserve(opt_13b(requests), MAX)
    busy = run.columns["waiting"] > 0
    assert set(run.columns["running"][busy].tolist()) == {7}
    assert set(run.columns["external"][busy].tolist()) == {1392}
    assert round(100 * 1392 / run.capacity, 2) == 8.85


def test_the_three_are_one_where_prompts_have_1024_tokens():
    """Section 6.5: then each gets 2,048 slots, whatever is known of its output."""
    outputs = np.random.default_rng(1).integers(2, 1025, 60).tolist()
    prompt = TokenPrompt((1,) * 1024)
    scenario = opt_13b(RequestSpec(f"r{i}", 0, prompt, n) for i, n in enumerate(outputs))
    runs = [reserve(scenario, how) for how in Reservation]
    for name in ("running", "waiting", "used", "reserved"):
        assert len({tuple(run.columns[name].tolist()) for run in runs}) == 1
    assert [int(run.columns["internal"].sum() > 0) for run in runs] == [1, 1, 0]


# --- any workload ---------------------------------------------------------------------------------


@settings(max_examples=200)
@given(scenarios(), reservations)
def test_it_is_the_run_slot_by_slot(scenario, how):
    assert rows(reserve(scenario, how)) == slow_orca(scenario, how)


@settings(max_examples=60)
@given(scenarios(), reservations, st.integers(0, 30))
def test_a_cut_run_is_the_begin_of_the_whole_one(scenario, how, until):
    whole, cut = reserve(scenario, how), reserve(scenario, how, until)
    assert cut.num_steps == min(until, whole.num_steps)
    assert rows(cut) == rows(whole)[:until]


@settings(max_examples=20)
@given(scenarios(), reservations)
def test_after_its_end_a_run_is_zero(scenario, how):
    run = reserve(scenario, how)
    columns = run.at(np.arange(run.num_steps + 3))
    for name, column in run.columns.items():
        assert columns[name].tolist() == [*column.tolist(), 0, 0, 0]


# --- which of the three runs more at once ---------------------------------------------------------


@st.composite
def crowds(draw):
    """Up to 24 tokens a request: a piece of 32 for Max, and room for one to three of them."""
    lengths = st.tuples(st.integers(0, 12), st.integers(1, 12), st.integers(1, 12))
    requests = (
        RequestSpec(f"r{i}", arrival, TokenPrompt((1,) * prompt), outputs)
        for i, (arrival, prompt, outputs) in enumerate(
            draw(st.lists(lengths, min_size=4, max_size=20))
        )
    )
    return Scenario(
        num_gpu_blocks=draw(st.integers(33, 128)),
        block_size=1,
        requests=tuple(requests),
        max_num_seqs=draw(st.integers(1, 30)),
        max_num_batched_tokens=draw(st.sampled_from([3, 20, 10_000])),
        max_model_len=25,
    )


@settings(max_examples=150)
@given(crowds(), st.sampled_from([POW2, ORACLE]))
def test_with_budget_for_all_nobody_enters_later_than_under_max(scenario, how):
    """No piece is larger than Max's. So where one finds no room, each stretch of memory in which
    Max would put a piece has somebody in it: as many run as Max could ever run.
    """
    scenario = replace(scenario, max_num_batched_tokens=10_000)
    most, fewer = reserve(scenario, MAX), reserve(scenario, how)
    steps = np.arange(most.num_steps)
    now, then = fewer.at(steps), most.at(steps)
    crowded = now["waiting"] > 0
    assert fewer.num_steps <= most.num_steps
    assert (now["waiting"] <= then["waiting"]).all()
    assert (now["running"] >= then["running"])[crowded].all()
    assert now["running"].max(initial=0) >= then["running"].max(initial=0)


@settings(max_examples=150)
@given(crowds())
def test_until_the_first_end_less_reserved_is_no_fewer_at_once(scenario):
    """A memory that got nothing back yet refuses only when it is full (tests/sim/test_buddy.py)."""
    ends = (spec.arrival_step + spec.max_tokens for spec in scenario.requests)
    steps = np.arange(min(ends, default=0))
    most, pow2, oracle = (reserve(scenario, how).at(steps)["running"] for how in Reservation)
    assert (most <= pow2).all()
    assert (pow2 <= oracle).all()


def test_oracle_may_run_fewer_at_once_than_pow2(scenario, request_spec):
    """12 slots: blocks of 8 at 0 and 4 at 8. A runs for one step, B for two; C needs 8 slots.

    Oracle: A fills the 4, so B halves the 8, and C must wait for it. Pow2: A has the 8 and B the 4,
    so C follows A at once.
    """
    requests = [request_spec(*row) for row in (("A", [1] * 4, 1), ("B", [1], 2), ("C", [1] * 4, 2))]
    few = scenario(*requests, num_gpu_blocks=4, max_model_len=8)
    assert reserve(few, ORACLE).columns["running"].tolist() == [2, 1, 1, 1]
    assert reserve(few, POW2).columns["running"].tolist() == [2, 2, 1]
