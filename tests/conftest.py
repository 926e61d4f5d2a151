"""What every test shares: where the repository is, and examples that any machine draws alike."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]
