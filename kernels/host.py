"""What this host most likely runs kernels on, told without importing torch."""

import importlib.util
import shutil
from pathlib import Path

from kernels.job import Kind


def expected_kind() -> Kind:
    """The kind of device that the worker should find; it knows once it has started."""
    if importlib.util.find_spec("triton") is None:
        return "torch"
    has_driver = Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi")
    return "gpu" if has_driver else "interpreter"
