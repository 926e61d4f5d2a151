"""The waiting queue: in order of arrival, or by priority.

Orders are vLLM 0.26.0's, vllm/v1/core/sched/request_queue.py.
"""

import heapq
from collections import deque
from collections.abc import Iterator
from typing import Protocol

from sim.request import Request


class RequestQueue(Protocol):
    """What the scheduler asks of a waiting queue."""

    def add(self, request: Request) -> None:
        """A new request."""

    def put_back(self, request: Request) -> None:
        """A preempted request."""

    def peek(self) -> Request:
        """The next one."""

    def popleft(self) -> Request:
        """Take the next one out."""

    def remove(self, request: Request) -> None:
        """Take out one that was given up."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Request]: ...


class FCFSQueue(deque[Request]):
    """First come, first served; preempted requests go to the front."""

    add = deque.append
    put_back = deque.appendleft

    def peek(self) -> Request:
        """The next one."""
        return self[0]


class PriorityQueue:
    """Smallest (priority, arrival time, id) first; preempted requests have no bonus."""

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[int, float, str], Request]] = []

    def add(self, request: Request) -> None:
        """A new request, or one that was preempted."""
        heapq.heappush(self._heap, (request.priority_key, request))

    put_back = add

    def peek(self) -> Request:
        """The next one."""
        return self._heap[0][1]

    def popleft(self) -> Request:
        """Take the next one out."""
        return heapq.heappop(self._heap)[1]

    def remove(self, request: Request) -> None:
        """Take out one that was given up."""
        self._heap = [entry for entry in self._heap if entry[1] is not request]
        heapq.heapify(self._heap)

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[Request]:
        return (request for _, request in sorted(self._heap, key=lambda entry: entry[0]))
