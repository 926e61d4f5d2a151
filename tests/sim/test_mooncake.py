import gzip
import io
import json
from pathlib import Path
from random import Random

import pytest

from sim.scenario import Scenario
from sim.simulate import simulate
from sim.traces.mooncake import TraceError, hash_block_size_of, read_mooncake, to_requests

SHAREGPT = Path(__file__).parents[3] / "shared/traces/vllm_runs/sharegpt_300_block16.jsonl.gz"


def line(**change):
    row = {"timestamp": 5, "input_length": 20, "output_length": 3, "hash_ids": [1, 2], **change}
    return json.dumps({k: v for k, v in row.items() if v is not None}).encode()


def synthetic(count, seed=1):
    """A trace with shared 16-token blocks, like a chat workload, made from a seed."""
    rng = Random(seed)
    rows, next_id = [], 100
    for i in range(count):
        tokens = rng.randint(1, 900)
        blocks = -(-tokens // 16)
        shared = rng.randint(0, min(blocks, 8))
        ids = [*range(shared), *range(next_id, next_id + blocks - shared)]
        next_id += blocks
        lengths = {"input_length": tokens, "output_length": rng.randint(1, 400)}
        rows.append(line(timestamp=100 * i, hash_ids=ids, **lengths))
    return b"\n".join(rows)


TRACES = {"synthetic": synthetic(300)}
if SHAREGPT.exists():
    TRACES["sharegpt"] = SHAREGPT.read_bytes()


@pytest.mark.parametrize("name", TRACES)
def test_300_requests_run_to_the_end_and_leave_every_block_free(name):
    rows = read_mooncake(TRACES[name], 300)
    requests = to_requests(rows, ms_per_step=25.0)
    scenario = Scenario(2588, 16, requests, max_model_len=32768)
    log = simulate(scenario)
    last = log.frame(log.num_steps - 1)
    assert len(rows) == 300
    assert not log.stalled
    assert last.requests == {}
    assert len(last.free_queue) == 2587


def test_rows_are_read_in_order_up_to_the_limit():
    data = b"\n".join([line(timestamp=7), b"", line(timestamp=9, input_length=17), b"junk"])
    rows = read_mooncake(data, 2)
    assert [(r.line, r.timestamp_ms, r.input_length) for r in rows] == [(1, 7.0, 20), (3, 9.0, 17)]
    assert read_mooncake(io.BytesIO(gzip.compress(data)), 2) == rows


def test_requests_arrive_in_steps_after_the_first():
    rows = read_mooncake(b"\n".join([line(timestamp=1000), line(timestamp=1120)]), 9)
    requests = to_requests(rows, ms_per_step=50.0)
    assert [(r.id, r.arrival_step, r.max_tokens) for r in requests] == [("r0", 0, 3), ("r1", 2, 3)]
    assert requests[0].prompt.hash_block_size == 16


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (b"{not json", "line 2: not JSON"),
        (b"[1, 2]", "line 2: a JSON object is needed, this is a list."),
        (line(timestamp=None), "line 2: timestamp is missing."),
        (line(hash_ids=None), "line 2: hash_ids is missing."),
        (line(input_length=-4), "line 2: input_length is -4; a whole number from 1 would do."),
        (line(output_length=0), "line 2: output_length is 0; a whole number from 1 would do."),
        (line(output_length=2.5), "line 2: output_length is 2.5; a whole number from 1"),
        (line(timestamp="now"), "line 2: timestamp is 'now'; milliseconds from 0 would do."),
        (line(timestamp=-1), "line 2: timestamp is -1; milliseconds from 0 would do."),
        (line(hash_ids=["a"]), "line 2: hash_ids is not a list of whole numbers."),
        (b'{"a": "\xff"}', "line 2: not JSON"),
        (b"[" * 100_000, "line 2: not JSON"),
    ],
)
def test_a_bad_line_is_named(bad, sentence):
    with pytest.raises(TraceError) as error:
        read_mooncake(line() + b"\n" + bad, 10)
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize("data", [b"", b"\n\n", gzip.compress(b"")])
def test_a_file_without_requests_is_refused(data):
    with pytest.raises(TraceError, match="the file has no request"):
        read_mooncake(data, 10)


def test_damaged_gzip_is_refused():
    data = gzip.compress(b"\n".join([line()] * 5000))
    with pytest.raises(TraceError, match="the gzip data is damaged"):
        read_mooncake(data[: len(data) // 2], 10_000)


def test_an_endless_line_is_refused_without_reading_on():
    with pytest.raises(TraceError, match="line 1: longer than 16 MiB"):
        read_mooncake(gzip.compress(b" " * (40 * 2**20)), 10)


def test_block_ids_that_cannot_make_the_prompt_are_refused():
    rows = read_mooncake(b"\n".join([line(), line(input_length=900)]), 10)
    with pytest.raises(TraceError, match="line 2: 2 hash_ids for 900 tokens fit no block size"):
        hash_block_size_of(rows)


def test_mooncakes_own_blocks_hold_512_tokens():
    rows = read_mooncake(line(input_length=6755, hash_ids=list(range(14))), 1)
    assert hash_block_size_of(rows) == 512
