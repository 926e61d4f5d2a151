"""Why each block of a prompt hit or missed, read back from the log."""

from sim.verdict.verdict import Lookup, Reason, Verdict, lookups

__all__ = ["Lookup", "Reason", "Verdict", "lookups"]
