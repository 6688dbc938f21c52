#!/usr/bin/env python3
"""The figures of docs/start-states.md: the constants of the bounds, how far a segment of the
example jobs can move a parameter, how far away states are that make training cheap, how much of the
bounds an ordinary run uses, for how many steps moments can hide a gradient, what finds a false start
state, and what the best attack that is left brings.

    python3 tools/start-states/start_states.py            prints the tables
    python3 tools/start-states/start_states.py --write    puts them into the page

It needs NumPy, and half a minute."""

import argparse
import math
import pathlib
import re
import tomllib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "start-states.md"
EXAMPLES = ROOT / "ml-worker" / "examples"
F32 = np.float32
U = 2.0**-24
TINY = 2.0**-149


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace(
        "| " + " | ".join(["---"] * len(columns)) + " |", "|" + "---|" * len(columns)
    )


def number(x):
    """Three digits, without a needless exponent."""
    if x == 0 or 1e-3 <= abs(x) < 1e4:
        return f"{x:.3g}" if abs(x) < 1e3 else f"{x:,.0f}"
    mantissa, exponent = f"{x:.1e}".split("e")
    return f"{mantissa} x 10^{int(exponent)}"


def steps_text(n):
    return "more" if n is None else f"{n:,}"


# The bounds, as primitives/program/src/reachable/optimizer.rs has them.


def take(beta):
    """1 - beta in nanos, rounded by itself."""
    return float(F32((10**9 - round(beta * 10**9)) / 1e9))


def keep(beta):
    return float(F32(round(beta * 10**9) / 1e9))


def k(beta1, beta2, step=None):
    """K in real numbers: over the first `step` steps, or for ever."""
    share = beta1**2 / beta2 if beta1 else 0.0
    terms = 1.0 if step is None else 1 - share**step
    return (1 - beta1) / math.sqrt((1 - beta2) * (1 - share)) * math.sqrt(terms)


def k_rounded(beta1, beta2):
    """K and the offset of binary32, for ever; nothing where roundings leave no K."""
    keep1, keep2 = keep(beta1) * (1 + U), keep(beta2) * (1 - U)
    share = keep1**2 / keep2 if keep1 else 0.0
    if share >= 1:
        return None, None
    root = take(beta1) ** 2 * (1 + 5 * U) / (take(beta2) * (1 - 4 * U)) / (1 - share)
    offset = (math.sqrt(root * 1.5 * TINY) + 2 * TINY) / (1 - keep1)
    return math.sqrt(root), offset


def longest(beta1, beta2, step):
    """The longest step number `step` (from 1) at a rate of one."""
    return k(beta1, beta2, step) * math.sqrt(1 - beta2**step) / (1 - beta1**step)


def constants_table():
    columns = ["beta1", "beta2", "K", "K with roundings", "E", "quotient of m", "quotient of v"]
    rows = []
    for beta1, beta2 in (
        (0.9, 0.999),
        (0.9, 0.99),
        (0.9, 0.95),
        (0.9, 0.9999),
        (0.99, 0.999),
        (0.0, 0.999),
        (0.99, 0.9801001),
        (0.999, 0.998002),
        (0.9, 0.999998123),
        (0.0, 0.999999911),
        (0.0, 0.99999997),
        (0.9999, 0.99999),
        (0.99999, 0.999999),
    ):
        rounded, offset = k_rounded(beta1, beta2)
        rows.append(
            [
                f"{beta1:g}",
                f"{beta2:.9f}".rstrip("0"),
                f"{k(beta1, beta2):.4f}",
                "none" if rounded is None else f"{rounded:.4f}",
                "none" if rounded is None else f"2^{math.log2(offset):.1f}",
                *[f"{take(b) / (1 - keep(b)):.5f}" for b in (beta1, beta2)],
            ]
        )
    return table(columns, rows)


# Jobs.


def job(name):
    spec = tomllib.loads((EXAMPLES / f"{name}.toml").read_text())
    t = spec["training"]
    adam = t["optimizer"]["adamw"]
    return {
        "name": name,
        "steps": t["steps"],
        "interval": t["checkpoint_interval"],
        "rate": t["learning_rate"],
        "final": t.get("final_learning_rate", 0.0),
        "cosine": t.get("schedule") == "cosine",
        "warmup": t.get("warmup_steps", 0),
        "decay": t.get("weight_decay", 0.0),
        "betas": (adam.get("beta1", 0.9), adam.get("beta2", 0.999)),
        "clip": t.get("clip_norm"),
    }


