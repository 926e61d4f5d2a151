"""Gather loop: what one query does with keys and values that lie in scattered blocks."""

import streamlit as st

from pages.ui import leaves_out, page
from pages.ui.gather_controls import gather_controls
from pages.ui.gather_stage import gather_stage
from sim.attention import attend

page(
    "Gather loop",
    "What does one query do with scattered blocks?",
    badges=("per token, as in the lesson", "computed here, float64"),
)

choice = gather_controls()
gather_stage(choice, attend(choice.inputs)[choice.head])

kernel, blocks, order = st.columns(3, gap="medium")
kernel.markdown(
    """**Which kernel is this**

The lesson’s reference, one token at a time. In vLLM 0.26.0:
- what runs by default is `FlashAttentionImpl.forward` (`v1/attention/backends/flash_attn.py`), on
  the same block tables;
- the Triton kernel (`v1/attention/ops/triton_unified_attention.py`) keeps the same m, l and acc,
  but for a *tile* of tokens at once: a tile of 32 reads two blocks of 16;
- the classic CUDA kernel (`docs/design/paged_attention.md`), which the lesson reads, is *not*
  online softmax: it keeps all scores of a partition, takes one max and one sum, and then walks V.
  Only the merge of partitions rescales.
"""
)
blocks.markdown(
    f"""**Two different blocks**

A KV block is a run of {choice.inputs.block_size} token slots in the pool. It is not a CUDA thread
block and not a Triton program: those say how the work is spread, and any one of them may read many
KV blocks.

The lesson’s toy pool hands out block 0. vLLM keeps block 0 as its null block, so with a seed, or
with another table than the lesson’s, ids start at 1 here.
"""
)
order.markdown(
    """**Why the order of blocks cannot matter**

The walk asks the table for each block, so it meets the tokens in their logical order wherever they
lie: scattered, reversed and in order give the same bits. What is left against dense attention is
rounding, since the same sums are taken in another way. The number is computed here, and its last
digits depend on the Python version.
"""
)
leaves_out(
    """One decode step of one request over one KV head, in Python floats (float64). Left out: how
threads share the work, coalescing, 16-bit rounding, partitions and their merge. The neighbours B
and C stand for other requests and hold no data; slots that A never wrote hold NaN and are never
read. Kernels and files are named as in vLLM 0.26.0."""
)
