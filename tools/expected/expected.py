#!/usr/bin/env python3
"""How long training takes on this chain for models that people know, and what holds it up: by work and bytes, counted,
and by rates, measured elsewhere and named here.

    tools/expected/expected.py [--rate NAME=GFLOPS …] [--block 6] [--assert]

A rate is what a machine trains at in strict arithmetic: `trainyard bench train` on a processor, `trainyard bench
--device cuda gpu` on a GPU. The defaults are those of docs/benchmarks.md and docs/cuda.md. --assert checks the counts
against published ones and the rules against the runtime's, and prints nothing else."""

import argparse
import math
from pathlib import Path

from models import ALL, GIB, MIB, cnn_1m, gpt2, lenet5, resnet18, resnet50

ROOT = Path(__file__).resolve().parents[2]
# primitives/program/src/units.rs, needs/class.rs
UT = 432e9
CLASSES = {"gib8": (2e9, 6e6), "gib32": (16e9, 25e6)}  # FLOP/s, bytes/s
# primitives/protocol/src/duties.rs
MOST_COMMIT, SHARE = 14_400, 7 / 12
DRAWN, OF = 45, 1_000
# primitives/protocol/src/blob.rs: bytes of chunks that a block carries in the time for revealing
BLOCK_BYTES = 1.5 * MIB
# runtime/src/configs/periods.rs: least time for verdicts, to reveal them, and in which results stand
VERDICT, REVEAL_VERDICT, STANDS = 120, 30, 2_400
# Applying and drawing: half a minute at least.
APPLY = 20


def states(count):
    """Bytes of a training state with AdamW."""
    return 12 * count.parameters


def most_seat(rate, block):
    """The most FLOP that a seat may have to replay."""
    return MOST_COMMIT * block * rate * SHARE


def segments(training, rate, block):
    """The fewest segments that a job may have: of so many a seat of three replays its draws and two by duty."""
    count = 30
    while True:
        draws = max(1, math.ceil(DRAWN * min(count, OF) / (OF * 3)))
        replayed = min(count, draws + 2)
        if replayed * training.flop / count <= most_seat(rate, block):
            return count, replayed
        count = math.ceil(count * 1.1)


def phases(training, machine_rate, block, machine="gib32"):
    """Seconds of each phase of a job, trained at `machine_rate` FLOP/s by machines of a class."""
    rate, line = CLASSES[machine]
    count, replayed = segments(training, rate, block)
    work = replayed * training.flop / count
    fetched = training.bytes + min(2 * replayed + 1, count + 1) * states(training.count)
    commit = max(VERDICT * block, work / rate / SHARE) + max(0, fetched / line - VERDICT * block / 2)
    return {
        "draw": APPLY * block,
        "data": training.bytes / line,
        "train": training.flop / machine_rate,
        "store": math.ceil(4 * training.count.parameters / BLOCK_BYTES) * block,
        # What seats take on machines that train as fast, not the time that they have.
        "audit": fetched / line + work / machine_rate + REVEAL_VERDICT * block / 30,
        "audit, at most": commit + REVEAL_VERDICT * block,
        "stands": STANDS * block,
    }


def time(seconds):
    for unit, size in [("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60)]:
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


def size(count):
    for unit, scale in [("T", 1 << 40), ("G", GIB), ("M", MIB)]:
        if count >= scale:
            return f"{count / scale:.1f} {unit}iB"
    return f"{count / 1024:.1f} KiB"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def check():
    """The counts are those that are published, and the rules are the runtime's."""
    near = lambda found, published, part=0.01: abs(found / published - 1) <= part
    # torchvision's models: 11,689,512 and 25,557,032 parameters, 1.814 and 4.089 G multiply-adds.
    assert resnet18().parameters == 11_689_512 and near(resnet18().multiply_adds, 1.814e9)
    assert resnet50().parameters == 25_557_032 and near(resnet50().multiply_adds, 4.089e9)
    assert gpt2().parameters == 124_439_808
    assert lenet5().parameters == 61_706 and cnn_1m().parameters == 1_111_946
    # 6 FLOP a parameter and token, and attention.
    assert near(6 * gpt2().multiply_adds / 1_024, 6 * 124_439_808, 0.16)
    # The classes are those of the runtime.
    source = (ROOT / "primitives/program/src/needs/class.rs").read_text()
    for name, (rate, line) in CLASSES.items():
        assert f"MachineClass::{name.title()} => {rate:_.0f}," in source, name
        assert f"bandwidth: {line:_.0f}," in source, name
    # docs/protocol.md: 233 and 1,867 ut in a day.
    assert [round(most_seat(rate, 6) / UT) for rate, _ in CLASSES.values()] == [233, 1_867]
    for training in ALL:
        for rate, _ in CLASSES.values():
            count, replayed = segments(training, rate, 6)
            assert replayed * training.flop / count <= most_seat(rate, 6)
            assert count >= 30 and 3 <= replayed <= 17


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rate", action="append", metavar="NAME=GFLOPS", help="a machine that trains")
    parser.add_argument("--block", type=float, default=6, help="seconds of a block")
    parser.add_argument("--assert", dest="only_check", action="store_true")
    options = parser.parse_args()
    check()
    if options.only_check:
        return
    named = options.rate or ["2 cores=123", "one H200=16600"]
    machines = {name: float(rate) * 1e9 for name, _, rate in (entry.partition("=") for entry in named)}
    rows = []
    for training in ALL:
        count = training.count
        rows.append(
            [
                training.name,
                training.what,
                f"{count.parameters:,}",
                f"{training.flop:.2g}",
                f"{training.flop / UT:,.4g}",
                *(time(training.flop / rate) for rate in machines.values()),
                size(4 * count.parameters),
                size(states(count)),
            ]
        )
    head = ["model", "training", "parameters", "FLOP", "ut", *machines, "model", "a state"]
    print(table(head, rows), "\n")
    name, rate = list(machines.items())[-1]
    rows = []
    for training in ALL:
        found = phases(training, rate, options.block)
        least, replayed = segments(training, CLASSES["gib32"][0], options.block)
        busy = {key: found[key] for key in ["draw", "data", "train", "store", "audit"]}
        longest = max(busy, key=busy.get)
        rows.append(
            [
                training.name,
                *(time(found[key]) for key in ["draw", "data", "train", "store", "audit", "audit, at most", "stands"]),
                f"{least:,}",
                size((least + 1) * states(training.count)),
                longest,
            ]
        )
    head = ["model", "draw", "data", "train", "store", "audit", "at most", "stands", "segments", "all states", "longest"]
    print(f"On {name}, class gib32, blocks of {options.block:g} s:\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
