"""`python -m sim.conformance FILE…`: one line a recording, then a count; exit 1 on a difference."""

import sys
from pathlib import Path

from sim.conformance import compare, load


def main(paths: list[str]) -> int:
    """Compare each file, print what came out."""
    identical = 0
    for path in map(Path, paths):
        recording = load(path)
        difference = compare(recording)
        identical += difference is None
        verdict = difference or f"identical, {len(recording['steps'])} steps"
        print(f"{path.name}: {verdict}")
    print(f"{identical} of {len(paths)} identical (every field but vLLM's own counter ncb)")
    return int(identical != len(paths))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
