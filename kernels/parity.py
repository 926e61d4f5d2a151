"""One run of the kernel: fill a paged cache, attend, compare with float64, and time it on a GPU."""

import time
from collections.abc import Callable
from functools import partial

import torch

from kernels import bounds
from kernels.device import free_bytes, operations, torch_device
from kernels.inputs import Inputs, make_inputs
from kernels.job import Device, Job, Result, Timing
from kernels.reference import dense_attention

Stage = Callable[[str], None]


def run(job: Job, device: Device, stage: Stage = lambda name: None) -> Result:
    """Run the job on the device of this process; `stage` hears "parity", then "timing".

    The reference is dense attention in float64 over the tokens themselves: it never sees the cache
    or the table, so it checks the writer and the gather too. Raises JobError.
    """
    bounds.check(job, device.kind, free_bytes() if device.kind == "gpu" else None)
    write, attend = operations(device)
    stage("parity")
    inputs = make_inputs(job, write, torch_device(device))
    reference = float64_reference(inputs)
    attend = _planned(attend, inputs, device)
    output, seconds = _attend(attend, inputs)
    return Result(
        job,
        device,
        output.double().cpu().numpy(),
        reference.cpu().numpy(),
        seconds,
        _time(attend, inputs, device, stage),
    )


def float64_reference(inputs: Inputs) -> torch.Tensor:
    """Dense attention over each sequence's own tokens: [num_seqs, num_heads, head_size] float64."""
    out = [
        dense_attention(
            query.double(), inputs.key[rows].double(), inputs.value[rows].double(), inputs.scale
        )
        for query, rows in zip(inputs.query, inputs.token_rows, strict=True)
    ]
    return torch.stack(out)


def _planned(
    attend: Callable[..., torch.Tensor], inputs: Inputs, device: Device
) -> Callable[..., torch.Tensor]:
    """With the plan of the step, which all of a model's layers share, made already."""
    if device.kind == "torch":
        return attend
    from kernels.plan import plan_decode

    plan = plan_decode(inputs.query, inputs.key_cache, inputs.seq_lens)
    return partial(attend, plan=plan)


def _attend(attend: Callable[..., torch.Tensor], inputs: Inputs) -> tuple[torch.Tensor, float]:
    started = time.perf_counter()
    output = attend(
        inputs.query,
        inputs.key_cache,
        inputs.value_cache,
        inputs.block_tables,
        inputs.seq_lens,
        inputs.scale,
    )
    if output.is_cuda:
        torch.cuda.synchronize()
    return output, time.perf_counter() - started


def _time(
    attend: Callable[..., torch.Tensor], inputs: Inputs, device: Device, stage: Stage
) -> Timing | None:
    if device.kind != "gpu" or not inputs.key.shape[0]:
        return None
    from kernels.timing import measure

    stage("timing")
    return measure(attend, inputs)
