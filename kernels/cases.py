"""What `python -m kernels.bench` runs: decode steps and cache writes, in presets by name."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any, get_args

import numpy as np

from kernels.job import ITEM_SIZE, DType, Job
from kernels.presets import MODELS, Model, Order, decode_step, lesson

UNIFORM = {  # sequences, tokens in each
    "1×1k": (1, 1024),
    "1×8k": (1, 8192),
    "1×32k": (1, 32_768),
    "1×128k": (1, 131_072),
    "8×4k": (8, 4096),
    "32×2k": (32, 2048),
    "64×8k": (64, 8192),
    "128×1k": (128, 1024),
    "256×2k": (256, 2048),
}
RAGGED = {"ragged 16": 16, "ragged 64": 64, "ragged 256": 256}
RAGGED_MEDIAN, RAGGED_SIGMA, RAGGED_RANGE = 1500, 1.25, (100, 16_384)  # lognormal, clipped
NEW_TOKENS = {"1k": 1024, "4k": 4096, "16k": 16_384, "64k": 65_536}
CUT_TOKENS, CUT_SEQS = 50, 2  # of a case that the interpreter is to run
QWEN, LLAMA = "Qwen2.5-7B", "Llama-3.1-8B"


@dataclass(frozen=True, slots=True)
class Decode:
    """One decode step. The job's dtype is the query's, and the cache's unless that is fp8."""

    name: str
    job: Job
    fp8: bool = False

    @property
    def dtype(self) -> str:
        """Of the cache."""
        return "float8_e4m3fn" if self.fp8 else self.job.dtype

    @property
    def num_bytes(self) -> int:
        """Bytes of K and V that one call must read."""
        return self.job.kv_bytes // (ITEM_SIZE[self.job.dtype] if self.fp8 else 1)


@dataclass(frozen=True, slots=True)
class Write:
    """One layer's write of new tokens, into whole blocks in an order drawn by chance."""

    name: str
    model: Model
    num_tokens: int
    block_size: int = 16
    dtype: DType = "bfloat16"

    @property
    def num_bytes(self) -> int:
        """Bytes of K and V that are read and written."""
        row = self.model.num_kv_heads * self.model.head_size * ITEM_SIZE[self.dtype]
        return 4 * self.num_tokens * row


Case = Decode | Write


def decode(
    model: str,
    lengths: str,
    *,
    block_size: int = 16,
    dtype: DType = "bfloat16",
    fp8: bool = False,
    order: Order = "shuffled",
) -> Decode:
    """A model's decode step with lengths of UNIFORM or RAGGED; its name says what is not usual."""
    job = decode_step(
        MODELS[model], lengths_of(lengths), block_size=block_size, dtype=dtype, order=order
    )
    unusual = {
        "fp8": fp8,
        dtype: dtype != "bfloat16",
        f"blocks of {block_size}": block_size != 16,
        order: order != "shuffled",
    }
    name = ", ".join([f"{model} {lengths}", *(words for words, so in unusual.items() if so)])
    return Decode(name, job, fp8)


def lengths_of(name: str) -> tuple[int, ...]:
    """The lengths of a batch by its name; ragged ones are drawn from a seed of their own."""
    if name in UNIFORM:
        num_seqs, seq_len = UNIFORM[name]
        return (seq_len,) * num_seqs
    random = np.random.default_rng(RAGGED[name])
    drawn = random.lognormal(math.log(RAGGED_MEDIAN), RAGGED_SIGMA, RAGGED[name])
    return tuple(np.clip(drawn, *RAGGED_RANGE).astype(int).tolist())


def write(num_tokens: str) -> Write:
    """A write of so many tokens with Llama's heads."""
    return Write(f"{LLAMA} write {num_tokens}", MODELS[LLAMA], NEW_TOKENS[num_tokens])


def _lesson() -> Decode:
    return Decode("lesson", lesson("float32"))


def _decodes(
    models: Iterable[str], lengths: Iterable[str], **options: Any
) -> tuple[Callable[..., Case], ...]:
    return tuple(partial(decode, *pair, **options) for pair in product(models, lengths))