def rate(j, step):
    """The learning rate of `step`, from 0."""
    if step < j["warmup"]:
        return j["rate"] * (step + 1) / j["warmup"]
    if not j["cosine"]:
        return j["rate"]
    x = (step - j["warmup"]) / (j["steps"] - j["warmup"])
    return j["final"] + (j["rate"] - j["final"]) * math.cos(math.pi * x / 2) ** 2


def movements(j):
    """Of each segment: the most that a parameter which is zero can move, and what steps of one
    rate each make in one direction."""
    found = []
    for begin in range(0, j["steps"], j["interval"]):
        steps = range(begin, min(begin + j["interval"], j["steps"]))
        most = sum(rate(j, s) * longest(*j["betas"], s + 1) for s in steps)
        found.append((most, sum(rate(j, s) for s in steps)))
    return found


JOBS = ("digits", "digits-cnn", "characters", "early-stop", "hepmass")


def movement_table():
    columns = [
        "job",
        "segments x steps",
        "rate x K",
        "first segment, most",
        "largest segment, most",
        "the whole run, most",
        "largest segment, steps of one rate",
    ]
    rows = []
    for name in JOBS:
        j = job(name)
        found = movements(j)
        rows.append(
            [
                f"`{name}.toml`",
                f"{len(found)} x {j['interval']:,}",
                number(j["rate"] * k(*j["betas"])),
                number(found[0][0]),
                number(max(most for most, _ in found)),
                number(sum(most for most, _ in found)),
                number(max(plain for _, plain in found)),
            ]
        )
    return table(columns, rows)


# Distances to states that make training cheap.


def mixture(rng, shape, fan_in):
    """Initial weights as primitives/program/src/init.rs draws them, from another generator."""
    s = math.sqrt(2 / (5 * fan_in))
    return rng.standard_normal(shape) * s + rng.choice([-2 * s, 2 * s], shape)


def digits():
    rows = np.loadtxt(EXAMPLES / "data" / "digits.csv", delimiter=",", skiprows=1)
    return rows[:, :-1] / 16


def dead(inputs, weight, bias):
    """How far all weights and biases of a ReLU layer must fall, each by the same, so that no
    input above zero excites a unit."""
    excited = inputs @ weight.T + bias
    return float((excited / (inputs.sum(axis=1, keepdims=True) + 1)).max())


def saturated(inputs, weight, bias):
    """How far all weights and biases of a layer of tanh must rise, each by the same, so that every
    unit is at 1 in binary32 (above 9.02) for every input above zero: its gradient is 0."""
    excited = inputs @ weight.T + bias
    return float(((9.02 - excited) / (inputs.sum(axis=1, keepdims=True) + 1)).max())


def equal(into, out):
    """How far weights must move so that all units of a layer are equal and stay so: the weights
    into them, by rows, and those out of them, by columns."""
    return max(float(np.ptp(w, axis=0).max() / 2) for w in (into, out.T))


def mlp_distances(inputs, widths, rng):
    """The nearest dead layer and layer of equal units, and how far the first layer is from
    saturated, if it were of tanh. A layer dies and saturates where no input is negative."""
    x, found = inputs, {"dead": [], "equal": []}
    if x.min() >= 0:
        found["saturated"] = []
    shapes = list(zip(widths, widths[1:]))
    weights = [mixture(rng, (n, m), m) for m, n in shapes]
    for weight, after in zip(weights, weights[1:]):
        if x.min() >= 0:
            found["dead"].append(dead(x, weight, 0.0))
        if x is inputs and x.min() >= 0:
            found["saturated"].append(saturated(x, weight, 0.0))
        found["equal"].append(equal(weight, after))
        x = np.maximum(x @ weight.T, 0)
    return {name: min(each) for name, each in found.items()}


