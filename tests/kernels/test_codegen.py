"""What makes the decode kernel fast is there in the machine code, with the Triton in use."""

import json
import os
import subprocess
import sys

import pytest

from tests.kernels.codegen import CASES

SHARED_PER_SM = 227 * 1024
REGISTERS_PER_SM = 64 * 1024


@pytest.fixture(scope="module")
def facts():
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests.kernels.codegen"]
    made = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return {fact["name"]: fact for fact in map(json.loads, made.stdout.splitlines())}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
class TestCode:
    def test_keys_and_values_are_prefetched_into_as_many_buffers_as_there_are_stages(
        self, facts, case
    ):
        """Triton gives an indirect load its stages only if the table entry is carried."""
        assert facts[case.name]["buffers"] == [case.config.num_stages - 1] * 2
        assert facts[case.name]["copies"] == 2

    def test_the_loop_never_drains_its_prefetches(self, facts, case):
        assert facts[case.name]["waits"] == [2 * (case.config.num_stages - 2)]

    def test_copies_are_sixteen_bytes_wide(self, facts, case):
        assert facts[case.name]["copy_bytes"] == [16]

    def test_nothing_spills_and_no_byte_is_loaded_alone(self, facts, case):
        assert facts[case.name]["stack"] == facts[case.name]["spills"] == 0
        assert facts[case.name]["byte_loads"] == 0

    def test_as_many_programs_share_an_sm_as_the_plan_counts_on(self, facts, case):
        programs = case.config.programs_per_sm
        threads = 32 * case.config.num_warps
        assert programs * facts[case.name]["shared"] <= SHARED_PER_SM
        assert programs * facts[case.name]["registers"] * threads <= REGISTERS_PER_SM

    def test_the_flight_recorder_is_compiled_only_when_asked_for(self, facts, case):
        assert facts[case.name]["clock"] == case.trace
