"""From a log to the frame of any of its steps, without running the engine again."""

from sim.replay.replay import Phase, Replay

__all__ = ["Phase", "Replay"]
