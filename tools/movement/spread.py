#!/usr/bin/env python3
"""How far the movement of honest runs spreads over seeds and segments, and so how large a jump its
pick misses.

Reads whole bundles, as `trainyard train JOB.toml --out DIR --seed HEX` leaves them, and computes the
pick of `ml-worker/proof/src/verify/movement.rs` by its rule, without its code. Needs NumPy.

    tools/movement/spread.py [--whole] DIR...

Two lines for each bundle: by its parameters, and by its moments. With --whole a cheat is looked for by
the medians of the whole run, the first and the last segment with the others.
"""

import argparse
import hashlib
import json
import math
from pathlib import Path
import struct

import numpy

WHOLE = 64 << 10
CHUNK = 1 << 10
SLICES = 2
BESIDE = 8
LENGTHS = (*range(2, 13), 16, 20, 24, 32, 48)
OUTPUT = bytes([9]) * 32


def distinct(domain, seed, bound, count):
    """`trainyard_protocol::draw::distinct`: `count` numbers below `bound`, ascending."""
    chosen, number = set(), 0
    for top in range(max(0, bound - count), bound):
        data = bytes([len(domain) << 2]) + domain + seed + struct.pack("<I", number)
        word = int.from_bytes(hashlib.blake2b(data, digest_size=32).digest()[:8], "little")
        number += 1
        pick = word * (top + 1) >> 64
        chosen.add(top if pick in chosen else pick)
    return sorted(chosen)


def places(output, tensor, chunks):
    """`vrf::own_chunks`: the chunks that are read of a tensor."""
    return distinct(b"trainyard/movement/v1" + struct.pack("<I", tensor), output, chunks, SLICES)


def rate(training, step):
    """The learning rate of a step, in binary64."""
    peak, rise = training["learning_rate_nano"] * 1e-9, training["warmup_steps"]
    if step < rise:
        return peak * (step + 1) / rise
    if training["schedule"] == "constant":
        return peak
    low = training["schedule"]["cosine"]["final_rate_nano"] * 1e-9
    share = (step - rise) / max(1, training["steps"] - rise)
    return low + (peak - low) * math.cos(math.pi * share / 2) ** 2


