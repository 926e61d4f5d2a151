"""What the charts of the Allocation page come to, in sentences."""

from collections.abc import Mapping, Sequence

from pages.figures.words import many, size
from sim.block_sizes import ENTRY_BYTES, BlockSizeRun
from sim.contiguous import ContiguousRun, Reservation
from sim.scenario import MAX_BLOCKS
from sim.waste_history import WasteHistory

BESIDE = (16, 64)  # sizes that are told beside the one on screen; 16 is vLLM's default


def shares_told(ways: Mapping[str, WasteHistory]) -> str:
    """The empty share of every way."""
    told = ", ".join(f"{name} {_percent(way.empty_share)}" for name, way in ways.items())
    return f"{told} of the slots."


def unfinished_told(baselines: Mapping[Reservation, ContiguousRun], last_step: int) -> str:
    """How far each baseline is when the paged run ends; who is stuck is told elsewhere."""
    left = {}
    for how, run in baselines.items():
        if run.num_steps > last_step:
            count = int(run.columns["running"][-1] + run.columns["waiting"][-1])
            if count:
                left[how.label] = many(count, "request")
    if not left:
        return ""
    words = ", ".join(f"{count} with {name}" for name, count in left.items())
    return f"When the paged run ends, there are still to be done: {words}."


def sizes_told(runs: Sequence[BlockSizeRun], current: int) -> str:
    """What the size on screen comes to, and what two others would."""
    by_size = {run.block_size: run for run in runs}
    sizes = [current, *(size for size in BESIDE if size != current)]
    return f"At {'; at '.join(_run_told(by_size[size]) for size in sizes if size in by_size)}."


def _run_told(run: BlockSizeRun) -> str:
    if run.stalled:
        return f"**{run.block_size}** the run never ends"
    entries = "entry" if run.longest == 1 else "entries"
    return (
        f"**{run.block_size}**: {_percent(run.empty_share)} of the held slots are empty, the "
        f"longest table has {run.longest:,} {entries} ({size(run.longest * ENTRY_BYTES)}), "
        f"{run.hit:,} of {run.asked:,} prompt tokens are found"
    )


def left_out_told(runs: Sequence[BlockSizeRun], slots: int) -> str:
    """Which sizes have no numbers, and why; empty when all have."""
    stalled = [
        f"{many(run.num_blocks - 1, 'block')} of {run.block_size}" for run in runs if run.stalled
    ]
    told = []
    if stalled:
        told.append(
            f"Dashed: the run never ends with {_or(stalled)}, which is all that these {slots:,} "
            "slots make."
        )
    if runs[0].block_size > 1:
        told.append(
            f"Blocks smaller than {runs[0].block_size} would be more than {MAX_BLOCKS:,}: that is "
            "not simulated."
        )
    return " ".join(told)


def _or(names: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _percent(share: float) -> str:
    """Like 6.5 %, never broken over two lines."""
    return f"{100 * share:.1f}\u00a0%"
