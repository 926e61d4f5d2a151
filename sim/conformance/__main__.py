"""`python -m sim.conformance FILE…`: one line a recording, then a count; exit 1 on a difference."""

import sys
import zlib
from pathlib import Path

from sim.conformance import compare, load


def main(paths: list[str]) -> int:
    """Compare each file, print what came out."""
    identical = 0
    for path in map(Path, paths):
        same, verdict = _verdict(path)
        identical += same
        print(f"{path.name}: {verdict}", flush=True)
    print(f"{identical} of {len(paths)} identical (every field but vLLM's own counter ncb)")
    return int(identical != len(paths))


def _verdict(path: Path) -> tuple[bool, str]:
    try:
        recording = load(path)
        difference = compare(recording)
        num_steps = len(recording["steps"])
    except (OSError, EOFError, zlib.error, ValueError, KeyError) as error:
        return False, f"not a recording that can be compared: {error!r}"
    return difference is None, str(difference or f"identical, {num_steps} steps")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
