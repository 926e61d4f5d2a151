"""Requests that compute one token in every step: most of the work of a run, and all alike.

A decode step inside a block changes no block table, so nobody looks at such a request until it
starts a block, fills one, or ends. That a request is in one of these states follows from the number
of steps so far, since its computed tokens grow with them.
"""

from operator import attrgetter

from sim.request import Request

by_order = attrgetter("order")


class Decoders:
    """Running requests that have computed all tokens but the newest, in phases of the block size.

    `now` counts the steps that were scheduled so far; the owner moves it on. `count` is how many
    decoders there are, `starting` the phase of those that start a block with their next token, and
    `filling` of those that fill one.
    """

    def __init__(self, block_size: int) -> None:
        self.now = 0
        self.count = 0
        self.starting, self.filling = 0, block_size - 1
        self._block_size = block_size
        self._by_phase: dict[int, list[Request]] = {}
        self._ending: dict[int, dict[Request, None]] = {}  # step -> requests; some left since

    def add(self, request: Request) -> None:
        """Count a request's tokens by steps from now on."""
        request.lead = request.num_computed_tokens - self.now
        request.phase = request.lead % self._block_size
        self._by_phase.setdefault(request.phase, []).append(request)
        end = self.now + request.last_output - request.num_output_tokens
        self._ending.setdefault(end, {})[request] = None
        self.count += 1

    def remove(self, request: Request) -> None:
        """Write its tokens down, and look at it one by one again."""
        assert request.lead is not None
        self._by_phase[request.phase].remove(request)
        self.count -= 1
        self.write_down(request)
        request.lead = None

    def write_down(self, request: Request) -> None:
        """Bring a decoder's two token counts up to date; what it computed last has its answer."""
        if request.lead is not None:
            request.num_computed_tokens = request.lead + self.now
            request.num_tokens = request.num_computed_tokens + 1

    def move_on(self) -> None:
        """A step was scheduled."""
        self.now += 1
        self.starting, self.filling = self.filling, (-1 - self.now) % self._block_size

    def due(self, fills: bool) -> list[Request]:
        """Those that start a block with their next token, or `fills` one, in order of admission."""
        found = self._by_phase.get(self.starting, [])
        if fills and self._block_size > 1:
            found = found + self._by_phase.get(self.filling, [])
        return sorted(found, key=by_order)

    def ending(self) -> list[Request]:
        """Those that get their last token now, in any order; and some that were held up since."""
        return [r for r in self._ending.pop(self.now, ()) if r.lead is not None]
