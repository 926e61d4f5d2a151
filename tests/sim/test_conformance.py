import copy
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sim.conformance import compare, load
from sim.conformance.recording import EventComparison, Hashes
from sim.events import EventKind

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDINGS = sorted(GOLDEN.glob("*.json.gz"))


def test_all_recordings_are_here():
    assert len(RECORDINGS) == 75


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.split(".")[0])
def test_recording_of_vllm_is_reproduced_field_by_field(path):
    assert compare(load(path)) is None


SCHEDULER_FIELDS = [
    *("i", "sched", "new", "resumed", "hits", "new_blocks", "evicted", "common", "preempted"),
    *("finished_prev", "slots", "sampled", "finished", "prefill", "stats"),
]
STATE_FIELDS = ["running", "waiting", "reqs", "free", "nfree", "usage", "ref", "hashed", "dup"]


def _other(value):
    """Something of the same kind that is not the value."""
    if isinstance(value, dict):
        return {**value, "nobody": 1}
    return [*value, 99] if isinstance(value, list) else value + 1


@pytest.mark.parametrize("field", SCHEDULER_FIELDS)
def test_a_wrong_decision_is_found(field):
    recording = load(GOLDEN / "tiny_06_preempt_and_resume.json.gz")
    step = recording["steps"][4]
    step[field] = _other(step[field])
    difference = compare(recording)
    assert (difference.step, difference.field) == (4, field)


@pytest.mark.parametrize("field", STATE_FIELDS)
@pytest.mark.parametrize("name", ["tiny_06_preempt_and_resume", "kv_09_preempt_resume"])
def test_a_wrong_state_is_found(name, field):
    recording = load(GOLDEN / f"{name}.json.gz")
    state = recording["steps"][4]["A"]
    if field not in state:
        assert field in ("running", "waiting")  # a cache manager alone has no queues
        return
    state[field] = {} if field == "reqs" else _other(state[field])
    difference = compare(recording)
    assert (difference.step, difference.field) == (4, field)


@pytest.mark.parametrize("kind", ["lookup", "touch", "take", "evict", "cache", "release"])
def test_a_wrong_event_is_found(kind):
    recording = load(GOLDEN / "tiny_05_lru_eviction_order.json.gz")
    events = [e for s in recording["steps"] for e in s["ev"] + s.get("ev2", []) if e[0] == kind]
    changed = copy.copy(events[-1])
    events[-1][1] = [*changed[1], 99] if isinstance(changed[1], list) else 99
    assert compare(recording).field in ("ev", "ev2")


@pytest.mark.parametrize(("done", "evicted"), [(1, []), (0, [["evict", 3, 7]])])
def test_a_block_that_a_reset_made_forget_its_hash_is_not_evicted(done, evicted):
    events = EventComparison(["A"], 4, Hashes())
    events.row(EventKind.CACHE, 0, 0, 1, [3, 7])
    events.row(EventKind.RESET, -1, done, 0, [])
    assert events.row(EventKind.TAKE, 0, len(evicted), 0, [3]) == [*evicted, ["take", [3]]]


def test_two_prefixes_with_one_hash_are_found():
    recording = load(GOLDEN / "tiny_01_two_requests.json.gz")
    caches = [e for s in recording["steps"] for e in s["ev"] if e[0] == "cache"]
    caches[1][3] = caches[0][3]
    assert compare(recording).field == "ev"


def test_command_names_the_difference_and_fails(tmp_path, root):
    recording = load(GOLDEN / "tiny_01_two_requests.json.gz")
    recording["steps"][1]["common"] = 7
    wrong = tmp_path / "wrong.json.gz"
    wrong.write_bytes(gzip.compress(json.dumps(recording).encode()))
    command = [sys.executable, "-m", "sim.conformance", str(GOLDEN / "kv_01_basic.json.gz")]
    right = subprocess.run(command, cwd=root, capture_output=True, text=True)
    both = subprocess.run([*command, str(wrong)], cwd=root, capture_output=True, text=True)
    assert right.returncode == 0
    assert right.stdout.splitlines()[0] == "kv_01_basic.json.gz: identical, 11 steps"
    assert both.returncode == 1
    assert "wrong.json.gz: step 1, common: ours 0, theirs 7" in both.stdout
    assert "1 of 2 identical" in both.stdout


def test_command_goes_on_after_a_file_that_is_no_recording(tmp_path, root):
    junk, missing = tmp_path / "junk.json.gz", tmp_path / "missing.json.gz"
    junk.write_bytes(gzip.compress(b"{}"))
    files = [str(junk), str(missing), str(GOLDEN / "kv_01_basic.json.gz")]
    command = [sys.executable, "-m", "sim.conformance", *files]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert told.returncode == 1
    first, second, third, count = told.stdout.splitlines()
    assert first == "junk.json.gz: not a recording that can be compared: KeyError('scenario')"
    assert second.startswith("missing.json.gz: not a recording that can be compared: FileNotFound")
    assert third == "kv_01_basic.json.gz: identical, 11 steps"
    assert count.startswith("1 of 3 identical")