def cnn_distances(images, rng):
    """The same of digits-cnn.toml, of its two convolutions and its linear layer of 64. Channels are
    equal where all their weights are, in and out."""
    x, found = images.reshape(-1, 1, 8, 8), {"dead": [], "equal": []}
    first, second = mixture(rng, (16, 9), 9), mixture(rng, (16, 144), 144)
    linear, last = mixture(rng, (64, 256), 256), mixture(rng, (10, 64), 64)
    for weight in (first, second):
        channels = x.shape[1]
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        patches = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        patches = patches.transpose(0, 2, 3, 1, 4, 5).reshape(-1, channels * 9)
        found["dead"].append(dead(patches, weight, 0.0))
        x = np.maximum(patches @ weight.T, 0).reshape(-1, 8, 8, 16).transpose(0, 3, 1, 2)
    x = x.reshape(-1, 16, 4, 2, 4, 2).max(axis=(3, 5)).reshape(-1, 256)
    found["dead"].append(dead(x, linear, 0.0))
    by_channel = second.reshape(16, 16, 9).transpose(0, 2, 1).reshape(-1, 16)
    found["equal"] += [equal(first, by_channel), equal(linear, last)]
    return {name: min(each) for name, each in found.items()}


def characters_distances(rng):
    """A last layer norm whose weights and biases are 0, and a last layer of zeros: nothing but the
    biases of the classes moves. Equal units: those of a block's wide layer."""
    last = np.abs(mixture(rng, (80, 128), 128)).max()
    units = equal(mixture(rng, (512, 128), 128), mixture(rng, (128, 512), 512))
    return {"dead": max(1.0, float(last)), "equal": units}


def needed(distance, per_segment):
    """How many segments, beginning with the one that moves most, cover the distance."""
    left, count = distance, 0
    for moved in sorted(per_segment, reverse=True):
        if left <= 0:
            break
        left, count = left - moved, count + 1
    return count if left <= 0 else None


def uncaught(false, segments, drawn):
    if segments - false < drawn:
        return 0.0
    return math.comb(segments - false, drawn) / math.comb(segments, drawn)


def distance_table():
    rng = np.random.default_rng(1)
    x = digits()
    pixels = mlp_distances(x, (64, 64, 32, 10), rng)
    found = {
        "digits": pixels,
        "early-stop": pixels,
        "digits-cnn": cnn_distances(x, rng),
        "hepmass": mlp_distances(rng.standard_normal((20_000, 28)), (28, 128, 128, 2), rng),
        "characters": characters_distances(rng),
    }
    columns = ["job", "state", "distance", "segments, longest steps", "segments, steps of one rate"]
    columns += ["found by 3 draws, longest steps", "found by 3 draws, steps of one rate"]
    rows = []
    for name in JOBS:
        moved = movements(job(name))
        for state, distance in found[name].items():
            counts = [needed(distance, [m[i] for m in moved]) for i in (0, 1)]
            odds = [percent(1 - uncaught(int(n), len(moved), 3)) if n else "" for n in counts]
            cells = [str(n) if n else "more than there are" for n in counts]
            rows.append([f"`{name}.toml`", state, number(distance), *cells, *odds])
    return table(columns, rows)


def percent(x):
    return f"{x:.1%}".replace("%", " %")


def sgd_table():
    """The digits with SGD, where clipping bounds the norm of all steps together."""
    rng = np.random.default_rng(1)
    x = digits()
    weight = mixture(rng, (64, 64), 64)
    fall = dead(x, weight, 0.0)
    norm = fall * math.sqrt(weight.size + 64)
    columns = ["clip_norm", "largest velocity", "segment of 50 steps: most, element and norm"]
    columns += ["dead first layer: element and norm", "steps"]
    rows = []
    for clip in (1.0, 0.1, 0.01):
        velocity = clip / (1 - 0.9)
        step = 0.05 * velocity
        steps = math.ceil(max(fall, norm) / step)
        both = f"{number(fall)}, {number(norm)}"
        rows.append([f"{clip:g}", number(velocity), number(50 * step), both, f"{steps:,}"])
    return table(columns, rows)


# What an ordinary run uses of the bounds.


