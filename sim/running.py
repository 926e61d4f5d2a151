"""The running requests: decoders, which are counted by steps, and others, looked at one by one."""

from sim.decoders import Decoders, by_order
from sim.request import Request


class Running:
    """Running `requests` in order of admission, and `others`, those of them that are no decoders.

    A request starts as one of the others, and is a decoder while it computes one token in each
    step.
    """

    def __init__(self, block_size: int) -> None:
        self.others: list[Request] = []
        self.decoders = Decoders(block_size)
        self.requests: list[Request] = []
        self._num_admitted = 0

    def victim(self, policy: str) -> Request:
        """Who gives way: the last admitted, or under "priority" the least urgent of all."""
        if policy == "fcfs":
            return self.requests[-1]
        return max(self.requests, key=lambda request: request.priority_key[:2])

    def admit(self, request: Request) -> None:
        """A request enters at the end."""
        request.order = self._num_admitted
        self._num_admitted += 1
        self.requests.append(request)
        self.others.append(request)

    def leave(self, request: Request) -> None:
        """A request runs no more; its token counts are written down."""
        self.look_at(request)
        self.requests.remove(request)
        self.others.remove(request)

    def decode(self, request: Request) -> None:
        """Make one of the others a decoder."""
        self.others.remove(request)
        self.decoders.add(request)

    def look_at(self, request: Request) -> None:
        """Make a decoder one of the others; its token counts are written down."""
        if request.lead is not None:
            self.decoders.remove(request)
            self.others.append(request)
            self.others.sort(key=by_order)

    def look_behind(self, request: Request) -> None:
        """Make the decoders that were admitted after a request others."""
        for behind in self.requests[::-1]:
            if behind.order < request.order:
                break
            self.look_at(behind)

    def groups(self, fills: bool) -> list[list[Request]]:
        """Whom to look at in a step, in order of admission: others alone, decoders together.

        Decoders only if they start a block, or with `fills` also if they fill one.
        """
        due = self.decoders.due(fills)
        if not self.others:
            return [due]
        groups = []
        for other in self.others:
            ahead = [r for r in due if r.order < other.order]
            groups += [ahead, [other]]
            due = due[len(ahead) :]
        return [*groups, due]

    def write_down(self) -> None:
        """Bring the token counts of all up to date."""
        for request in self.requests:
            self.decoders.write_down(request)
