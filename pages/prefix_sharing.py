"""Prefix sharing: which blocks are reused, and why not this one?"""

import streamlit as st

from pages.ui import leaves_out, page
from pages.ui.prefix_stage import prefix_stage
from pages.ui.prompt_controls import choose_example, prompt_controls

page(
    "Prefix sharing",
    "Which blocks are reused, and why not this one?",
    badges=("vLLM’s rules", "computed here"),
)

with st.sidebar:
    example = choose_example()
prefix_stage(example, prompt_controls(example))

leaves_out(
    "Words are cut at spaces and signs, and a word’s id is its UTF-8 bytes read as a number; a "
    "byte is its own id. A tokenizer cuts elsewhere, and the rules are the same. Hashes are those "
    "of vLLM 0.26.0 (SHA-256, `PYTHONHASHSEED=0`) over these ids, checked against recordings; four "
    "of their hex digits are shown. *Before 0.26* changes the free order and nothing else, and is "
    "checked against the worked example of vLLM’s design page, docs/design/prefix_caching.md. "
    "Answers are tokens that nobody else has, unless a prompt quotes them. The radix tree is drawn "
    "from the same hashes: no engine ran with it. Left out: LoRA and multimodal keys, other hash "
    "functions."
)
