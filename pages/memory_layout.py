"""Memory layout: why does the K cache have that odd x?"""

import streamlit as st

from pages.ui import leaves_out, page
from pages.ui.layout_controls import layout_controls
from pages.ui.layout_stage import layout_stage

page(
    "Memory layout",
    "Why does the K cache have that odd *x*?",
    badges=("arithmetic, computed here", "vLLM 0.26.0 layouts"),
)

layout_stage(layout_controls())

pair, value, law = st.columns(3, gap="medium")
pair.markdown(
    """**Why K has an x**

A warp of the classic kernel takes the same few elements of *every* token of a block at once. Where
a token's key lies in one piece, these are as many places as there are tokens. The x-split puts the
same 16-byte chunk of all tokens side by side, so the load is one run: x = 16 // element size, 4 for
float32, 8 for 16 bits, 16 for float8.
"""
)
value.markdown(
    """**Why V has none**

Values are summed over the tokens, for each *d* on its own. So a thread takes one row *d* and 16
bytes of its tokens: with the tokens innermost, `[blocks, heads, head size, slots]`, that is one
read without any split.
"""
)
law.markdown(
    """**Not a law**

Layout and thread mapping belong together. FlashAttention and the Triton kernels read whole rows of
a token along *d*: for them NHD and HND are contiguous already, and they are what runs in vLLM
0.26.0. The x-split is what the classic kernel, the one in the design page, asks for.
"""
)
leaves_out(
    "Addresses in one layer's cache, from its start; K and V are caches of their own, but for "
    "packed K|V. A load is one warp's, as vLLM's `csrc/attention/attention_kernels.cuh` gives it "
    "out: 32 // block size threads share a token of K. Keys in float8 are computed with in 16 "
    "bits, so a load takes half of a chunk. Sectors are counted, not measured: caches, other warps "
    "and what a GPU fetches beside are left out. Checked against torch's views of real tensors, "
    "every layout and dtype."
)