def run_of_digits(seed, clip, decay=0.0):
    """digits.toml with clipping and input noise, in NumPy's binary32: not the bits of a job, but a
    run like it. The largest shares of the bounds over all checkpoints and segments."""
    rng, j = np.random.default_rng(seed), job("digits")
    rows = np.loadtxt(EXAMPLES / "data" / "digits.csv", delimiter=",", skiprows=1)
    rows = rows[np.arange(len(rows)) % 5 != 4]
    inputs, labels = (rows[:, :-1] / 16).astype(F32), rows[:, -1].astype(int)
    widths = (64, 64, 32, 10)
    x = []
    for m, n in zip(widths, widths[1:]):
        x += [mixture(rng, (n, m), m).astype(F32), np.zeros(n, F32)]
    (beta1, beta2), found = j["betas"], []
    first, second = [[np.zeros_like(p) for p in x] for _ in range(2)]
    begun, moved = [p.copy() for p in x], movements(j)
    for step in range(j["steps"]):
        batch = rng.choice(len(inputs), 32, replace=False)
        h = [inputs[batch] + F32(0.001) * rng.standard_normal((32, 64)).astype(F32)]
        for weight, bias in zip(x[::2], x[1::2]):
            h.append(h[-1] @ weight.T + bias)
            if len(h) < 4:
                h[-1] = np.maximum(h[-1], 0)
        p = np.exp(h[-1] - h[-1].max(axis=1, keepdims=True))
        g = p / p.sum(axis=1, keepdims=True)
        g[np.arange(32), labels[batch]] -= 1
        g, gradients = g / F32(32), [None] * 6
        for layer in (2, 1, 0):
            gradients[2 * layer], gradients[2 * layer + 1] = g.T @ h[layer], g.sum(axis=0)
            g = (g @ x[2 * layer]) * (h[layer] > 0)
        norm = math.sqrt(sum(float((g.astype(float) ** 2).sum()) for g in gradients))
        factor = F32(min(1.0, clip / norm))
        for i, g in enumerate(gradients):
            g = g * factor
            first[i] = F32(beta1) * first[i] + F32(1 - beta1) * g
            second[i] = F32(beta2) * second[i] + F32(1 - beta2) * g * g
            m = first[i] / F32(1 - beta1 ** (step + 1))
            v = second[i] / F32(1 - beta2 ** (step + 1))
            x[i] = x[i] * F32(1 - j["rate"] * decay) - F32(j["rate"]) * m / (np.sqrt(v) + F32(1e-8))
        if (step + 1) % j["interval"] == 0:
            segment, t = (step + 1) // j["interval"] - 1, step + 1
            most = moved[segment][0]
            found.append(
                (
                    max(float(np.abs(a - b).max()) for a, b in zip(x, begun)) / most,
                    max(float(np.abs(m).max()) for m in first) / (clip * (1 - beta1**t)),
                    max(float(v.max()) for v in second) / (clip**2 * (1 - beta2**t)),
                    max(
                        float((np.abs(m[v > 0]) / np.sqrt(v[v > 0])).max())
                        for m, v in zip(first, second)
                    )
                    / k(beta1, beta2, t),
                )
            )
            begun = [p.copy() for p in x]
    return found


def ordinary_table():
    columns = ["clip_norm", "movement of the first segment", "of later ones"]
    columns += ["m", "v", "m / sqrt(v)"]
    rows = []
    for clip in (1.0, 0.1, 0.01):
        runs = [run_of_digits(seed, clip) for seed in range(4)]
        later = [figures for run in runs for figures in run[1:]]
        every = later + [run[0] for run in runs]
        shares = [max(run[0][0] for run in runs), max(figures[0] for figures in later)]
        shares += [max(figures[i] for figures in every) for i in (1, 2, 3)]
        rows.append([f"{clip:g}", *[percent(share) for share in shares]])
    return table(columns, rows)


# Moments that hide gradients.


def fma(a, b, c):
    """One rounding, but for ties that binary64 makes: good for counting steps."""
    return F32(np.float64(a) * np.float64(b) + np.float64(c))


def hidden_steps(moment, beta, added, limit=10_000_000):
    """For how many steps the average stays what it is without the gradient, in every bit."""
    kept, steps = F32(beta), 0
    average = F32(moment)
    while steps < limit:
        alone, beside = fma(kept, average, 0.0), fma(kept, average, added)
        if alone != beside:
            return steps
        average, steps = alone, steps + 1
    return None


