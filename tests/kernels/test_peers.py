"""Others' kernels, played by torch: each gets what it needs, or is left out."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from kernels import peers
from kernels.job import TOLERANCE
from kernels.pools import make_pools
from kernels.reference import dense_attention
from tests.kernels.small import small


def attend(query, cache, tables, seq_lens, scale):
    out = torch.empty_like(query, dtype=torch.float64)
    for seq, seq_len in enumerate(seq_lens.tolist()):
        key, value = (c.double()[tables[seq].long()].flatten(0, 1)[:seq_len] for c in cache)
        out[seq] = dense_attention(query[seq].double(), key, value, scale)
    return out


def flash_attn_varlen_func(**given):
    assert given["fa_version"] == 3
    assert given["cu_seqlens_q"].tolist() == list(range(len(given["q"]) + 1))
    assert given["scheduler_metadata"] == "metadata"
    scales = [given.get(f"{name}_descale") for name in "qkv"]
    q, k, v = (1.0 if scale is None else float(scale[0, 0]) for scale in scales)
    scale = given["softmax_scale"] * q * k
    cache = given["k"], given["v"].double() * v
    out = attend(given["q"], cache, given["block_table"], given["seqused_k"], scale)
    given["out"].copy_(out)


class Wrapper:
    def __init__(self, workspace, layout, use_tensor_cores):
        assert (layout, use_tensor_cores) == ("NHD", True)

    def plan(self, starts, blocks, last, *shape, sm_scale, **dtypes):
        self.pages, self.last, self.scale = blocks.split(starts.diff().tolist()), last, sm_scale
        self.block_size = shape[3]

    def run(self, query, cache, out, k_scale=1.0):
        tables = torch.nn.utils.rnn.pad_sequence(self.pages, batch_first=True)
        whole = torch.tensor([len(page) - 1 for page in self.pages]) * self.block_size
        out.copy_(attend(query, cache, tables, whole + self.last, self.scale * k_scale))


def xqa(query, kv_cache, block_tables, seq_lens, bmm1_scale, out, **rest):
    assert rest["max_seq_len"] == seq_lens.max()
    out.copy_(attend(query, kv_cache, block_tables, seq_lens, bmm1_scale))


@pytest.mark.parametrize("name", peers.PEERS)
@pytest.mark.parametrize("fp8", [False, True])
def test_a_peer_gets_what_it_needs(monkeypatch, name, fp8):
    flash, flashinfer = ModuleType("vllm.vllm_flash_attn"), ModuleType("flashinfer")
    flash.flash_attn_varlen_func = flash_attn_varlen_func
    flash.get_scheduler_metadata = lambda **given: "metadata"
    flashinfer.BatchDecodeWithPagedKVCacheWrapper = Wrapper
    flashinfer.decode = SimpleNamespace(trtllm_batch_decode_with_kv_cache=xqa)
    flashinfer.__version__ = "0.6.14"
    vllm = ModuleType("vllm")
    for module in (flash, flashinfer, vllm):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(peers, "WORKSPACE_BYTES", 8)
    pools = make_pools(small((48, 17), fp8=fp8), torch.device("cpu"), 2)

    contender = peers.PEERS[name].make(pools)

    assert contender.worst() <= TOLERANCE["float16"]
    assert peers.installed() == {
        "FA3": "vllm",
        "FlashInfer": "flashinfer 0.6.14",
        "XQA": "flashinfer 0.6.14",
    }


def test_a_peer_that_is_not_there_is_left_out(monkeypatch):
    for module in ("vllm", "vllm.vllm_flash_attn", "flashinfer"):
        monkeypatch.setitem(sys.modules, module, None)

    assert peers.installed() == {}
