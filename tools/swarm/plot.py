#!/usr/bin/env python3
"""Draws what tools/swarm/run --paper --json prints, or what tools/swarm/links --json FILE writes, for docs/swarm.md.

    tools/swarm/run --paper --json | tools/swarm/plot.py docs/plots
    tools/swarm/plot.py docs/plots < FILE
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
    folder = Path(sys.argv[1])
    if "links" in found:
        Path(folder, "swarm-links.svg").write_text(links(found))
    else:
        Path(folder, "swarm-success.svg").write_text(success(found))


def links(found):
    """How much of a round is training, over how many times less an update is, for each link."""
    lines = {}
    for session in found["links"]:
        ratio = found["alone"]["whole"] / session["bytes"]
        parts = sorted(one["training"] / one["all"] for one in session["times"])
        lines.setdefault(session["mbit"], []).append((ratio, 100 * parts[len(parts) // 2]))
    lines = [(f"{mbit} Mbit/s", sorted(line)) for mbit, line in lines.items()]
    most = max(ratio for _, line in lines for ratio, _ in line)
    lines.append(("aim: 90 %", [(0, 90), (most, 90)]))
    return chart("Training, as a part of a round", "times less than binary32", "%", lines, None, 100)


def success(found):
    """How many averagings make a model better, over a session."""
    parts = found["successes"]
    middle = [((at + 0.5) / len(parts) * 100, 100 * part) for at, part in enumerate(parts) if part is not None]
    lines = [("averagings that helped", middle), ("the study: still above", [(0, 20), (100, 20)])]
    return chart("Averagings after which a model is better", "of the session, %", "%", lines, 100, 100)


if __name__ == "__main__":
    main()
