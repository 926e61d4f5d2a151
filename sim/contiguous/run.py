"""What paging replaced: each request holds one piece of memory from its entry to its end.

The same requests, the same memory and the same token budget as the paged run, first come first
served; a request enters when the buddy allocator has a piece for its reservation, and nobody
overtakes it. Nothing is shared and nobody is preempted. This is Orca as the vLLM paper assumes it
(arXiv 2309.06180, section 6.1).

Which reservation runs more at once? With a budget that is enough for all, nobody enters later under
Pow2 or Oracle than under Max: while one waits for memory, each stretch in which Max would have a
piece has somebody in it. Oracle and Pow2 have no such order once a piece was given back, as a small
piece can lie in the way of a large one (tests/sim/test_contiguous.py has a case).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.columns import Column
from sim.contiguous.orca import Orca, Span, line_up
from sim.contiguous.reservation import Reservation
from sim.scenario import Scenario

COLUMNS = ("running", "waiting", "used", "reserved", "internal", "external")


@dataclass(frozen=True, slots=True)
class ContiguousRun:
    """The baseline's run, in requests and slots per engine step (int64 columns).

    Every slot of the memory is one of five, as in Fig. 2 of the paper, and counted once:

        used      holds a token
        reserved  is in a reservation, and will hold a token before its request ends
        internal  is in a reservation, and never will
        external  the rest of a piece, as the allocator rounds a reservation up to a power of two;
                  and while somebody waits, what is free in blocks too small for the next in line
        usable    all else that is free: `capacity` less the four

    `stuck` is the next in line, if it reserves more than the largest piece the empty memory has: it
    and all behind it never run.
    """

    capacity: int
    reservation: Reservation
    columns: Mapping[str, Column]
    stuck: str | None

    @property
    def num_steps(self) -> int:
        """Engine steps until nobody ran or could any more, or the run was cut."""
        return len(self.columns["running"])

    def at(self, engine_steps: Column) -> dict[str, Column]:
        """The columns at some engine steps; zero after the end of the run."""
        rows = np.minimum(engine_steps, self.num_steps)
        return {name: np.append(column, 0)[rows] for name, column in self.columns.items()}


def reserve(
    scenario: Scenario, reservation: Reservation, until: int | None = None
) -> ContiguousRun:
    """Run the scenario's requests with one reservation each, for at most `until` engine steps.

    A step is one engine step, whatever it takes in the paged run. A prompt is spread over steps by
    the budget; the paged scheduler's other rules (priority, watermark, threshold) do not hold here,
    and requests that were aborted there run to their end.
    """
    capacity = (scenario.num_gpu_blocks - 1) * scenario.block_size
    line = line_up(scenario, reservation)
    orca = Orca(scenario, line, capacity)
    spans = np.array(list(orca.spans(until)), np.int64).reshape(-1, len(Span._fields))
    num_steps = orca.step if until is None else min(orca.step, until)
    arrivals = np.array([request.arrival_step for request in line], np.int64)
    columns = _columns(spans, num_steps, arrivals)
    return ContiguousRun(capacity, reservation, columns, orca.stuck.id if orca.stuck else None)


def _columns(spans: Column, num_steps: int, arrivals: Column) -> dict[str, Column]:
    """COLUMNS of the first `num_steps` steps from the rows of Span, which cover them."""
    steps = np.arange(num_steps)
    rows = np.searchsorted(spans[:, 0], steps, side="right") - 1
    start, entered, running, used, stored, reserved, pieces, too_small = spans[rows].T
    used = used + running * (steps - start)
    arrived = np.searchsorted(arrivals, steps, side="right")
    values = (
        running,
        arrived - entered,
        used,
        stored - used,
        reserved - stored,
        pieces - reserved + too_small,
    )
    return dict(zip(COLUMNS, values, strict=True))
