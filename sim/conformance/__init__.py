"""Recordings of vLLM's own scheduler and cache manager against this simulator, field by field.

A recording is one gzip'd JSON: the scenario, and per step what vLLM decided and the state it left
(kind "sched"), or per call of its KVCacheManager (kind "kv"). vLLM's counter `ncb` is left out.
"""

import gzip
import json
from pathlib import Path

from sim.conformance import manager, scheduler
from sim.conformance.recording import Difference, Json


def load(path: Path) -> Json:
    """A recording, read from its file."""
    recording: Json = json.loads(gzip.decompress(path.read_bytes()))
    return recording


def compare(recording: Json) -> Difference | None:
    """The first difference, or None when every field of every step is the same."""
    if recording["scenario"]["kind"] == "kv":
        return manager.compare(recording)
    return scheduler.compare(recording)
