"""`python -m tests.mutants [RULE…]`: break each rule of vLLM once, and see a test fail.

Rules are numbered as in vLLM 0.26.0's order of work: 1 pool and free queue, 2 prefixes, 3 map of
the cache, 4 lookup, 5 allocation, 6 schedule, 7 stop, 8 coming and going, 9 statistics in the log,
10 hazards. Each mutant is a copy of `sim` and its tests with one text replaced; the recordings are
compared first, then the engine's tests run until something fails. Prints who survives, and exits 1
if any does.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

# rule, file in sim, what stands there, what is put in its place
MUTANTS = [
    ("1.1", "block_pool", "FreeBlockQueue(NULL_BLOCK + 1,", "FreeBlockQueue(NULL_BLOCK,"),
    ("1.2", "free_queue", "self._tail[start:stop], self._prefix", "self._tail[start:stop][::-1], self._prefix"),
    ("1.2", "free_queue", "blocks = self._head[: -n - 1 : -1]", "blocks = self._head[:n]"),
    ("1.3", "block_pool", "self._record(TAKE, request, len(evicted), payload=blocks)", "self._record(TAKE, request, payload=blocks)"),
    ("1.3", "kv_cache_manager", "block_id in lost_hash, 0, 1)", "0, 0, 1)"),
    ("1.3", "replay/pool_state", "rows.of(EventKind.TAKE, EventKind.EVICT)", "rows.of(EventKind.EVICT)"),
    ("1.3", "block_pool", "oldest[prefix_id] = NULL_BLOCK\n        return", "pass\n        return"),
    ("1.3", "block_pool", "younger.remove(block_id)", "younger.pop()"),
    ("1.4", "kv_cache_manager", "blocks[::-1], prefix_ids[::-1]", "blocks, prefix_ids"),
    ("1.4", "block_pool", "self.free_block_queue.prepend_n(head)", "self.free_block_queue.append_n(head, [0] * len(head))"),
    ("1.4", "free_queue", "self._head += reversed(blocks)", "self._head += blocks"),
    ("1.4", "block_pool", "held = self._let_go(blocks)\n        if held or", "held = self._let_go(blocks)\n        if"),
    ("1.4", "block_pool", "if pair[1] != NO_PREFIX or not self._unhashed_first", "if pair[1] != NO_PREFIX"),
    ("1.5", "block_pool", "self.free_block_queue.remove([b for b in blocks if ref_cnt[b] == 0])", "pass"),
    ("1.5", "block_pool", "ref_cnt[block_id] += 1\n", "ref_cnt[block_id] = 1\n"),
    ("1.6", "free_queue", "if self._left and not self._left.keys().isdisjoint(popped):", "if False:"),
    ("1.6", "free_queue", "left[block_id] -= 1\n        return", "del left[block_id]\n        return"),
    ("1.7", "block_pool", "self.free_block_queue.forget(block_id)", "pass"),
    ("1.7", "block_pool", "self._stripped.add(block_id)", "pass"),
    ("1.8", "block_pool", "done = self.num_free_blocks == self.num_blocks - 1", "done = True"),
    ("1.8", "block_pool", "self._oldest = [NULL_BLOCK] * len(self._oldest)", "pass"),
    ("1.8", "block_pool", "self.free_block_queue.forget_all()", "pass"),
    ("1.9", "frame", "usable = len(self.ref_cnt) - 1", "usable = len(self.ref_cnt)"),
    ("2.1", "kv_cache_manager", "if request.phase == filling:", "if False:"),
    ("2.2", "prefix_cache", "(content, spec.lora_name, spec.cache_salt)", "(content, spec.lora_name)"),
    ("2.2", "prefix_cache", "(content, spec.lora_name, spec.cache_salt)", "(content, spec.cache_salt)"),
    ("2.2", "prefix_cache", "(content, spec.lora_name, spec.cache_salt)", "(content, spec.lora_name or spec.cache_salt)"),
    ("2.2", "prefix_cache", "low = middle\n            else", "low = most\n            else"),
    ("2.2", "prefix_cache", "self._split(edge, shared)", "pass"),
    ("2.4", "prompt", "max(start - i * size, 0), min(stop - i * size, size)", "0, size"),
    ("2.4", "request", "if stop <= prompt:", "if True:"),
    ("3.1", "block_pool", "self._younger.setdefault(prefix_id, []).append(block_id)", "pass"),
    ("3.2", "block_pool", "younger.pop(0) if younger", "younger.pop() if younger"),
    ("3.2", "block_pool", "if stop - start == len(blocks) and not any(self._oldest[start:stop]):", "if stop - start == len(blocks):"),
    ("4.1", "kv_cache_manager", "if self.enable_caching and not request.spec.skip_reading_prefix_cache:", "if self.enable_caching:"),
    ("4.1", "kv_cache_manager", "if self.enable_caching and not delay_cache_blocks:", "if not delay_cache_blocks:"),
    ("4.2", "kv_cache_manager", "most = min((num_tokens - 1) // self.block_size", "most = min(num_tokens // self.block_size"),
    ("4.2", "block_pool", "                break\n            blocks.append(block_id)", "                continue\n            blocks.append(block_id)"),
    ("4.2", "block_pool", "stop - start == len(prefix_ids) and all(blocks := oldest[start:stop])", "blocks := oldest[start:stop]"),
    ("4.3", "kv_cache_manager", "num_tokens = request.num_tokens\n", "num_tokens = request.num_prompt_tokens\n"),
    ("5", "kv_cache_manager", "if num_new_tokens <= 0:", "if num_new_tokens < 0:"),
    ("5.1", "kv_cache_manager", "if full_sequence_must_fit:", "if False:"),
    ("5.1", "kv_cache_manager", "whole = min(request.num_tokens, self.max_model_len)", "whole = min(request.num_prompt_tokens, self.max_model_len)"),
    ("5.2", "kv_cache_manager", "self.block_pool.num_free_blocks - self.block_pool.num_idle(hits)", "self.block_pool.num_free_blocks"),
    ("5.2", "kv_cache_manager", "slots = min(computed + num_new_tokens + num_lookahead_tokens, self.max_model_len)", "slots = computed + num_new_tokens + num_lookahead_tokens"),
    ("5.2", "kv_cache_manager", "+ num_lookahead_tokens, self.max_model_len", ", self.max_model_len"),
    ("5.2", "kv_cache_manager", "(free - reserved_blocks)", "free"),
    ("5.2", "kv_cache_manager", "have = len(request.block_table) + len(hits)", "have = len(request.block_table)"),
    ("5.2", "kv_cache_manager", "if num_starts <= num_free:", "if True:"),
    ("5.4", "kv_cache_manager", "min(computed + num_new_tokens, request.num_tokens))", "computed + num_new_tokens)"),
    ("5.4", "kv_cache_manager", "min(computed + num_new_tokens, request.num_tokens))", "computed)"),
    ("5.4", "kv_cache_manager", "request.num_cached_blocks = len(hits)", "pass"),
    ("5.5", "kv_cache_manager", "int(scenario.watermark * scenario.num_gpu_blocks)", "int(scenario.watermark * (scenario.num_gpu_blocks - 1))"),
    ("5.5", "kv_cache_manager", "and has_scheduled_reqs and request.status in ENTERING:", "and request.status in ENTERING:"),
    ("5.5", "kv_cache_manager", "and has_scheduled_reqs and request.status in ENTERING:", "and has_scheduled_reqs:"),
    ("5.6", "frame", "table[positions // block_size] * block_size", "table[positions // block_size] * block_size + 1"),
    ("6.1", "token_budget", "threshold if threshold > 0 else scenario.max_model_len", "scenario.max_model_len"),
    ("6.1", "token_budget", "self._scenario.max_model_len - 1 - computed", "self._scenario.max_model_len - computed"),
    ("6.1", "scheduler", "self._budget.left -= tokens\n        return 1", "return 1"),
    ("6.1", "scheduler", "self._budget.open(self.running.decoders.count)", "self._budget.open(0)"),
    ("6.1", "decoders", "return sorted(found, key=by_order)", "return found"),
    ("6.2", "running", "return self.requests[-1]", "return self.requests[0]"),
    ("6.2", "running", "request.priority_key[:2]", "request.priority_key"),
    ("6.2", "running", 'if policy == "fcfs":', "if True:"),
    ("6.2", "scheduler", "self.scheduled.pop(request, 0)\n", "0 * self.scheduled.pop(request, 0)\n"),
    ("6.2", "scheduler", "self._budget.left += 1 if decoded else", "self._budget.left += 0 if decoded else"),
    ("6.2", "scheduler", "        self.running.look_behind(request)\n", "        pass\n"),
    ("6.2", "scheduler", "                if not self._make_room(group[served]):\n                    return True", "                if not self._make_room(group[served]):\n                    break"),
    ("6.3", "scheduler", "self.waiting.put_back(request)", "self.waiting.add(request)"),
    ("6.3", "scheduler", "request.num_computed_tokens = 0\n", "pass\n"),
    ("6.4", "scheduler", "        if not preempted:\n            self._schedule_waiting()", "        self._schedule_waiting()"),
    ("6.4", "scheduler", "len(self.running.requests) >= self.scenario.max_num_seqs or", ""),
    ("6.4", "token_budget", "return self.left if self._scenario.enable_chunked_prefill else 0", "return self.left"),
    ("6.4", "scheduler", "full_sequence_must_fit=self.scenario.scheduler_reserve_full_isl", "full_sequence_must_fit=True"),
    ("6.4", "scheduler", "has_scheduled_reqs=len(self.running.requests) > 0", "has_scheduled_reqs=True"),
    ("6.4", "scheduler", "request.num_computed_tokens = hit_tokens", "request.num_computed_tokens = 0"),
    ("6.5", "request_queue", "(request.priority_key, request)", "(request.priority_key[1:], request)"),
    ("6.6", "frame", "if ref_cnt[block_id] != num_holders:", "if ref_cnt[block_id] > num_holders:"),
    ("6.8", "scheduler", "request.num_computed_tokens += tokens", "pass"),
    ("6.8", "decoders", "self.now += 1", "self.now += 2"),
    ("6.8", "decoders", "self.starting, self.filling = 0, block_size - 1", "self.starting, self.filling = 0, 0"),
    ("7.1", "scheduler", "request.num_computed_tokens >= request.num_tokens", "True"),
    ("7.2", "scheduler", "answered = sorted(answered + ending, key=by_order)", "answered = answered + ending"),
    ("7.2", "decoders", "self._ending.pop(self.now, ())", "self._ending.pop(self.now + 1, ())"),
    ("7.2", "decoders", " if r.lead is not None]", "]"),
    ("7.3", "stop", "if num_outputs < spec.min_tokens:", "if False:"),
    ("7.3", "stop", "and not spec.ignore_eos:", ":"),
    ("7.3", "stop", "first = max(spec.min_tokens, 1)", "first = 1"),
    ("7.3", "stop", "max(spec.max_tokens, spec.min_tokens)", "spec.max_tokens"),
    ("7.3", "stop", "eos = None if spec.ignore_eos else scenario.eos_token_id", "eos = scenario.eos_token_id"),
    ("7.3", "scheduler", "if request.num_tokens < self.scenario.max_model_len:", "if True:"),
    ("7.5", "scheduler", "self.has_unreported_finished = True", "pass"),
    ("8.1", "coming", "while self.next_step <= engine_step:", "while self.next_step < engine_step:"),
    ("8.2", "coming", "if self._mid_aborts.next_step <= engine_step:", "if False:"),
    ("8.2", "coming", "if request.spec.arrival_step <= engine_step:", "if True:"),
    ("8.2", "scheduler", "self.waiting.remove(request)", "pass"),
    ("8.3", "scheduler", "for request in self.running.requests[::-1]:", "for request in list(self.running.requests):"),
    ("8.3", "scheduler", "if reset_running:", "if True:"),
    ("8.4", "simulate", "QUIET_STEPS = 3", "QUIET_STEPS = 4"),
    ("8.4", "simulate", "or self._goes_in_circles()", ""),
    ("9.1", "kv_cache_manager", "self._log.record(LOOKUP, request.index, num_tokens, hit_tokens, hits)", "self._log.record(LOOKUP, request.index, num_tokens, 0, hits)"),
    ("2.3", "prefix_cache", 'root = _sha256("0")', 'root = _sha256("1")'),
    ("4.4", "kv_cache_manager", "        hit_tokens = len(hits) * self.block_size\n", "        hit_tokens = len(hits) * self.block_size\n        self.block_pool.touch(hits, request.index)\n"),
    ("5.3", "kv_cache_manager", "            return None\n        taken", "            self.block_pool.get_new_blocks(min(1, self.block_pool.num_free_blocks))\n            return None\n        taken"),
    ("6.7", "replay/lives", "running=running[np.argsort(admitted[running])]", "running=running[::-1]"),
    ("7.4", "replay/replay", "np.where(done < num_tokens[runs], num_tokens[runs], done + 1)", "np.where(done < num_tokens[runs], num_tokens[runs], done)"),
    ("9.2", "conformance/scheduler", "done, self.reset_done = self.reset_done, False", "done = self.reset_done"),
    ("9.4", "conformance/scheduler", "[prompt, prompt - hit, hit, new]", "[prompt, prompt, hit, new]"),
    ("10", "hazards", "self._block_pool.uncomputed.update(blocks)", "pass"),
    ("10", "block_pool", "self.uncomputed.difference_update(blocks)", "pass"),
    ("10", "hazards", "blocks >= self._block_pool.num_blocks and request not in self._told", "blocks >= self._block_pool.num_blocks"),
    ("10", "hazards", "blocks >= self._block_pool.num_blocks and", "blocks > self._block_pool.num_blocks and"),
    ("version", "kv_cache_manager", 'scenario.version == "0.26.0"', "True"),
    ("step time", "simulate", "self._engine_step += ticks", "self._engine_step += 1"),
    ("step time", "scheduler", "return sum(tokens) - singles, self.running.decoders.count + singles", "return sum(tokens), self.running.decoders.count"),
]  # fmt: skip

RECORDINGS = sorted((ROOT / "tests/golden").glob("*.json.gz"))
ENGINE = ("block_pool", "pool_model", "prefix_ids", "decoders", "scheduler", "hazard", "documented")
OUTSIDE = ("scenario", "replay", "step_time", "hash_chain")
TESTS = [
    [sys.executable, "-m", "sim.conformance", *map(str, RECORDINGS)],
    [
        *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
        *(f"tests/sim/test_{name}.py" for name in (*ENGINE, *OUTSIDE)),
    ],
]


def survives(place: Path, file: str, old: str, new: str) -> bool:
    """Does every test pass with one text replaced? Raises ValueError when it does not stand there."""
    path = place / "sim" / f"{file}.py"
    source = path.read_text()
    if source.count(old) != 1:
        raise ValueError(f"{file}.py has {source.count(old)} times: {old}")
    path.write_text(source.replace(old, new))
    try:
        return all(_passes(command, place) for command in TESTS)
    finally:
        path.write_text(source)


def _passes(command: list[str], place: Path) -> bool:
    try:
        return subprocess.run(command, cwd=place, capture_output=True, timeout=120).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main(rules: list[str]) -> int:
    """Try the mutants of some rules, or of all."""
    survivors = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for part in ("sim", "tests/sim", "tests/golden"):
            shutil.copytree(ROOT / part, place / part)
        for file in ("pyproject.toml", "tests/__init__.py", "tests/conftest.py"):
            shutil.copy(ROOT / file, place / file)
        for rule, file, old, new in MUTANTS:
            if not rules or rule in rules:
                survived = survives(place, file, old, new)
                survivors += [rule] * survived
                verdict = "SURVIVED" if survived else "caught"
                print(f"{verdict}  {rule}  {file}: {old!r} -> {new!r}", flush=True)
    print(f"{len(survivors)} survived")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
