"""Random small scenarios that collide a lot: few tokens, tiny pools, many shared prefixes."""

from typing import get_args

from hypothesis import strategies as st

from sim.prompt import TokenPrompt
from sim.scenario import Abort, RequestSpec, Reset, Scenario, Version
from sim.step_time import StepTime

TOKENS = st.integers(0, 1)
MAX_MODEL_LEN = 24


@st.composite
def requests(draw: st.DrawFn, index: int) -> RequestSpec:
    prompt = draw(st.lists(TOKENS, min_size=1, max_size=14))
    outputs = draw(st.lists(TOKENS, min_size=1, max_size=10))
    scripted = draw(st.integers(0, 3)) > 0
    return RequestSpec(
        id=f"r{index}",
        arrival_step=draw(st.integers(0, 6)),
        prompt=TokenPrompt(tuple(prompt)),
        max_tokens=len(outputs),
        output_token_ids=tuple(outputs) if scripted else None,
        min_tokens=draw(st.integers(0, len(outputs))),
        stop_token_ids=draw(st.sampled_from([(), (1,)])),
        ignore_eos=draw(st.booleans()),
        priority=draw(st.integers(0, 2)),
        cache_salt=draw(st.sampled_from([None, None, "x"])),
        lora_name=draw(st.sampled_from([None, None, "x"])),
        skip_reading_prefix_cache=draw(st.sampled_from([False, False, True])),
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    count = draw(st.integers(1, 7))
    ids = [f"r{i}" for i in range(count)]
    steps = st.integers(0, 12)
    aborts = st.builds(
        Abort, steps, st.sampled_from(["before", "mid"]), st.sampled_from(ids).map(lambda i: (i,))
    )
    return Scenario(
        num_gpu_blocks=draw(st.integers(2, 16)),
        block_size=draw(st.integers(1, 5)),
        requests=tuple(draw(requests(i)) for i in range(count)),
        enable_prefix_caching=draw(st.booleans()),
        max_num_seqs=draw(st.integers(1, 5)),
        max_num_batched_tokens=draw(st.integers(1, 20)),
        max_model_len=MAX_MODEL_LEN,
        enable_chunked_prefill=draw(st.booleans()),
        policy=draw(st.sampled_from(["fcfs", "priority"])),
        watermark=draw(st.sampled_from([0.0, 0.2])),
        long_prefill_token_threshold=draw(st.sampled_from([0, 3])),
        scheduler_reserve_full_isl=draw(st.booleans()),
        eos_token_id=draw(st.sampled_from([None, 0])),
        version=draw(st.sampled_from(get_args(Version))),
        step_time=draw(st.sampled_from([None, None, StepTime(1.0, 0.3, 0.2)])),
        aborts=tuple(draw(st.lists(aborts, max_size=2))),
        resets=tuple(draw(st.lists(st.builds(Reset, steps, st.booleans()), max_size=1))),
    )