def read(path, output):
    """What is read of a checkpoint: elements by tensor, in binary64."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, found = json.loads(data[8:8 + length]), {}
    for tensor, name in enumerate(sorted(header)):
        if name.endswith("_power"):
            continue
        begin, end = header[name]["data_offsets"]
        content = data[8 + length + begin:8 + length + end]
        if len(content) >= WHOLE:
            drawn = places(output, tensor, -(-len(content) // CHUNK))
            content = b"".join(content[CHUNK * at:CHUNK * (at + 1)] for at in drawn)
        found[name] = numpy.frombuffer(content, "<f4").astype(float)
    return found


def states(bundle, output=OUTPUT):
    """The training of a bundle, the steps of its checkpoints, and what is read of each."""
    manifest = json.loads((bundle / "manifest.json").read_text())
    steps = [checkpoint["step"] for checkpoint in manifest["checkpoints"]]
    path = "checkpoints/step-{:08}.safetensors"
    return manifest["spec"]["training"], steps, [read(bundle / path.format(s), output) for s in steps]


def kind(name):
    """What a tensor is: 1 and 2 for first and second moments, 3 for a velocity, 0 for a parameter."""
    parts = name.split(".")
    return ("m", "v", "velocity").index(parts[1]) + 1 if parts[0] == "optimizer" else 0


def quotients(training, steps, found, moments):
    """The quotients of each segment, of the parameters or of the moments by name, and their kinds."""
    names = sorted(name for name in found[0] if (kind(name) > 0) == moments)
    rows = [[numpy.abs(b[n] - a[n]).max() for n in names] for a, b in zip(found, found[1:])]
    rows, kinds = numpy.array(rows), numpy.array([kind(name) for name in names])
    if moments:
        return numpy.where(kinds == 2, numpy.sqrt(rows), rows), kinds
    sums = [math.fsum(rate(training, i) for i in range(a, b)) for a, b in zip(steps, steps[1:])]
    return rows / numpy.array(sums)[:, None], kinds


def middle(rows):
    """Of each column the lower median, or the mean where that is zero; 0 of none."""
    if len(rows) == 0:
        return numpy.zeros(rows.shape[1])
    median = numpy.sort(rows, axis=0)[(len(rows) - 1) // 2]
    return numpy.where(median > 0, median, rows.mean(axis=0))


def references(rows, kinds, at):
    """With what the quotients of a segment are compared."""
    before, after = rows[max(0, at - BESIDE):at], rows[at + 1:at + 1 + BESIDE]
    own = numpy.maximum(middle(before), middle(after))
    for one in set(kinds):
        same = kinds == one
        own[same] = numpy.maximum(own[same], middle(own[same][:, None])[0])
    return own


def ratios(rows, kinds, at):
    """Ratios of the quotients of a segment to their references."""
    own = references(rows, kinds, at)
    still = numpy.where(rows[at] > 0, numpy.finfo(float).max, 0)
    return numpy.divide(rows[at], own, out=still, where=own > 0)


def skipped(bundle, moments, at, most):
    """The fewest segments of honest training that a cheat cannot skip: a state that so many lead to
    comes after one, in segment `at`, and has a larger ratio than `most`. None where there is none. Without
    `most` ratios are those to the medians of the whole run, and it must have the largest."""
    training, steps, found = bundle
    for length in LENGTHS:
        if at + length >= len(found):
            return None
        # What is farther away does not count.
        begin = max(0, at - BESIDE) if most else 0
        end = at + length + BESIDE + 1 if most else None
        run = found[begin:at + 1] + found[at + length:end]
        rows, kinds = quotients(training, steps[begin:begin + len(run)], run, moments)
        if most and ratios(rows, kinds, at - begin).max() > most:
            return length
        if not most and of_whole(rows).max(axis=1).argmax() == at:
            return length
    return None


def of_whole(rows):
    """Ratios of all quotients to the medians of their tensors."""
    median = middle(rows)
    return rows[:, median > 0] / median[median > 0]


def line(path, bundle, moments, by_whole):
    """The figures of a bundle."""
    rows, kinds = quotients(*bundle, moments)
    last, whole = len(rows) - 1, middle(rows)
    best = numpy.array([ratios(rows, kinds, at).max() for at in range(last + 1)])
    pick = 1 + int(best[1:last].argmax())
    moved, most = whole > 0, None if by_whole else best[pick]
    jumps = best[pick] * references(rows, kinds, len(rows) // 2)[moved] / whole[moved]
    places = sorted({max(1, len(rows) * part // 8) for part in (1, 2, 4, 6)})
    return {
        "run": path.name, "segments": len(rows), "by": "moments" if moments else "parameters",
        "tensors": len(kinds), "pick": pick, "ratio": best[pick],
        "usual": numpy.median(best[1:last]), "first": best[0], "last": best[last],
        "whole": of_whole(rows).max(), "jump": numpy.median(jumps),
        "skip": ", ".join(str(skipped(bundle, moments, at, most) or "-") for at in places),
    }


def number(x):
    """As it is in the table."""
    return f"{x:.1f}" if x < 1e6 else f"{x:.0e}"


def main():
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--whole", action="store_true", help="skip by medians of the whole run")
    parser.add_argument("bundles", nargs="+", type=Path, metavar="DIR")
    given, head = parser.parse_args(), None
    for path in given.bundles:
        bundle = states(path)
        for moments in (False, True):
            figures = line(path, bundle, moments, given.whole)
            if head is None:
                head = list(figures)
                print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
            cells = [number(x) if isinstance(x, float) else str(x) for x in figures.values()]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
