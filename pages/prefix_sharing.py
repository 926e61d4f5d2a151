"""Prefix sharing: which blocks are reused, and why not this one?"""

from pages.ui import leaves_out, page
from pages.ui.prefix_stage import prefix_stage
from pages.ui.prompt_controls import choose_example, prompt_controls

page(
    "Prefix sharing",
    "Which blocks are reused, and why not this one?",
    badges=("vLLM 0.26.0 rules", "tokens = words", "computed here"),
)

example = choose_example()
prefix_stage(example, prompt_controls(example))

leaves_out(
    "Prompts are cut at spaces and signs, one word a token; a word’s id is its UTF-8 bytes read "
    "as a number: a tokenizer cuts elsewhere, and the rules are the same. Hashes are those of vLLM "
    "0.26.0 (SHA-256, `PYTHONHASHSEED=0`) over these ids, checked against recordings; four of "
    "their hex digits are shown. Answers are tokens that nobody else has. Left out: LoRA and "
    "multimodal keys, other hash functions, and the free order of older versions, which put every "
    "block at the tail."
)
