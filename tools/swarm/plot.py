#!/usr/bin/env python3
"""Draws what tools/swarm/run --paper --json prints, for docs/swarm.md.

    tools/swarm/run --paper --json | tools/swarm/plot.py docs/plots
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "slots"))
from svg import chart  # noqa: E402


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = json.load(sys.stdin)
    parts = found["successes"]
    middle = [((at + 0.5) / len(parts) * 100, 100 * part) for at, part in enumerate(parts) if part is not None]
    lines = [("averagings that helped", middle), ("the study: still above", [(0, 20), (100, 20)])]
    picture = chart("Averagings after which a model is better", "of the session, %", "%", lines, 100, 100)
    Path(sys.argv[1], "swarm-success.svg").write_text(picture)


if __name__ == "__main__":
    main()
