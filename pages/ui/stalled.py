"""Why a run was cut: what vLLM would wait for without end, in one sentence."""

from sim.contiguous.reservation import stored_slots
from sim.event_log import EventLog
from sim.events import Hazard
from sim.hazards import FoundHazard, hazards


def why_stalled(log: EventLog) -> str:
    """What keeps a stalled run from going on; the last hazard that its log tells."""
    found = [h for h in hazards(log) if h.hazard in WORDS]
    if not found:
        return (
            "Nothing can run any more: requests take blocks from each other for ever, "
            "and nobody gets a token; a larger pool would do."
        )
    last = found[-1]
    return f"Nothing can run any more: {WORDS[last.hazard](last, log)}"


def _never_fits(found: FoundHazard, log: EventLog) -> str:
    return (
        f"{found.request_id} needs {found.num_blocks:,} blocks, more than the {_usable(log):,} "
        f"there are, and nobody overtakes it; {_enough(found, log):,} blocks with the null block "
        "would do for it."
    )


def _outgrew_pool(found: FoundHazard, log: EventLog) -> str:
    return (
        f"{found.request_id} ran alone and found no block among the {_usable(log):,} there are: it "
        f"gives its own back and starts again, for ever; {_enough(found, log):,} blocks with the "
        "null block would do for it."
    )


def _past_max_model_len(found: FoundHazard, log: EventLog) -> str:
    return (
        f"{found.request_id} stands at max_model_len, {log.scenario.max_model_len:,} tokens, but "
        "its min_tokens forbid it to stop, so it keeps its blocks; fewer min_tokens would do."
    )


def _enough(found: FoundHazard, log: EventLog) -> int:
    """A pool that holds all that the request will ever store, and the null block."""
    scenario = log.scenario
    spec = next(spec for spec in scenario.requests if spec.id == found.request_id)
    return -(-stored_slots(scenario, spec) // scenario.block_size) + 1


def _usable(log: EventLog) -> int:
    return log.scenario.num_gpu_blocks - 1


WORDS = {
    Hazard.NEVER_FITS: _never_fits,
    Hazard.OUTGREW_POOL: _outgrew_pool,
    Hazard.PAST_MAX_MODEL_LEN: _past_max_model_len,
}
