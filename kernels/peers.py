"""Others' paged decode kernels, to be timed beside ours where they are installed.

Called as their own documentation and vLLM 0.26 call them: FlashAttention-3 as vLLM ships it,
FlashInfer's decode wrapper on tensor cores, and TensorRT-LLM's XQA through FlashInfer. Plans are
made once a step, outside the time.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import torch

from kernels.contenders import Contender, attends
from kernels.pools import Pools

# With an fp8 cache FlashAttention-3 and XQA round the weights to e4m3 too, then the output to bf16.
FP8_TOLERANCE = 2.0**-4 + 2.0**-8
FLASH, FLASHINFER = "vllm.vllm_flash_attn", "flashinfer"
WORKSPACE_BYTES = 394 << 20  # FlashInfer's


def _fa3(pools: Pools) -> Contender | None:
    flash = importlib.import_module(FLASH)
    case, job = pools.case, pools.case.job
    if job.block_size % 16 or job.dtype == "float32":
        return None
    query = pools.query.to(torch.float8_e4m3fn) if case.fp8 else pools.query
    starts = torch.arange(job.num_seqs + 1, dtype=torch.int32, device=query.device)
    shared: dict[str, Any] = {
        "max_seqlen_q": 1,
        "max_seqlen_k": pools.max_seq_len,
        "causal": True,
        "num_splits": 0,  # chosen by its own heuristic
    }

    def make_plan() -> Any:
        return flash.get_scheduler_metadata(
            batch_size=job.num_seqs,
            num_heads_q=job.num_heads,
            num_heads_kv=job.num_kv_heads,
            headdim=job.head_size,
            cache_seqlens=pools.seq_lens,
            qkv_dtype=query.dtype,
            cu_seqlens_q=starts,
            page_size=job.block_size,
            window_size=(-1, -1),
            **shared,
        )

    shared_by_calls = {**shared, "scheduler_metadata": make_plan(), **_descale(pools)}

    def run(pool: int) -> torch.Tensor:
        key_cache, value_cache = pools.caches[pool]
        flash.flash_attn_varlen_func(
            q=query,
            k=key_cache,
            v=value_cache,
            out=pools.out,
            cu_seqlens_q=starts,
            seqused_k=pools.seq_lens,
            softmax_scale=pools.scale,
            window_size=[-1, -1],
            block_table=pools.block_tables,
            fa_version=3,
            **shared_by_calls,
        )
        return pools.out

    rounded = query if case.fp8 else None
    return attends(pools, run, make_plan, rounded, _tolerance(pools))


def _descale(pools: Pools) -> dict[str, torch.Tensor]:
    """What FlashAttention-3 multiplies fp8 with, for each sequence and KV head."""
    if not pools.case.fp8:
        return {}
    shape = (pools.case.job.num_seqs, pools.case.job.num_kv_heads)
    scales = {"q_descale": 1.0, "k_descale": pools.k_scale, "v_descale": 1.0}
    return {
        name: torch.tensor([scale], dtype=torch.float32, device=pools.query.device).expand(shape)
        for name, scale in scales.items()
    }


def _flashinfer(pools: Pools) -> Contender | None:
    flashinfer = importlib.import_module(FLASHINFER)
    case, job = pools.case, pools.case.job
    if job.dtype == "float32" or 0 in job.seq_lens:
        return None
    num_blocks = [-(-seq_len // job.block_size) for seq_len in job.seq_lens]
    starts = torch.tensor([0, *num_blocks], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    rows = zip(pools.block_tables, num_blocks, strict=True)
    blocks = torch.cat([row[:count] for row, count in rows])
    last = torch.tensor([(n - 1) % job.block_size + 1 for n in job.seq_lens], dtype=torch.int32)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        _workspace("decode", pools.query.device), "NHD", use_tensor_cores=True
    )

    def make_plan() -> None:
        wrapper.plan(
            starts,
            blocks,
            last,
            job.num_heads,
            job.num_kv_heads,
            job.head_size,
            job.block_size,
            q_data_type=pools.query.dtype,
            kv_data_type=pools.caches[0][0].dtype,
            o_data_type=pools.query.dtype,
            sm_scale=pools.scale,
            non_blocking=True,
        )

    make_plan()
    scales = {"k_scale": pools.k_scale} if case.fp8 else {}

    def run(pool: int) -> torch.Tensor:
        wrapper.run(pools.query, pools.caches[pool], out=pools.out, **scales)
        return pools.out

    return attends(pools, run, make_plan, tolerance=_tolerance(pools))


def _xqa(pools: Pools) -> Contender | None:
    flashinfer = importlib.import_module(FLASHINFER)
    job = pools.case.job
    if job.block_size not in (16, 32, 64, 128) or job.dtype == "float32":
        return None
    workspace = _workspace("xqa", pools.query.device)
    workspace.zero_()  # its semaphores must start there

    def run(pool: int) -> torch.Tensor:
        flashinfer.decode.trtllm_batch_decode_with_kv_cache(
            query=pools.query,
            kv_cache=pools.caches[pool],
            workspace_buffer=workspace,
            block_tables=pools.block_tables,
            seq_lens=pools.seq_lens,
            max_seq_len=pools.max_seq_len,
            bmm1_scale=pools.scale * pools.k_scale,
            bmm2_scale=1.0,
            window_left=-1,
            out=pools.out,
            kv_layout="NHD",
            backend="xqa",
        )
        return pools.out

    return attends(pools, run, tolerance=_tolerance(pools))


def _tolerance(pools: Pools) -> float | None:
    return FP8_TOLERANCE if pools.case.fp8 else None


@cache
def _workspace(name: str, device: torch.device) -> torch.Tensor:
    return torch.zeros(WORKSPACE_BYTES, dtype=torch.uint8, device=device)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another project's kernel: its module, and how it is made ready; None if not for a case."""

    module: str
    make: Callable[[Pools], Contender | None]


PEERS = {
    "FA3": Peer(FLASH, _fa3),
    "FlashInfer": Peer(FLASHINFER, _flashinfer),
    "XQA": Peer(FLASHINFER, _xqa),
}


def installed() -> dict[str, str]:
    """The peers that can be imported here, with their versions."""
    modules = {name: _module(peer.module) for name, peer in PEERS.items()}
    return {name: _version(module) for name, module in modules.items() if module}


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _version(module: ModuleType) -> str:
    package = module.__name__.partition(".")[0]
    version = getattr(importlib.import_module(package), "__version__", None)
    return f"{package} {version}" if version else package
