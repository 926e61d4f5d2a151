"""The worker: order, refusal, cancelling, time limit, and a process that dies in mid-run."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest

from kernels import bounds
from kernels.job import JobError
from kernels.presets import MODELS, decode_step, lesson
from kernels.worker import MAX_QUEUED, ROOT, Worker

LONG = decode_step(MODELS["Qwen2.5-7B"], (8000,) * 4)  # about 8 s in the interpreter, cut to a head
PATIENCE = 90.0


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.005)
    return answer


def end_of(worker, run_id):
    return wait_for(lambda: (run := worker.look(run_id)).ended and run)


@pytest.fixture
def long(device):
    return bounds.fit(LONG, device.kind)


@pytest.fixture
def worker():
    with closing(Worker()) as worker:
        yield worker


def test_runs_go_in_order_and_each_sees_how_many_are_ahead(worker, device, long):
    ids = [worker.submit(job) for job in (long, lesson(), lesson("float16"))]
    wait_for(lambda: worker.look(ids[0]).state == "parity")
    assert [worker.look(run_id).ahead for run_id in ids] == [0, 1, 2]
    assert worker.device == device

    worker.cancel(ids[1])
    assert worker.look(ids[1]).state == "cancelled"
    assert worker.look(ids[2]).ahead == 1

    worker.cancel(ids[0])
    assert (worker.look(ids[0]).state, worker.look(ids[0]).sentence) == ("cancelled", "Cancelled.")
    last = end_of(worker, ids[2])
    assert last.state == "done"
    assert last.result.passed
    assert last.result.job == lesson("float16")


def test_a_killed_process_costs_its_run_and_no_other(worker, long):
    first, second = worker.submit(long), worker.submit(lesson())
    wait_for(lambda: worker.look(first).state == "parity")

    os.kill(worker._child.pid, signal.SIGKILL)

    failed = end_of(worker, first)
    assert failed.state == "failed"
    assert failed.sentence == (
        "The kernel process was killed (signal 9) before the run was done. "
        "The next run starts a new one."
    )
    assert end_of(worker, second).result.passed


def test_a_run_that_takes_too_long_is_stopped(long):
    with closing(Worker(time_limit=0.05)) as worker:  # less than the import of torch
        run = end_of(worker, worker.submit(long))

    assert run.state == "failed"
    assert "more than 0.05 s" in run.sentence


def test_a_refused_job_keeps_the_process(worker):
    end_of(worker, worker.submit(lesson()))
    child = worker._child

    refused = end_of(worker, worker.submit(replace(lesson(), block_tables=((10**12, 1),))))

    assert refused.state == "failed"
    assert refused.sentence.startswith("The job needs 128,000.0 GB")
    assert end_of(worker, worker.submit(lesson())).state == "done"
    assert worker._child is child


def test_a_run_cancelled_as_it_starts_leaves_nothing_for_the_next(worker, long):
    for _ in range(20):
        early = worker.submit(long)
        wait_for(lambda early=early: worker.look(early).state == "starting")
        worker.cancel(early)

    assert end_of(worker, worker.submit(lesson())).result.job == lesson()


def test_a_process_that_cannot_start_says_so():
    with closing(Worker(command=(sys.executable, "-c", "raise SystemExit(3)"))) as worker:
        run = end_of(worker, worker.submit(lesson()))

    assert run.sentence.startswith("The kernel process ended (exit 3) before the run was done.")


def test_a_process_that_the_system_refuses_says_so():
    with closing(Worker(command=("/nowhere/python",))) as worker:
        runs = [end_of(worker, worker.submit(lesson())) for _ in range(2)]

    assert all("could not be started: [Errno 2]" in run.sentence for run in runs)


def test_a_full_queue_refuses(worker, long):
    worker.submit(long)
    wait_for(lambda: worker._current)
    for _ in range(MAX_QUEUED):
        worker.submit(lesson())

    with pytest.raises(JobError, match="16 runs are waiting"):
        worker.submit(lesson())


def test_an_unknown_run_is_none(worker):
    assert worker.look(99) is None
    worker.cancel(99)


RUN_AND_LOOK = """
import sys, time
from kernels import bounds, presets, recorded
from kernels.worker import Worker
worker = Worker()
run_id = worker.submit(presets.lesson())
while not worker.look(run_id).ended:
    time.sleep(0.01)
assert worker.look(run_id).result.passed, worker.look(run_id)
print(sorted({"torch", "triton"} & set(sys.modules)), worker._child.pid)
"""


def test_torch_stays_in_the_child_and_the_child_ends_with_its_parent():
    done = subprocess.run(
        [sys.executable, "-c", RUN_AND_LOOK], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules, pid = done.stdout.rsplit(maxsplit=1)

    assert modules == "[]"
    wait_for(lambda: not _alive(int(pid)))


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
