"""Slot length and c: the tables and plots of docs/slots.md and docs/proof-of-hashrate.md.

    python3 tools/slots/tables.py            prints the tables
    python3 tools/slots/tables.py --write    puts them into docs/ and draws docs/plots/slots-*.svg

`--slots N` simulates N slots for each figure (50,000 as in the docs: some minutes)."""

import argparse
import hashlib
import pathlib

import attacks
import court
import exact
import noise
import seeds
import svg
from markdown import fill, fraction, percent, table
from simulate import simulate

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

C_VALUES = (0.05, 0.1, 0.15, 0.2, 0.25, 1 / 3, 0.4, 0.5)
SLOTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
DELAYS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
# What is chosen: slot in seconds, and c.
LOCAL, PUBLIC = (1.0, 0.25), (1.5, 0.25)


def exact_table():
    """What depends on c alone, and on how power is spread."""
    columns = ["c", "mean gap, slots", "99th percentile, slots"]
    columns += [f"{name}: contested slots, orphaned blocks" for name in exact.DISTRIBUTIONS]
    rows = []
    for c in C_VALUES:
        row = [fraction(c), f"{1 / c:.2f}", str(exact.gap_quantile(c))]
        for w in map(exact.distribution, exact.DISTRIBUTIONS):
            row.append(f"{percent(exact.contested(c, w) / c)}, {percent(exact.orphaned(c, w))}")
        rows.append(row)
    return table(columns, rows)


def gap_table():
    """Mean and 99th percentile of the time between blocks, in seconds."""
    columns = ["c"] + [f"slot {s:g} s" for s in SLOTS]
    rows = [
        [fraction(c)] + [f"{s / c:.1f}, {s * exact.gap_quantile(c):.1f}" for s in SLOTS]
        for c in C_VALUES
    ]
    return table(columns, rows)


class Runs:
    """Simulations, each made once. Only the delays in slots matter, not the slot's length."""

    def __init__(self, slots):
        self.slots = slots
        self.done = {}

    def get(self, name, c, network, build=0.0, load=0.0):
        key = (name, round(c, 6), round(network, 6), round(build, 6), round(load, 6))
        if key not in self.done:
            seed = hash_of(key)
            self.done[key] = simulate(
                exact.distribution(name), c, self.slots, seed, network, build, load
            )
        return self.done[key]


def hash_of(key):
    """A seed that is the same on every machine."""
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=7).digest(), "little")


def delay_table(runs, name):
    """Blocks of a millisecond; the network's delay decides. Where three halves of it are within
    the slot, nothing depends on it, and the first row of each slot is exact."""
    w = exact.distribution(name)
    columns = ["slot, s", "delay, s"] + [f"c = {fraction(c)}" for c in C_VALUES]

    def cell(mean, quantile, orphaned):
        return f"{mean:.1f} s, {quantile:.1f} s, {percent(orphaned)}"

    rows = []
    for slot in (0.5, 1.0, 1.5, 3.0):
        timely = [delay for delay in DELAYS if 1.5 * delay <= slot]
        cells = [
            cell(slot / c, slot * exact.gap_quantile(c), exact.orphaned(c, w)) for c in C_VALUES
        ]
        rows.append([f"{slot:g}", f"0 to {timely[-1]:g}", *cells])
        for delay in DELAYS[len(timely) :]:
            found = [runs.get(name, c, delay / slot) for c in C_VALUES]
            cells = [
                cell(run.interval * slot, run.gap_quantile() * slot, run.orphaned) for run in found
            ]
            rows.append([f"{slot:g}", f"{delay:g}", *cells])
    return table(columns, rows)


def spread_table(runs, slot, c):
    """All distributions at one slot and c, simulated."""
    columns = [
        "power",
        "delay, s",
        "mean, s",
        "99th percentile, s",
        "contested slots",
        "orphaned",
        "longest fork",
    ]
    rows = []
    for name in exact.DISTRIBUTIONS:
        for delay in (0.1, 0.5, 0.75, 1.0):
            run = runs.get(name, c, delay / slot)
            rows.append(
                [
                    name,
                    f"{delay:g}",
                    f"{run.interval * slot:.2f}",
                    f"{run.gap_quantile() * slot:g}",
                    percent(run.contested / run.filled),
                    percent(run.orphaned),
                    str(run.deepest),
                ]
            )
    return table(columns, rows)


# Candidates for a public network: blocks every 6 s, and two slower ones.
PUBLIC_CANDIDATES = ((1.0, 1 / 6), (1.5, 0.25), (2.0, 1 / 3), (3.0, 0.5), (3.0, 0.25), (6.0, 0.5))


def full_table(runs):
    """Full blocks: the author builds for a part of the slot, at most for the 2 s that a block
    may weigh, and others execute as long."""
    columns = [
        "slot, s",
        "c",
        "mean, s",
        "99th percentile, s",
        "orphaned: empty blocks, 0.25 s",
        "empty, 1 s",
        "full (1/4 of a slot), 0.25 s",
        "full (1/4), 1 s",
        "full (1/2 of a slot), 0.25 s",
        "full (1/2), 1 s",
        "mean gap then, s",
    ]
    rows = []
    for slot, c in PUBLIC_CANDIDATES:
        row = [f"{slot:g}", fraction(c), f"{slot / c:.1f}", f"{slot * exact.gap_quantile(c):g}"]
        for part in (0.0, 0.25, 0.5):
            build = min(part, 2.0 / slot)
            for delay in (0.25, 1.0):
                run = runs.get("Zipf 100", c, delay / slot, build, build)
                row.append(percent(run.orphaned))
        rows.append([*row, f"{run.interval * slot:.1f}"])
    return table(columns, rows)


