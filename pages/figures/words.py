"""Numbers as the pages write them."""

import math


def size(num_bytes: int) -> str:
    """Like 384 B, 86.0 kB, 134.2 MB."""
    if num_bytes < 1000:
        return f"{num_bytes} B"
    value, unit = (num_bytes / 1e6, "MB") if num_bytes >= 1e6 else (num_bytes / 1e3, "kB")
    return f"{value:,.1f} {unit}"


def scientific(value: float) -> str:
    """Like 1.26e−7; 0 is 0, and what is no number at all is ∞."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−")


def many(number: int, noun: str) -> str:
    """Like 1 token, 4 tokens, 1,000 tokens."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
