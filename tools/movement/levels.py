#!/usr/bin/env python3
"""What a seat sees less where trainers keep one state in K: the size of a jump that is still picked.

A run is changed in one segment: what it moves there is multiplied, and every later state is moved by the difference, as
by a cheat that makes one state up and trains on from it. By the rule of `ml-worker/proof/src/verify/movement`, without its
code, the segment is looked for among all states (K = 1), and in two levels: first among the stretches between kept
states, and then in the first stretch and in the one that was picked. The figure is the least multiple that is picked.

Reads whole bundles, as `trainyard train JOB.toml --out DIR --seed HEX` leaves them. Needs NumPy.

    tools/movement/levels.py [--every 2,5,10,20] DIR...

Two lines for each bundle: by its parameters, and by its moments. Each figure is the median over segments all over the run,
and after it the largest. "Never" is a multiple above 10^6.
"""

import argparse
from pathlib import Path

import numpy

from spread import kind, quotients, ratios, states

PLACES = 12
MOST = 1e6


def strongest(rows, kinds, candidates):
    """Of these rows the one with the largest ratio, and that ratio; none where none moves."""
    best = None
    for at in candidates:
        ratio = ratios(rows, kinds, at).max()
        if ratio > (best[1] if best else 0):
            best = (at, ratio)
    return best


def pick(training, steps, found, moments, every):
    """The segment that a seat picks where one state in `every` is kept."""
    last = len(found) - 1
    kept = sorted({*range(0, last + 1, every), last})

    def measured(indices):
        return quotients(training, [steps[i] for i in indices], [found[i] for i in indices], moments)

    def is_end(begin, end):
        return end == last and end - begin == 1

    rows, kinds = measured(kept)
    candidates = range(1, len(rows) - is_end(*kept[-2:]))
    best = strongest(rows, kinds, candidates)
    if every == 1:
        return best and best[0]
    stretches = [0] + ([best[0]] if best else [])
    picks = []
    for at in stretches:
        indices = list(range(kept[at], kept[at + 1] + 1))
        rows, kinds = measured(indices)
        first = int(indices[0] == 0)
        inner = strongest(rows, kinds, range(first, len(rows) - is_end(*indices[-2:])))
        if inner:
            picks.append((inner[1], -indices[inner[0]]))
    return -max(picks)[1] if picks else None


def jumped(found, at, factor):
    """The run that moves `factor` times as far in a segment."""
    change = {name: (factor - 1) * (found[at + 1][name] - found[at][name]) for name in found[0]}
    later = [{name: state[name] + change[name] for name in state} for state in found[at + 1:]]
    # A second moment is not below zero.
    for state in later:
        for name in state:
            if kind(name) == 2:
                state[name] = numpy.maximum(state[name], 0)
    return found[:at + 1] + later


def least(training, steps, found, moments, every, at):
    """The least multiple of what a segment moves with which it is picked, to a tenth of it."""
    def seen(factor):
        return pick(training, steps, jumped(found, at, factor), moments, every) == at

    high = 1.0
    while not seen(high):
        high *= 2
        if high > MOST:
            return numpy.inf
    low = high / 2
    while high > 1 and high - low > high / 10:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def number(x):
    """As it is in the table."""
    return "never" if x == numpy.inf else f"{x:.1f}"


def main():
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--every", default="2,5,10,20", metavar="K,…", help="kept one in so many")
    parser.add_argument("bundles", nargs="+", type=Path, metavar="DIR")
    given = parser.parse_args()
    every = [1, *(int(k) for k in given.every.split(","))]
    print("| run | segments | by | " + " | ".join(f"K = {k}" for k in every) + " |")
    print("|" + "---|" * (3 + len(every)))
    for path in given.bundles:
        training, steps, found = states(path)
        last = len(found) - 2
        places = sorted({1 + (last - 1) * part // PLACES for part in range(PLACES)} - {0, last})
        for moments in (False, True):
            cells = []
            for k in every:
                sizes = [least(training, steps, found, moments, k, at) for at in places]
                cells.append(f"{number(float(numpy.median(sizes)))} ({number(max(sizes))})")
            by = "moments" if moments else "parameters"
            print(f"| {path.name} | {last + 1} | {by} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
