"""The device of this process, found by importing torch: a GPU, or what stands in for one."""

import importlib.util
import os
import subprocess
from collections.abc import Callable

import torch

from kernels.job import Device


def find_device() -> Device:
    """A CUDA GPU; else Triton's interpreter; else, where Triton has no wheels, plain torch.

    Chooses the interpreter for this process, so it must run before the first import of Triton:
    Triton's own library is decorated when it is imported.
    """
    version = str(torch.__version__)  # a plain str: torch's own type would import torch elsewhere
    if importlib.util.find_spec("triton") is None:
        return Device("torch", "torch on CPU", version)
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name()
        return Device("gpu", name, version, _triton(), torch.version.cuda, _driver())
    os.environ["TRITON_INTERPRET"] = "1"
    return Device("interpreter", "Triton interpreter on CPU", version, _triton())


def torch_device(device: Device) -> torch.device:
    """Where tensors of this device live."""
    return torch.device("cuda" if device.kind == "gpu" else "cpu")


def free_bytes() -> int:
    """Bytes of GPU memory that can be taken now."""
    return int(torch.cuda.mem_get_info()[0])


def operations(device: Device) -> tuple[Callable[..., None], Callable[..., torch.Tensor]]:
    """The writer and the attention that this device runs: Triton's, or torch's where it lacks."""
    if device.kind == "torch":
        from kernels.reference import paged_attention, reshape_and_cache_flash
    else:
        from kernels.cache_write import reshape_and_cache_flash
        from kernels.decode import paged_attention
    return reshape_and_cache_flash, paged_attention


def _triton() -> str:
    import triton

    return str(triton.__version__)


def _driver() -> str | None:
    ask = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        answer = subprocess.run(ask, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
