"""The device under test: a GPU where there is one, else Triton's interpreter.

It is chosen here, before any test module imports a kernel: Triton reads its choice on import.
"""

import pytest

from kernels.device import find_device, torch_device

DEVICE = find_device()


@pytest.fixture(scope="session")
def device():
    return DEVICE


@pytest.fixture(scope="session")
def torch_dev():
    return torch_device(DEVICE)


def pytest_generate_tests(metafunc):
    """`dtype` is every dtype that the device computes rightly."""
    if "dtype" in metafunc.fixturenames:
        dtypes = ["float32", "float16"] + ["bfloat16"] * (DEVICE.kind == "gpu")
        metafunc.parametrize("dtype", dtypes)
