"""Looking only at decoders that need something decides exactly as looking at everyone."""

from hypothesis import given, settings

from sim.event_log import EventLog
from sim.scheduler import Scheduler
from sim.simulate import Run
from tests.sim.strategies import scenarios


class LooksAtEveryone(Scheduler):
    """As vLLM does: every running request in every step."""

    def _schedule_running(self):
        for request in list(self.running.requests):
            self.running.look_at(request)
        return super()._schedule_running()


def logged(scenario, scheduler):
    run = Run(scenario)
    run.scheduler = scheduler(scenario, run.log)
    while run.advance():
        pass
    return EventLog(scenario, run.log.columns(), run.stalled).to_bytes()


@settings(max_examples=250, deadline=None)
@given(scenarios())
def test_same_log_byte_for_byte(scenario):
    assert logged(scenario, Scheduler) == logged(scenario, LooksAtEveryone)


def test_decoders_are_not_looked_at_inside_a_block(scenario, request_spec):
    """8 requests decode 40 tokens in blocks of 4: looked at when one starts and when it is full."""
    looks = []

    class Counts(Scheduler):
        def _allocate(self, group, tokens):
            looks.extend(group)
            return super()._allocate(group, tokens)

    specs = [request_spec(f"r{i}", [i] * 4, 40) for i in range(8)]
    engine = {"num_gpu_blocks": 200, "max_num_batched_tokens": 64, "max_model_len": 99}
    logged(scenario(*specs, **engine), Counts)
    assert len(looks) == 8 * (39 // 4 + 1 + 39 // 4)