SWEPT = ("8×4k", "64×8k", "ragged 64")
PRESETS: dict[str, tuple[Callable[..., Case], ...]] = {
    "lesson": (_lesson,),
    "qwen": _decodes([QWEN], UNIFORM),
    "llama": _decodes([LLAMA], UNIFORM),
    "heads": _decodes(["MHA", "MQA"], ["1×8k", "8×4k", "32×2k"]),
    "ragged": _decodes([LLAMA, QWEN], RAGGED),
    "fp8": (
        *_decodes([LLAMA], ["1×8k", *SWEPT], fp8=True),
        *_decodes([LLAMA], ["64×8k"], fp8=True, block_size=64),
        *_decodes([QWEN], ["64×8k"], fp8=True),
    ),
    "blocks": tuple(
        chain.from_iterable(_decodes([LLAMA], SWEPT, block_size=size) for size in (1, 16, 64, 256))
    ),
    "dtypes": tuple(partial(decode, QWEN, "8×4k", dtype=dtype) for dtype in get_args(DType)),
    "order": tuple(
        partial(decode, model, "8×4k", order=order)
        for model, order in product([QWEN, LLAMA], get_args(Order))
    ),
    "writers": tuple(partial(write, num_tokens) for num_tokens in NEW_TOKENS),
    "smoke": (
        partial(decode, LLAMA, "8×4k"),
        partial(decode, QWEN, "1×8k"),
        partial(decode, LLAMA, "ragged 64"),
        partial(decode, LLAMA, "8×4k", fp8=True),
        partial(write, "4k"),
    ),
}


def cases(preset: str, block_sizes: Sequence[int] = ()) -> list[Case]:
    """The cases of a preset, or of `all` of them, each once.

    Block sizes, if given, take the place of those of the models' decode steps.
    """
    makers = chain.from_iterable(PRESETS.values()) if preset == "all" else PRESETS[preset]
    made = chain.from_iterable(_sweep(maker, block_sizes) for maker in makers)
    return list({case.name: case for case in made}.values())


def _sweep(maker: Callable[..., Case], block_sizes: Sequence[int]) -> Iterator[Case]:
    if block_sizes and isinstance(maker, partial) and maker.func is decode:
        yield from (maker(block_size=size) for size in block_sizes)
    else:
        yield maker()


def cut(chosen: Iterable[Case]) -> list[Case]:
    """The cases as Triton's interpreter takes them; of those that become the same, the first."""
    seen: dict[object, Case] = {}
    for case in map(_cut, chosen):
        seen.setdefault(replace(case, name=""), case)
    return list(seen.values())


def _cut(case: Case) -> Case:
    """A few short sequences, lengths in proportion, one KV head, and no bfloat16."""
    if isinstance(case, Write):
        model = replace(case.model, num_heads=1, num_kv_heads=1)
        return replace(case, model=model, num_tokens=CUT_TOKENS, dtype="float16")
    job = case.job
    if job.given:
        return case
    seq_lens = job.seq_lens[:CUT_SEQS]
    share = min(1, CUT_TOKENS / max(1, *seq_lens))
    small = decode_step(
        Model("", job.num_heads // job.num_kv_heads, 1, job.head_size),
        tuple(math.ceil(n * share) for n in seq_lens),
        block_size=job.block_size,
        dtype="float16" if job.dtype == "bfloat16" else job.dtype,
    )
    return replace(case, job=small)


def simulated_step(path: Path) -> Decode:
    """The block_tables, seq_lens and block_size of a JSON file, with a model's heads.

    Raises OSError, ValueError, or KeyError if it holds no step.
    """
    data = json.loads(path.read_text())
    tables = tuple(map(tuple, data["block_tables"]))
    model = MODELS[QWEN]
    job = Job(
        model.name,
        tables,
        tuple(data["seq_lens"]),
        data["block_size"],
        model.num_heads,
        model.num_kv_heads,
        model.head_size,
        "bfloat16",
    )
    return Decode(f"{QWEN}, simulated step {path.stem}", job)
