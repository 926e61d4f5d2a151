"""The process that owns torch and Triton: jobs come in on stdin, answers go out on stdout, pickled.

It says its Device first. For each Job it sends stages ("parity", "timing") and then a Result, a
JobError, or, before it gives up, a RuntimeError. It ends when the process that started it does.
"""

import os
import pickle
import sys
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from kernels.job import Device, Job, JobError, Result

MAX_CPU_MEMORY = 6 * 10**9


def main() -> None:
    """Serve jobs until stdin closes or something breaks."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints to stdout goes to the log instead
    jobs: SimpleQueue[Job] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    serve(jobs, answers)


def serve(jobs: "SimpleQueue[Job]", answers: BinaryIO) -> None:
    """Answer job after job; raise at the first unexpected error, for a new process to follow."""
    from kernels.device import find_device

    device = find_device()
    if device.kind != "gpu":
        _limit_memory()
    _send(answers, device)
    while True:
        try:
            _send(answers, _answer(jobs.get(), device, answers))
        except Exception as error:
            _send(answers, RuntimeError(_sentence(error)))
            raise


def _answer(job: Job, device: Device, answers: BinaryIO) -> Result | JobError:
    from kernels.parity import run

    try:
        return run(job, device, lambda stage: _send(answers, stage))
    except JobError as refusal:
        return refusal


def _send(answers: BinaryIO, message: object) -> None:
    pickle.dump(message, answers)
    answers.flush()


def _listen(stream: BinaryIO, jobs: "SimpleQueue[Job]") -> None:
    """Pass jobs on; end the process, in mid-run too, when nobody is left to answer."""
    try:
        while True:
            jobs.put(pickle.load(stream))
    except EOFError:
        os._exit(0)


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MAX_CPU_MEMORY, MAX_CPU_MEMORY))


def _sentence(error: Exception) -> str:
    first = str(error).strip().split("\n")[0]
    return f"The kernel process met {type(error).__name__}: {first}"


if __name__ == "__main__":
    main()
