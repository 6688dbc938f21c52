"""The lottery: of each stratum of `n` consecutive segments one wins, drawn after the commitment, and is paid for all of
the stratum; of the last one, of `m` segments, one wins with the probability `m / n`. A winner is replayed by a seat
before it is paid. Who is found has no pay and loses the deposit, three times the larger of the price and a ticket.

Money in units of the price, but in `pay`, which is in integers."""

import collections
import functools
import itertools
import math

import numpy as np

from markdown import percent, table
from rules import DEPOSIT_MULTIPLE, Job

STRATA = (2, 10, 100)
SEGMENTS = (1, 6, 54, 532, 5_320)
# What is left to a cheat of its deposit where a friend convicts it: a quarter.
LOST = 3 / 4
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)


def strata(segments, n):
    """The lengths of the strata."""
    rest = segments % n
    return [n] * (segments // n) + ([rest] if rest else [])


def ticket(price, segments, n):
    """What a winner is paid, in integers, rounded down."""
    return n * price // segments


def held(segments, n):
    """What the submitter must hold, in prices: each stratum may have a winner."""
    return math.ceil(segments / n) * n / segments


def winners(rng, segments, n, runs):
    """The winner of each stratum of each of `runs` jobs, `[runs, strata]`; -1 where none wins. A place among `n` is
    drawn: the last stratum has fewer, and none wins where the place lies beyond."""
    starts = n * np.arange(math.ceil(segments / n))
    drawn = rng.integers(0, n, (runs, len(starts))) + starts
    return np.where(drawn < segments, drawn, -1)


def pay(rng, price, segments, n, runs):
    """What each of `runs` honest jobs is paid, in integers."""
    return (winners(rng, segments, n, runs) >= 0).sum(axis=1) * ticket(price, segments, n)


@functools.cache
def pays(seed, runs):
    """Mean, deviation, least and most pay by segments and `n`, in prices, the deviation by formula, and that of draws
    which are not stratified."""
    found = {}
    for segments in SEGMENTS:
        price = next(job.price for job in map(Job, (1, 10, 100, 1_000, 10_000)) if job.segments == segments)
        for n in STRATA:
            got = pay(np.random.default_rng([seed, segments, n]), price, segments, n, runs)
            rest = segments % n / n
            exact = n / segments * math.sqrt(rest * (1 - rest))
            plain = math.sqrt((n - 1) / segments)
            got = got.astype(object)  # integers of any size: their sum must not overflow
            mean, least, most = sum(got) / runs / price, min(got) / price, max(got) / price
            spread = float(np.std((got / price).astype(float)))
            found[segments, n] = (mean, spread, least, most, exact, plain, n / price)
    return found


def capacities(segments, n):
    """How many segments a cheat can make up in each stratum without the first and the last of the job, which are
    always replayed, by stratum."""
    capacity = strata(segments, n)
    capacity[0] -= 1
    if segments > 1:
        capacity[-1] -= 1
    return [max(0, c) for c in capacity]


@functools.cache
def escapes(segments, n, own, seats=1, always=False):
    """Element `F - 1`: the probability that `F` segments that are made up are not found, where the cheat puts them
    best and owns the share `own` of the seats, of which `seats` replay a winner. `always`: the one that is drawn of the
    last stratum is replayed whether it wins or not.

    Each more in a stratum is worse for the cheat than the one before, so the next one is best where it costs least;
    those that are always replayed come last."""
    blind = own**seats
    logs = []
    kinds = collections.Counter(zip(strata(segments, n), capacities(segments, n)))
    for (length, capacity), count in kinds.items():
        miss = 1 - (1 - blind) * np.arange(capacity + 1) / (length if always else n)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.diff(np.log(np.maximum(miss, 0)))
        logs.append(np.tile(np.where(np.isnan(step), -np.inf, step), count))
    logs = np.sort(np.concatenate(logs))[::-1]
    found = np.exp(np.cumsum(logs))
    last = found[-1] if len(found) else 1.0
    return np.concatenate([found, np.full(segments - len(found), last * blind)])


def withheld(escape, own):
    """The same where the author of a seed's last block is the cheat with probability `own`, and withholds it once
    where it would be found."""
    return escape / (1 - own * (1 - escape))


def advantage(
    segments, n, own=0.0, gain=1.0, seats=1, multiple=DEPOSIT_MULTIPLE, withhold=False, always=False
):
    """What making up brings beside honest work, for each number of segments. Computing costs as much as the work
    brings, `gain`: 1 is the price alone, 2 is power that is worth as much besides. Who makes up the share `f` saves
    `f gain`, and loses by being found all that the job brings and the deposit."""
    escape = escapes(segments, n, own, seats, always)
    escape = withheld(escape, own) if withhold else escape
    share = np.arange(1, segments + 1) / segments
    deposit = multiple * max(1, n / segments)
    return share * gain - (1 - escape) * (gain + LOST * deposit)


def needed(segments, n, own, gain, seats=1, withhold=True, always=False):
    """The least multiple with which nothing pays, whatever is made up."""
    escape = escapes(segments, n, own, seats, always)
    escape = withheld(escape, own) if withhold else escape
    share = np.arange(1, segments + 1) / segments
    found = np.maximum(1 - escape, 1e-300)
    return float(((share * gain / found - gain) / (LOST * max(1, n / segments))).max())


# Jobs that are tried: all below 30, and those around one, one and a half and two strata.
GRID = [*range(1, 31), 50, 54, 75, *range(97, 104), 130, 148, 150, 152, 198, 199, 200, 201, 300, 532, 1_000]
ALL = range(1, 1_001)


@functools.cache
def most_needed(own, gain, seats=1, withhold=True, always=False):
    """The same, whatever the job and n, with the job that asks for most."""
    return max((needed(N, n, own, gain, seats, withhold, always), N, n) for N in GRID for n in STRATA)


@functools.cache
def most_share(gain, seats=1, withhold=True, always=False):
    """The largest share of seats, in tenths of a percent, with which nothing pays."""
    low, high = 0, 1_000
    while high - low > 1:
        middle = (low + high) // 2
        holds = most_needed(middle / 1_000, gain, seats, withhold, always)[0] <= DEPOSIT_MULTIPLE
        low, high = (middle, high) if holds else (low, middle)
    return low / 1_000


def pay_table(seed, runs):
    columns = ["segments", "p", "mean pay", "deviation", "by formula", "least", "most", "held by the submitter"]
    columns += ["deviation, not stratified"]
    lines = []
    for (segments, n), (mean, spread, least, most, exact, plain, _) in pays(seed, runs).items():
        cells = [f"{x:.4f}" for x in (mean, spread, exact)] + [f"{x:.3f}" for x in (least, most, held(segments, n))]
        lines.append([f"{segments:,}", f"1/{n}", *cells, f"{plain:.3f}"])
    return table(columns, lines)


def cheats_table():
    columns = ["segments", "p", "deposit", "made up", "found", "it brings: no seats", "20 % of the seats", "40 %"]
    lines = []
    for segments in (6, 54, 532):
        for n in STRATA:
            for made in sorted({1, max(1, segments // 10), segments // 2, segments}):
                found = 1 - escapes(segments, n, 0.0)[made - 1]
                brings = [advantage(segments, n, own)[made - 1] for own in (0.0, 0.2, 0.4)]
                line = [str(segments), f"1/{n}", f"{DEPOSIT_MULTIPLE * max(1, n / segments):.1f}", str(made)]
                lines.append(line + [percent(found), *(f"{x:+.3f}" for x in brings)])
    return table(columns, lines)


def multiples_table():
    columns = ["work brings", "a winner is replayed by", "the last stratum's one is replayed"]
    columns += ["needed: no seats", *(f"{percent(own, 0)} of the seats" for own in SHARES[1:])]
    columns += ["three is enough up to", "where no block is withheld"]
    lines = []
    for gain, brings in ((1.0, "the price"), (2.0, "the price, and power worth as much")):
        for seats in (1, 2):
            for always in (False, True):
                line = [brings, "one seat" if seats == 1 else "two", "always" if always else "where it wins"]
                line += [f"{most_needed(own, gain, seats, True, always)[0]:.2f}" for own in SHARES]
                line += [percent(most_share(gain, seats, withhold, always)) for withhold in (True, False)]
                lines.append(line)
    return table(columns, lines)


def facts(seed, runs):
    found = pays(seed, runs)
    worst = most_needed(0.4, 2.0)
    return (
        f"- **The pay is the price on average**, and exactly the price where {STRATA[0]}, {STRATA[1]} or {STRATA[2]} "
        f"divides the segments: the last stratum alone is left to chance. Of {runs:,} jobs of 532 segments at 1/100 "
        f"the deviation was {percent(found[532, 100][1])} of the price, and would be "
        f"{percent(found[532, 100][5])} if each segment won by itself.\n"
        f"- **A short job is a gamble.** One segment at 1/100 is paid {held(1, 100):.0f} prices, one time in 100, and "
        f"its submitter has {held(1, 100):.0f} prices on hold; of 54 it has {held(54, 100):.2f}. "
        f"From one stratum on it is less than two.\n"
        f"- **Making up does not pay while the owner has no seats**: no share of a job of "
        f"{ALL[0]} to {ALL[-1]:,} segments at any of the three p, be power worth as much as the price or not. Three "
        f"prices are enough as long as the cheat has up to {percent(most_share(1.0))} of the seats and of the blocks, "
        f"where work brings its price.\n"
        f"- **Where power is worth as much as the price, three is not enough if the last stratum's segment is replayed "
        f"only where it wins**: it holds up to {percent(most_share(2.0))}, and 40 % ask for {worst[0]:.1f} (of a job "
        f"of {worst[1]} segments at 1/{worst[2]}). A job of fewer segments than a stratum is looked at too seldom. "
        f"**Replayed always, which costs one segment at most, three hold up to "
        f"{percent(most_share(2.0, always=True))}** ({percent(most_share(2.0, 1, False, True))} where no block is "
        f"withheld), and with two seats for each winner up to {percent(most_share(2.0, 2, always=True))}.\n"
    )


def check(seed, runs):
    """Asserts what the page says."""
    for (segments, n), (mean, spread, least, most, exact, plain, unit) in pays(seed, runs).items():
        # Rounding down takes less than a unit from each ticket: at most `segments` units in all.
        error = 4 * exact / math.sqrt(runs) + unit * segments
        assert abs(mean - 1) <= error, (segments, n, mean, error)
        # The standard error of a deviation, of what is won with the probability `rest / n`.
        won = segments % n / n * (1 - segments % n / n)
        error = 5 * exact / 2 * math.sqrt(max(1 / won - 4, 0) / runs) if won else 0.0
        assert abs(spread - exact) <= error + exact / runs + 1e-9, (segments, n, spread, exact, error)
        assert exact <= plain + 1e-12 and most <= held(segments, n) + 1e-9
        assert segments % n or (least == most and abs(most - 1) <= unit * segments)
    # Whoever has no seats gains nothing, whatever it makes up, be power worth as much as the price or not.
    for gain, always in itertools.product((1.0, 2.0), (False, True)):
        for segments, n in itertools.product(ALL, STRATA):
            brings = advantage(segments, n, 0.0, gain, always=always)
            assert brings.max() < 0, (segments, n, brings.argmax() + 1, brings.max())
    assert most_share(1.0) > 0.3 and 0.02 < most_share(2.0) < 0.1 < most_share(1.0, 2)
    assert most_share(2.0, always=True) > 0.25
    for gain, seats, always in itertools.product((1.0, 2.0), (1, 2), (False, True)):
        own = most_share(gain, seats, True, always)
        for segments, n in itertools.product(GRID, STRATA):
            brings = advantage(segments, n, own, gain, seats, withhold=True, always=always)
            assert brings.max() <= 1e-12, (own, gain, segments, n)


def found_lines(segments=532):
    """The probability that what is made up is found, by the share that is, for a plot."""
    shares = [i / 100 for i in range(0, 61)]
    lines = []
    for n in STRATA:
        escape = np.concatenate([[1.0], escapes(segments, n, 0.0)])
        lines.append((f"lottery, p = 1/{n}", [(f, float(1 - escape[round(f * segments)])) for f in shares]))
    return lines
