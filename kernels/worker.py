"""The queue in front of the one process that owns torch and Triton, and that process's life.

A run is queued, then starting (torch is being imported), then at parity, perhaps timing, and ends
done, failed or cancelled. Runs go one at a time in order of submission. A process that dies, hangs
or breaks costs its run and no other: the next run starts a new process. Any thread may call.
"""

import os
import pickle
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import Condition, Thread, Timer
from typing import Literal

from kernels.job import Device, Job, JobError, Result

State = Literal["queued", "starting", "parity", "timing", "done", "failed", "cancelled"]
ENDED = ("done", "failed", "cancelled")

ROOT = Path(__file__).resolve().parent.parent
CHILD = (sys.executable, "-m", "kernels.child")
TIME_LIMIT = 120.0  # seconds, from the head of the queue to the result
MAX_QUEUED = 16
MAX_KEPT = 32  # runs that can still be looked at after they ended


@dataclass(slots=True, eq=False)
class Run:
    """One job on its way. Belongs to the Worker; others get copies from `look`."""

    id: int
    job: Job
    state: State = "queued"
    ahead: int = 0  # runs that go first, the one at work included
    started: float | None = None  # time.monotonic() at the head of the queue
    seconds: float = 0.0  # since then, or until the end
    result: Result | None = None
    sentence: str | None = None  # why it failed or was cancelled

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ENDED


class Worker:
    """Takes jobs from any number of visitors and runs them one by one in a child process."""

    def __init__(self, time_limit: float = TIME_LIMIT, command: tuple[str, ...] = CHILD) -> None:
        self._time_limit = time_limit
        self._command = command
        self._changed = Condition()
        self._ids = count(1)
        self._runs: dict[int, Run] = {}  # all that can be looked at, oldest first
        self._queue: list[Run] = []
        self._current: Run | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._device: Device | None = None
        self._closed = False
        Thread(target=self._serve, daemon=True, name="kernel worker").start()

    @property
    def device(self) -> Device | None:
        """The device of the last process that started; None before the first run."""
        return self._device

    def submit(self, job: Job) -> int:
        """Queue a job and return its run's id. Raises JobError when the queue is full."""
        with self._changed:
            if len(self._queue) >= MAX_QUEUED:
                raise JobError(f"{MAX_QUEUED} runs are waiting already: try again in a minute.")
            run = Run(next(self._ids), job)
            self._runs[run.id] = run
            self._queue.append(run)
            self._forget()
            self._changed.notify_all()
            return run.id

    def look(self, run_id: int) -> Run | None:
        """A copy of the run as it is now; None if it was never here or ended long ago."""
        with self._changed:
            run = self._runs.get(run_id)
            return self._copy(run) if run else None

    def cancel(self, run_id: int) -> None:
        """Take the run out of the queue, or stop the process that is at it."""
        with self._changed:
            run = self._runs.get(run_id)
            if run and not run.ended:
                self._stop(run, "cancelled", "Cancelled.")

    def close(self) -> None:
        """Stop everything and take nothing more."""
        with self._changed:
            self._closed = True
            for run in [*self._queue, *([self._current] if self._current else [])]:
                self._stop(run, "cancelled", "The server stopped.")
            self._discard()
            self._changed.notify_all()

    # The thread that serves the queue; nothing below is called from outside.

    def _serve(self) -> None:
        while work := self._next():
            run, child = work
            timer = Timer(self._time_limit, self._time_out, (run,))
            timer.daemon = True
            timer.start()
            self._converse(run, child)
            timer.cancel()

    def _next(self) -> "tuple[Run, subprocess.Popen[bytes]] | None":
        """The next run and a living process for it; None once closed.

        Both under one lock: whoever cancels the run from now on kills the process it is given to.
        """
        with self._changed:
            self._current = None
            self._changed.wait_for(lambda: self._queue or self._closed)
            if self._closed:
                return None
            run = self._current = self._queue.pop(0)
            run.state, run.started = "starting", time.monotonic()
            try:
                if self._child is None or self._child.poll() is not None:
                    self._child = self._start()
            except OSError as error:
                self._end(run, "failed", f"The kernel process could not be started: {error}.")
                return self._next()
            return run, self._child

    def _start(self) -> "subprocess.Popen[bytes]":
        environment = {"OMP_NUM_THREADS": "1", **os.environ}
        pipe = subprocess.PIPE
        return subprocess.Popen(self._command, stdin=pipe, stdout=pipe, cwd=ROOT, env=environment)

    def _converse(self, run: Run, child: "subprocess.Popen[bytes]") -> None:
        """Hand the job over and listen until the run has ended, one way or another."""
        assert child.stdin
        assert child.stdout
        try:
            pickle.dump(run.job, child.stdin)
            child.stdin.flush()
            while not run.ended:
                self._hear(run, pickle.load(child.stdout))
        except (EOFError, OSError, pickle.UnpicklingError):
            self._end(run, "failed", _death(child.wait()))
            self._discard()

    def _hear(self, run: Run, message: object) -> None:
        match message:
            case Device():
                self._device = message
            case Result():
                self._end(run, "done", result=message)
            case JobError():
                self._end(run, "failed", str(message))
            case "parity" | "timing":
                with self._changed:
                    run.state = run.state if run.ended else message
            case _:
                self._end(run, "failed", f"{message} The next run starts a new one.")
                self._discard()

    # Ends. The first one counts: whatever a dying process still says changes nothing.

    def _time_out(self, run: Run) -> None:
        with self._changed:
            if not run.ended:
                limit = f"The run took more than {self._time_limit:g} s and was stopped"
                self._stop(run, "failed", f"{limit}: take fewer or shorter sequences.")

    def _stop(self, run: Run, state: State, sentence: str) -> None:
        """End the run; if the process is at it, end that too."""
        self._end(run, state, sentence)
        if run in self._queue:
            self._queue.remove(run)
        else:
            self._discard()

    def _end(
        self, run: Run, state: State, sentence: str | None = None, result: Result | None = None
    ) -> None:
        with self._changed:
            if not run.ended:
                run.seconds = time.monotonic() - (run.started or time.monotonic())
                run.state, run.sentence, run.result = state, sentence, result
                self._changed.notify_all()

    def _discard(self) -> None:
        """Kill the process; the next run starts another."""
        with self._changed:
            if self._child:
                self._child.kill()
                self._child = None

    # What visitors see.

    def _copy(self, run: Run) -> Run:
        copy = replace(run)
        if run in self._queue:
            copy.ahead = self._queue.index(run) + (self._current is not None)
        elif run.started is not None and not run.ended:
            copy.seconds = time.monotonic() - run.started
        return copy

    def _forget(self) -> None:
        ended = [run_id for run_id, run in self._runs.items() if run.ended]
        for run_id in ended[:-MAX_KEPT]:
            del self._runs[run_id]


def _death(returncode: int) -> str:
    how = f"was killed (signal {-returncode})" if returncode < 0 else f"ended (exit {returncode})"
    return f"The kernel process {how} before the run was done. The next run starts a new one."