def share_table():
    """Weight, claims and blocks of single authorities."""
    c_values = (0.125, 0.25, 1 / 3, 0.5)
    columns = ["power", "authority", "share of the weight"]
    columns += [f"c = {fraction(c)}: claims, blocks" for c in c_values]
    authorities = [
        ("4 equal", "each", 0),
        ("4:3:2:1", "first", 0),
        ("4:3:2:1", "second", 1),
        ("4:3:2:1", "third", 2),
        ("4:3:2:1", "fourth", 3),
        ("one half + 50", "the half", 0),
        ("one half + 50", "each of the 50", 1),
        ("Zipf 100", "first", 0),
        ("Zipf 100", "tenth", 9),
        ("Zipf 100", "hundredth", 99),
    ]
    rows = []
    for name, who, index in authorities:
        w = exact.distribution(name)
        row = [name, who, percent(w[index], 2)]
        for c in c_values:
            claims, blocks = exact.claim_shares(c, w)[index], exact.even_shares(c, w)[index]
            row.append(f"{percent(claims, 2)}, {percent(blocks, 2)}")
        rows.append(row)
    return table(columns, rows)


def plots(runs):
    """The charts by file name. Shares are of one authority beside 50 equal ones."""
    cs = [i / 100 for i in range(1, 61)]
    orphans = [
        (name, [(c, 100 * exact.orphaned(c, exact.distribution(name))) for c in cs])
        for name in exact.DISTRIBUTIONS
    ]
    ratios = [i / 4 for i in range(0, 9)]
    late = [
        (
            f"c = {fraction(c)}",
            [(r, 100 * runs.get("Zipf 100", c, r).orphaned) for r in ratios],
        )
        for c in (0.1, 0.25, 1 / 3, 0.5)
    ]
    gaps = [
        (f"c = {fraction(c)}", [(k, 100 * (1 - c) ** k) for k in range(0, 31)])
        for c in (0.1, 0.25, 1 / 3, 0.5)
    ]

    def claims(c, w):
        return float(exact.claim_shares(c, exact.shares([w] + [(1 - w) / 50] * 50))[0])

    shares = [
        (f"c = {fraction(c)}", [(w, 100 * claims(c, w / 100)) for w in range(2, 100, 2)])
        for c in (0.1, 0.25, 0.5)
    ]
    return {
        "slots-orphans.svg": svg.chart(
            "Orphaned blocks where every block arrives within its slot", "c",
            "orphaned blocks, %", orphans),
        "slots-delay.svg": svg.chart(
            "Orphaned blocks and delay, Zipf 100", "delay from slot to import, slots",
            "orphaned blocks, %", late),
        "slots-gaps.svg": svg.chart(
            "How long gaps between blocks last", "slots", "gaps longer than that, %", gaps),
        "slots-shares.svg": svg.chart(
            "Claims of one authority beside 50 equal ones", "share of the weight, %",
            "share of all claims, %", shares),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write docs/ instead of printing")
    parser.add_argument("--slots", type=int, default=50_000, help="slots of a simulation")
    options = parser.parse_args()
    if options.slots < 5_000:
        parser.error("fewer than 5,000 slots say nothing")
    runs = Runs(options.slots)
    documents = {
        "slots.md": {
            "exact": exact_table(),
            "gaps": gap_table(),
            "delays": delay_table(runs, "4:3:2:1"),
            "delays-zipf": delay_table(runs, "Zipf 100"),
            "local": spread_table(runs, *LOCAL),
            "public": spread_table(runs, *PUBLIC),
            "full": full_table(runs),
            "shares": share_table(),
        },
        "proof-of-hashrate.md": {
            "splitting": attacks.splitting_table(),
            "renting": attacks.renting_table(),
            "withholding": court.withholding_table(),
            "seed-runs": seeds.runs_table(),
            "seed-races": seeds.races_table(),
            "seed-timing": seeds.timing_table(),
            "grinding": attacks.grinding_table(),
            "keys": attacks.keys_table(),
            "noise-bits": noise.bits_table(),
            "noise-least": noise.amplitude_table(),
            "noise-cheats": noise.cheats_table(),
        },
    }
    for document, tables in documents.items():
        if not options.write:
            for name, table in tables.items():
                print(f"## {document}: {name}\n\n{table}")
            continue
        path = DOCS / document
        text = path.read_text(encoding="utf-8")
        for name, table in tables.items():
            text = fill(text, name, table)
        path.write_text(text, encoding="utf-8")
    if options.write:
        (DOCS / "plots").mkdir(exist_ok=True)
        for name, chart in plots(runs).items():
            (DOCS / "plots" / name).write_text(chart, encoding="utf-8")


if __name__ == "__main__":
    main()
