"""What an author that wants to know or to choose a seed of the beacon can do, by the number of
blocks of a seed and the step between draw heights (pallets/hashrate/src/beacon.rs).

Three ways, each an upper bound for the author: it makes all blocks of a seed that lie open
(`run`); it builds them in a fork of its own that it shows when it is long enough (`race`); it
chooses the draw height by its own coming slots, which it knows for up to two epochs, and
withholds the last block (`timing`). Contested slots are the author's always."""

import math

import numpy as np

from attacks import BLOCKS_PER_DAY, looks, majority
from exact import claim
from markdown import percent, table

# The runtime's own: change both together.
C = 0.25  # runtime/src/presets.rs, LOTTERY
BLOCKS, STEP = 16, 16  # pallets/hashrate/src/timing.rs, SeedTiming::default
REVEAL = 600  # runtime/src/configs/periods.rs, Reveal: blocks in which a trainer may reveal
SHARES = (0.1, 0.2, 0.3, 0.4)
LENGTHS = (2, 4, 8, 12, 16, 24, 32)
# Honest blocks after which GRANDPA has made the first of them final, with some to spare: nodes of
# docs/network.md are two or three blocks behind.
FINAL = 4


def owned(share, c=C):
    """The probability that a block is the author's, if every contested slot is."""
    return float(claim(c, share)) / c


def run(share, blocks, c=C):
    """The probability that one author makes all blocks after a given height."""
    return owned(share, c) ** blocks


def in_a_day(probability, heights):
    """The probability that it happens after at least one of that many heights."""
    return -math.expm1(heights * math.log1p(-min(probability, 1 - 1e-15)))


def race(share, blocks, final, c=C):
    """The probability that a fork made by the author alone becomes the chain for all blocks of
    a seed. It shows its blocks only where it must, and every tie goes to it; it has lost when
    `final` honest blocks stand that it has not overtaken. Exact, by the states after each slot
    that is not empty.

    The states: `lead[k, l]`, `k` blocks of the seed are made (at most `blocks`), `l` of them not
    shown; `behind[k, a, f]`, since the fork the author has made `a` blocks and the others `f > a`."""
    mine, theirs = float(claim(c, share)), float(claim(c, 1 - share))
    alone, both = mine * (1 - theirs) / c, mine * theirs / c
    others = 1 - alone - both
    n = blocks
    won = 0.0
    lead = np.zeros((n + 1, n + 1))
    lead[0, 0] = 1.0
    behind = np.zeros((n + 1, final + 1, final + 1))
    while lead.sum() + behind.sum() > 1e-13:
        new_lead, new_behind = np.zeros_like(lead), np.zeros_like(behind)
        for k, l in np.argwhere(lead > 0):
            weight, k, l = lead[k, l], int(k), int(l)
            for probability, own, other in ((alone, 1, 0), (both, 1, 1), (others, 0, 1)):
                made, left = min(k + own, n), l + own - other
                if left < 0:
                    if final > 1:
                        new_behind[made, 0, 1] += weight * probability
                elif made == n:
                    won += weight * probability
                else:
                    new_lead[made, left] += weight * probability
        for k, a, f in np.argwhere(behind > 0):
            weight, k, a, f = behind[k, a, f], int(k), int(a), int(f)
            for probability, own, other in ((alone, 1, 0), (both, 1, 1), (others, 0, 1)):
                made, up, down = min(k + own, n), a + own, f + other
                if up >= down:
                    if made == n:
                        won += weight * probability
                    else:
                        new_lead[made, 0] += weight * probability
                elif down < final:
                    new_behind[made, up, down] += weight * probability
        lead, behind = new_lead, new_behind
    return won


def simulated_race(share, blocks, final, runs, seed, c=C):
    """The same, played."""
    rng = np.random.default_rng(seed)
    mine, theirs = float(claim(c, share)), float(claim(c, 1 - share))
    won = 0
    for _ in range(runs):
        made = hidden = own = other = 0
        forked = False
        while True:
            a, h = rng.random() < mine, rng.random() < theirs
            made += a
            if forked:
                own, other = own + a, other + h
                if own >= other:
                    forked, hidden = False, 0
                elif other >= final:
                    break
            else:
                hidden += int(a) - int(h)
                if hidden < 0:
                    if final == 1:
                        break
                    forked, own, other = True, 0, 1
            if made >= blocks and not forked:
                won += 1
                break
    return won / runs


