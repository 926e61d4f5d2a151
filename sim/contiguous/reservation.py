"""How much memory a request reserved before paging: Orca's three ways in the vLLM paper."""

from enum import StrEnum

from sim.contiguous.buddy import power_of_two
from sim.scenario import RequestSpec, Scenario
from sim.stop import num_outputs


class Reservation(StrEnum):
    """What is known of an output when its request enters (arXiv 2309.06180, section 6.1)."""

    MAX = "max"  # nothing: room for max_model_len tokens
    POW2 = "pow2"  # its length rounded up to a power of two: room for 32 when it will be 25
    ORACLE = "oracle"  # its length: room for just the tokens that will be stored

    @property
    def label(self) -> str:
        """The paper's name of the system."""
        return f"Orca ({self.capitalize()})"

    def slots(self, scenario: Scenario, spec: RequestSpec) -> int:
        """Slots that a request reserves.

        At most max_model_len: the paper does not say whether Pow2 rounds beyond it, but nobody
        would reserve what no request may fill.
        """
        if self is Reservation.MAX:
            return scenario.max_model_len
        if self is Reservation.ORACLE:
            return stored_slots(scenario, spec)
        rounded = spec.prompt.num_tokens + power_of_two(num_outputs(scenario, spec))
        return min(rounded, scenario.max_model_len)


def stored_slots(scenario: Scenario, spec: RequestSpec) -> int:
    """Tokens whose K and V a request stores until its end: all but the last one it emits."""
    return spec.prompt.num_tokens + num_outputs(scenario, spec) - 1