def hiding_table():
    columns = [
        "clip_norm",
        "where the moments come from",
        "m",
        "v",
        "gradient",
        "beta1",
        "steps in which m hides it",
        "steps in which v does",
    ]
    rows = []
    cases = [(1.0, "none", 1e15, 1e38, 1.0, beta1) for beta1 in (0.9, 0.99)]
    for clip in (1.0, 1000.0):
        for beta1 in (0.9, 0.99):
            each = clip / math.sqrt(6_570)
            for gradient in (1e-3, 1e-5, 1e-7):
                cases.append((clip, "the bounds, shared by 6,570", each, each**2, gradient, beta1))
    for clip, source, m, v, gradient, beta1 in cases:
        g = F32(gradient)
        first = hidden_steps(m, beta1, F32(take(beta1)) * g)
        second = hidden_steps(v, 0.999, F32(take(0.999)) * (g * g))
        rows.append(
            [
                f"{clip:g}",
                source,
                number(m),
                number(v),
                number(gradient),
                f"{beta1:g}",
                steps_text(first),
                steps_text(second),
            ]
        )
    return table(columns, rows)


# What finds a false start state.


def missed(false, segments, drawn, seats):
    """The probability that none of `seats` seats, which draw for themselves, draws a false segment."""
    return uncaught(false, segments, drawn) ** seats


def found_at_once(segments, drawn, after, seats):
    """The probability that a draw has one of the last `after` segments."""
    return 1 - missed(after, segments, drawn, seats)


def detection_table(segments=30, drawn=3, seats=3):
    """One jump, or a way spread over several false segments, as early as may be: a standstill is
    found by any draw of a segment in it (the search leads to the last false segment), a state that
    moves by the draw of a false segment alone."""
    dead = [m[1] for m in movements(job("digits"))]
    jobs = {"dead": 0.0936, "saturated": 0.785, "equal": 0.402}
    way = {state: needed(distance, dead) for state, distance in jobs.items()}
    columns = ["state", "refused by its bounds", "stands still", "in one jump: found before"]
    columns += ["found now", "spread over", "found before", "found now"]
    rows = []
    states = [("dead", True), ("saturated", True), ("equal units", True), ("huge moments", None)]
    states += [("low rank, no units equal", False), ("nearly still", False)]
    for name, still in states:
        once = 1 - missed(1, segments, drawn, seats)
        if still is None:
            rows.append([name, "yes", "yes", percent(once), percent(1.0), "", "", ""])
            continue
        false = way[name.split()[0]] if still else 5
        several = 1 - missed(false, segments, drawn, seats)
        now = [found_at_once(segments, drawn, segments, seats) if still else x for x in (once, several)]
        cells = [percent(once), percent(now[0]), str(false), percent(several), percent(now[1])]
        rows.append([name, "no", "yes" if still else "no", *cells])
    return table(columns, rows)


def left_table(segments=30, drawn=3, seats=3):
    """The best attack that is left: one false state that is cheap to go on from, moves enough not to
    stand still, and no farther than others. Its gain in units of the larger of price and fee, with the
    power of all segments worth as much; three quarters of a deposit of three prices are lost, since a
    friend may be the finder. A seat is its own with the share of power and bonds, and its blocks are
    withheld, as if it knew what seats draw."""
    columns = ["work saved after the jump", "found", "gain, no seats"]
    columns += ["20 % of power and bonds", "40 %"]
    rows = []
    safe = uncaught(1, segments, drawn)
    for saved in (0.33, 0.5, 0.67, 0.9, 1.0):
        gains = []
        for share in (0.0, 0.2, 0.4):
            escaped = (share + (1 - share) * safe) ** seats
            kept = escaped / (1 - share * (1 - escaped))
            gains.append(f"{kept * 2 * saved - (1 - kept) * 3 * 3 / 4:+.2f}")
        rows.append([f"{saved:.0%}", percent(1 - safe**seats), *gains])
    return table(columns, rows)


TABLES = {
    "constants": constants_table,
    "movement": movement_table,
    "distance": distance_table,
    "sgd": sgd_table,
    "ordinary": ordinary_table,
    "hiding": hiding_table,
    "detection": detection_table,
    "left": left_table,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    write = parser.parse_args().write
    text = PAGE.read_text() if write else ""
    for name, make in TABLES.items():
        made = make()
        if not write:
            print(f"{name}\n\n{made}\n")
            continue
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text, count = pattern.subn(lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)
        if count != 1:
            raise SystemExit(f"{PAGE} has no place for the table {name}")
    if write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