def last_block(own, starts, blocks, others):
    """For each slot of `starts`, the probability that the author makes the last of the next
    `blocks` blocks, where it has the slots `own` (a mask) and the others each with probability
    `others`. `[len(starts)]`."""
    starts = np.asarray(starts)
    # Probability of so many blocks since the start, `[starts, blocks]`.
    since = np.zeros((len(starts), blocks))
    since[:, 0] = 1.0
    found = np.zeros(len(starts))
    for ahead in range(1, int(blocks / C * 3) + 60):
        slots = starts + ahead
        mine = np.where(slots < len(own), own[np.minimum(slots, len(own) - 1)], False)
        filled = np.where(mine, 1.0, others)[:, None]
        found += np.where(mine, since[:, -1], 0.0)
        moved = np.zeros_like(since)
        moved[:, 1:] = since[:, :-1] * filled
        since = since * (1 - filled) + moved
    return found


def timing(share, blocks, step, windows=60, seed=1, c=C):
    """What a trainer gains that may reveal in any of `REVEAL` blocks and knows its own slots: the
    mean of its best probability to make the last block of the seed, over the draw heights of the
    window. It is taken to see all of them at once, which it does not."""
    rng = np.random.default_rng(seed)
    mine, theirs = float(claim(c, share)), float(claim(c, 1 - share))
    best = []
    for _ in range(windows):
        slots = int(REVEAL / c * 1.2)
        own = rng.random(slots) < mine
        filled = np.flatnonzero(own | (rng.random(slots) < theirs))[:REVEAL]
        heights = filled[step - 1 :: step]
        best.append(last_block(own, heights, blocks, theirs).max())
    return float(np.mean(best))


def known_draws(share, blocks, step, c=C):
    """The mean number of draw heights of a window whose seed the author knows beforehand for
    certain: it has the slot of the height and the next `blocks` slots, one after the other, and
    half of those that are contested stay its own."""
    mine, theirs = float(claim(c, share)), float(claim(c, 1 - share))
    return REVEAL / c / step * (mine * (1 - theirs / 2)) ** (blocks + 1)


def chosen(share, p, blocks, step, last):
    """The probability of an outcome that has the probability `p` by itself, for a trainer that
    uses all of that: a known seed that it likes, else the height at which it makes the last block
    with probability `last`, and withholding."""
    none = math.exp(-known_draws(share, blocks, step) * p)
    return 1 - none * (1 - looks(last, p))


def runs_table():
    columns = ["share of the weight", "heights"]
    columns += [f"{n} blocks" for n in LENGTHS]
    rows = []
    for share in SHARES:
        for name, step in (("every height", 1), (f"every {STEP}th", STEP)):
            days = [in_a_day(run(share, n), BLOCKS_PER_DAY // step) for n in LENGTHS]
            rows.append([f"{share:.0%}", name, *[chance(x) for x in days]])
    return table(columns, rows)


def races_table():
    columns = ["share of the weight", "finality"]
    columns += [f"{n} blocks" for n in LENGTHS]
    rows = []
    for share in SHARES:
        cases = [(f"after {FINAL} blocks", FINAL)]
        if share > 1 / 3:
            cases.append(("stopped by its own votes", 60))
        for name, final in cases:
            found = [race(share, n, final) for n in LENGTHS]
            rows.append([f"{share:.0%}", name, *[chance(x) for x in found]])
    return table(columns, rows)


def timing_table():
    cases = ((2, 1), (2, STEP), (BLOCKS, 1), (BLOCKS, STEP), (BLOCKS, 4 * STEP))
    columns = ["share of power and bonds", "majority of 3 seats", "with withholding"]
    columns += [f"{n} blocks, step {step}: last block, majority" for n, step in cases]
    rows = []
    for share in SHARES:
        three = majority(share)
        row = [f"{share:.0%}", percent(three), percent(looks(share, three))]
        for n, step in cases:
            last = timing(share, n, step)
            row.append(f"{last:.0%}, {percent(chosen(share, three, n, step, last))}")
        rows.append(row)
    return table(columns, rows)


def chance(probability):
    """A probability as people read it, small ones in powers of ten."""
    if probability >= 0.001:
        return percent(probability)
    if probability <= 0:
        return "0"
    exponent = math.floor(math.log10(probability))
    return f"{probability / 10**exponent:.0f} x 10^{exponent}"

