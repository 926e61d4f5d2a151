"""The flight recorder: what the kernel writes down is what the table says and `sim` computes."""

from collections import Counter

import pytest
import torch

from kernels.config import num_sms
from kernels.decode import plan_decode
from kernels.flight import make_flight
from sim.attention import TokenFolded, paged_attention
from tests.kernels.problem import FLOAT8, make_problem, split, tiled

TILE_SIZE = 16
LENGTHS = (20, 0, 50)
HEADS = (4, 2)


def record(problem, plan):
    """The programs of a call."""
    flight = make_flight(problem.query, problem.key_cache, plan, int(problem.seq_lens.max()))
    problem.attend(plan=plan, flight=flight)
    return flight.read()


def planned(problem):
    config = tiled(TILE_SIZE, 3)
    return plan_decode(problem.query, problem.key_cache, problem.seq_lens, config=config)


@pytest.fixture(scope="module")
def problem(torch_dev):
    return make_problem(torch_dev, LENGTHS, HEADS, block_size=4)


@pytest.fixture(scope="module", params=["planned", "whole", "in two"])
def plan(request, problem):
    makers = {"planned": planned, "whole": lambda p: split(p, 1), "in two": lambda p: split(p, 2)}
    return makers[request.param](problem)


@pytest.fixture(scope="module")
def programs(problem, plan):
    return record(problem, plan)


def tokens_of(tile, seq_len):
    return range(tile.first_token, min(tile.first_token + TILE_SIZE, seq_len))


def test_every_token_is_read_once_by_each_kv_head(programs):
    read = Counter(
        (program.sequence, program.kv_head, token)
        for program in programs
        for tile in program.tiles
        for token in tokens_of(tile, LENGTHS[program.sequence])
    )

    assert read == Counter(
        (seq, kv_head, token)
        for seq, seq_len in enumerate(LENGTHS)
        for kv_head in range(2)
        for token in range(seq_len)
    )


def check_places(problem, programs):
    """A token's block is the table's; an address is the first key row's in the caller's cache."""
    block_size = problem.key_cache.shape[1]
    tables, seq_lens = problem.block_tables.tolist(), problem.seq_lens.tolist()
    tiles = [(program, tile) for program in programs for tile in program.tiles]
    assert tiles
    for program, tile in tiles:
        table = tables[program.sequence]
        tokens = tokens_of(tile, seq_lens[program.sequence])
        assert tile.blocks == tuple(table[token // block_size] for token in tokens)
        slot = tile.first_token % block_size
        row = problem.key_cache[tile.blocks[0], slot, program.kv_head]
        assert tile.key_address == row.data_ptr()


def test_blocks_and_addresses_are_the_table_s(problem, programs):
    check_places(problem, programs)


@pytest.mark.parametrize("block_size", [3, 16, 64])
def test_blocks_of_any_size(torch_dev, block_size):
    problem = make_problem(torch_dev, (50,), (1, 1), block_size=block_size)

    check_places(problem, record(problem, split(problem, 2)))


@pytest.mark.parametrize("cache_dtype", FLOAT8)
def test_addresses_of_a_float8_cache_are_bytes(torch_dev, cache_dtype):
    problem = make_problem(torch_dev, (40,), (1, 1), block_size=4, cache_dtype=cache_dtype)

    check_places(problem, record(problem, split(problem, 2)))


def test_recording_changes_no_bit(problem, plan):
    flight = make_flight(problem.query, problem.key_cache, plan, max(LENGTHS))
    recorded, unrecorded = problem.attend(plan=plan, flight=flight), problem.attend(plan=plan)

    assert all(map(torch.equal, recorded, unrecorded))


def walk(problem, program, head):
    """`sim`'s walk over the program's tiles, as if each were a block: (m, l) after each."""
    seq, kv_head = program.sequence, program.kv_head
    tiles = [tokens_of(tile, LENGTHS[seq]) for tile in program.tiles]
    keys, values = (
        [[tokens[seq][token, kv_head].tolist() for token in tile] for tile in tiles]
        for tokens in (problem.keys, problem.values)
    )
    events = []
    query = problem.query[seq, head].tolist()
    paged_attention(query, range(len(tiles)), keys, values, sum(map(len, tiles)), events.append)
    folds = [event for event in events if isinstance(event, TokenFolded)]
    last = {fold.block_id: fold for fold in folds}
    return [(fold.m, fold.l) for fold in last.values()]


def test_the_running_softmax_is_the_simulator_s(problem, programs):
    """The state (m, l) after each tile, for every query head and in every split."""
    walked = [program for program in programs if program.tiles]
    assert walked
    for program in walked:
        for row in range(2):
            recorded = [(tile.m[row], tile.l[row]) for tile in program.tiles]
            expected = walk(problem, program, 2 * program.kv_head + row)
            assert torch.allclose(
                torch.tensor(recorded), torch.tensor(expected), rtol=1e-5, atol=1e-6
            )


def test_who_served_whom(plan, programs):
    served = [(p.sequence, p.split, p.num_splits) for p in programs if p.kv_head == 0]

    assert [p.kv_head for p in programs] == [0, 1] * len(served)
    if plan.items is not None:
        assert served == [tuple(row) for row in plan.items.tolist() if row[2]]
    else:
        splits = range(plan.num_splits)
        assert served == [(seq, s, plan.num_splits) for seq in range(3) for s in splits]
    for program in programs:
        firsts = [tile.first_token for tile in program.tiles]
        step = TILE_SIZE * program.num_splits
        end = LENGTHS[program.sequence]
        assert firsts == list(range(TILE_SIZE * program.split, end, step))


@pytest.mark.parametrize("window", [1, 20])
def test_a_window_s_tiles(torch_dev, window):
    """Only tokens of the window have a block; the walk starts at the tile of the first of them."""
    problem = make_problem(torch_dev, (50,), (1, 1), block_size=4, sliding_window=window)
    table = problem.block_tables[0].tolist()
    (program,) = record(problem, split(problem, 1))

    blocks = [block for tile in program.tiles for block in tile.blocks]
    assert blocks == [table[token // 4] for token in range(50 - window, 50)]
    assert program.tiles[0].first_token == (50 - window) // TILE_SIZE * TILE_SIZE


def test_times_and_multiprocessors(programs, device):
    """A clock and an SM on a GPU; nothing in the interpreter."""
    for program in programs:
        if device.kind == "gpu":
            assert 0 <= program.sm < num_sms(torch.device("cuda"))
            assert 0 < program.start_ns <= program.end_ns
        else:
            assert (program.sm, program.start_ns, program.end_ns) == (0, 0, 0)
