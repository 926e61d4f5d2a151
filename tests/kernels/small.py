"""Decode steps small enough for Triton's interpreter, for the tests of the benchmark."""

from kernels.cases import Decode
from kernels.presets import Model, decode_step

SMALL = Model("small", 4, 2, 32)


def small(seq_lens=(40, 40), *, fp8=False, dtype="float16"):
    return Decode("small", decode_step(SMALL, seq_lens, dtype=dtype), fp8)
