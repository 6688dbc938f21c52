"""Stints of drilling (pallets/stints): how many reports and checks a block takes, what the chain
absorbs, and whether power follows computing.

Rates in FLOP/s, work in ut, time in blocks of 6 s."""

from math import comb

import numpy as np

from markdown import percent, table
from weight import FLOP_PER_UT, number

# Figures of the runtime: change both together.
BLOCK_SECONDS = 6.0
DAY = 14_400  # market.rs, DAYS
MIN_PERIOD = 50  # runtime/src/configs/stints.rs, MinStint
REPORTS_PER_BLOCK = 20  # ReportsPerBlock
RETARGET = 600  # RetargetBlocks
LEAST_CHANCE = 1 / 64  # primitives/protocol/src/stint.rs
SAMPLES = 4
CHECKERS = 3  # pallets/stints/src/types.rs
CHECK_FEE = 0.05  # runtime/src/configs/drilling.rs
HALF_LIFE_BLOCKS = 7 * DAY
POOL = 256  # verifiers
LAP_FLOP = 1.0e9
GROWTH = 2  # primitives/protocol/src/stint.rs
FREE_WORK = 2.0  # ut a block, of the same file
DOUBTERS = 15  # pallets/stints/src/types.rs
LEAST_BOND, FORGERY_SLASH = 100.0, 0.5  # TRY; runtime/src/configs
# Before stints: a batch of 32 units of at most 1 ut each 24 blocks, in which all of a group compute.
BEFORE_UNITS, BEFORE_BLOCKS, BEFORE_REPLICAS = 32, 24, 3


def period(drillers):
    """The period at which retargeting comes to rest: stints last a quarter of it more on the average."""
    return max(MIN_PERIOD, int(np.ceil(drillers / (1.25 * REPORTS_PER_BLOCK))))


def interval(drillers):
    """Blocks between two reports of a driller on the average: a stint lasts up to a half more than a
    period."""
    return 1.25 * period(drillers)


def dynamics(drillers, blocks, seed=3):
    """Every driller reports as soon as it may, all of them at once in the beginning, and the period is
    set by the rule of the chain. Returns the reports of each block, and the periods."""
    rng = np.random.default_rng(seed)
    due = np.zeros(drillers)
    counts = np.zeros(blocks, dtype=np.int64)
    now, since, length, periods = 0, 0, MIN_PERIOD, []
    while now < blocks:
        ends = min(blocks, now + max(RETARGET, 3 * length))
        came = 0
        # Within a window the period stays, so each driller's reports in it follow from its first.
        while True:
            ready = np.nonzero(due < ends)[0]
            if len(ready) == 0:
                break
            at = due[ready].astype(np.int64)
            np.add.at(counts, at, 1)
            came += len(ready)
            delay = rng.integers(0, length // 2 + 1, len(ready))
            due[ready] = np.maximum(at, now) + length + delay
        wanted = REPORTS_PER_BLOCK * (ends - since)
        right = int(np.ceil(length * came / wanted))
        length = max(MIN_PERIOD, min(max(right, length // 2), length * 2))
        now = since = ends
        periods.append(length)
    return counts, periods


def run(rates, days=28):
    """Drillers that report as often as they may for so many days. Returns their power (as work that would
    add it now, ut), the mean chance of a check in the first day and in the last period, and what each
    has paid for checks, TRY."""
    length = interval(len(rates))
    steps = max(2, days * DAY // length)
    work = rates * length * BLOCK_SECONDS / FLOP_PER_UT
    stock = np.zeros(len(rates))
    paid = np.zeros(len(rates))
    left = 0.5 ** (length / HALF_LIFE_BLOCKS)
    first, chances = [], 0.0
    for step in range(int(steps)):
        stock *= left
        with np.errstate(divide="ignore"):
            chance = np.clip(2 * work / stock, LEAST_CHANCE, 1.0)
        paid += chance * CHECKERS * CHECK_FEE
        stock += work
        chances = float(chance.mean())
        if step * length < DAY:
            first.append(chances)
    return stock, float(np.mean(first)), chances, paid


def mixed(count, seed=7):
    """Rates of a mixed population: laptops of 20 GFLOP/s and, one in ten, GPUs of 1 to 10 TFLOP/s."""
    rng = np.random.default_rng(seed)
    rates = 2e10 * np.exp(rng.normal(0, 0.5, count))
    gpus = rng.random(count) < 0.1
    rates[gpus] = 1e12 * 10 ** rng.random(int(gpus.sum()))
    return rates


def before():
    """What the chain absorbed before, FLOP/s, where each unit of 1 ut is computed by its group."""
    units = BEFORE_UNITS / (BEFORE_BLOCKS * BLOCK_SECONDS)
    return units * FLOP_PER_UT * BEFORE_REPLICAS


COUNTS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)


def pool_table():
    columns = [
        "drillers",
        "computing, TFLOP/s",
        "absorbed before, TFLOP/s",
        "absorbed now, TFLOP/s",
        "stint, blocks",
        "reports a block",
        "most in one block",
        "checks a block, first day",
        "later",
        "seats of a verifier, an hour",
        "largest error of a share of power",
    ]
    rows = []
    for count in COUNTS:
        rates = mixed(count)
        stock, first, later, _ = run(rates)
        length = period(count)
        reports = count / length / 1.25
        blocks = max(40_000, 40 * length)
        late = dynamics(min(count, 100_000), min(blocks, 200_000))[0][-min(blocks, 200_000) // 2 :]
        error = float(np.abs((stock / stock.sum()) / (rates / rates.sum()) - 1).max())
        total = float(rates.sum())
        seats = reports * later * CHECKERS / POOL * 600
        rows.append(
            [
                f"{count:,}",
                number(total / 1e12),
                number(min(total, before()) / 1e12),
                number(total / 1e12),
                f"{length:,}",
                f"{reports:.1f}",
                f"{late.max()}" if count <= 100_000 else "-",
                f"{reports * first:.2f}",
                f"{reports * later:.2f}",
                f"{seats:.2f}",
                "0" if error < 1e-9 else percent(error, 6),
            ]
        )
    return table(columns, rows)


def split_table():
    """One owner of a tenth of all computing, in one account or in many."""
    columns = ["accounts", "share of computing", "share of power", "paid for checks in 28 days, TRY"]
    others = np.full(90, 1e11)
    rows = []
    for parts in (1, 10, 100):
        own = np.full(parts, 1e12 / parts)
        rates = np.concatenate([own, others])
        stock, _, _, paid = run(rates)
        rows.append(
            [
                str(parts),
                percent(own.sum() / rates.sum(), 2),
                percent(stock[:parts].sum() / stock.sum(), 2),
                number(paid[:parts].sum()),
            ]
        )
    return table(columns, rows)


def passes(friends):
    """The chance that a false report is confirmed, of one who has this share of all verifiers' seats for
    friends: all three of the first committee, or else most of the fifteen of the second."""
    first = friends**CHECKERS
    least = DOUBTERS // 2 + 1
    second = sum(
        comb(DOUBTERS, n) * friends**n * (1 - friends) ** (DOUBTERS - n)
        for n in range(least, DOUBTERS + 1)
    )
    return first + (1 - first) * second


def silence(blocks):
    """The part of its power that one loses by silence that has drilled for long, where reports come
    after so many blocks."""
    left = 0.5 ** (blocks / HALF_LIFE_BLOCKS)
    stock = left / (1 - left)
    return min(1.0, 2 / max(LEAST_CHANCE, 2 / stock) / stock)


def kept(fake, ratio, friends=0.0):
    """What one keeps on the average, in units of what a report claims, that claims a part `fake`
    falsely and has `ratio` claims' worth of power to lose: as a cheat, and honestly. With `friends`, a
    share of all verifiers' seats, what is false passes where it `passes`."""
    chance = min(1.0, max(LEAST_CHANCE, 2 / ratio if ratio > 0 else 1.0))
    found = chance * (1 - (1 - fake) ** SAMPLES) * (1 - passes(friends))
    return (1 - found) * (ratio + 1), ratio + 1 - fake


def cheat_table():
    columns = ["false laps"] + [
        f"power of {ratio:,} reports" if ratio else "no power" for ratio in (0, 4, 100, 10_000)
    ]
    rows = []
    for fake in (0.001, 0.01, 0.1, 0.5, 1.0):
        row = [f"{fake:.1%}"]
        for ratio in (0, 4, 100, 10_000):
            cheat, honest = kept(fake, ratio)
            row.append(f"{cheat - honest:+.3f}")
        rows.append(row)
    return table(columns, rows)


def check():
    """Asserts what the pages say of stints."""
    for count in (100, 1_000, 10_000, 24_000, 100_000):
        blocks = max(40_000, 40 * period(count))
        counts, periods = dynamics(count, blocks)
        late = counts[blocks // 2 :]
        rest = np.mean(periods[len(periods) // 2 :])
        assert abs(rest / period(count) - 1) < 0.05, (count, rest, period(count))
        assert late.mean() <= REPORTS_PER_BLOCK * 1.05, (count, late.mean())
        # Nothing is synchronous any more: no block has much more than its part.
        assert late.max() <= 3.5 * REPORTS_PER_BLOCK, (count, late.max())
    for count in COUNTS:
        reports = count / period(count) / 1.25
        rates = mixed(count)
        stock, _, later, _ = run(rates)
        error = np.abs((stock / stock.sum()) / (rates / rates.sum()) - 1).max()
        assert error < 1e-9, (count, error)
        # The pool of verifiers bears the checks: an hour of a seat's time has room for all of them.
        assert reports * later * CHECKERS * SAMPLES * LAP_FLOP / POOL / BLOCK_SECONDS < 1e9
    for fake in np.linspace(0.001, 1, 200):
        for ratio in (0, 0.5, 1, 2, 3, 10, 100, 127, 128, 129, 1_000, 1e6):
            cheat, honest = kept(float(fake), ratio)
            assert cheat <= honest + 1e-9, (fake, ratio, cheat, honest)
            # With two fifths of all seats as friends too, where there is as much to lose as is claimed.
            cheat, honest = kept(float(fake), ratio, friends=0.4)
            assert cheat <= honest + 1e-9 or ratio * GROWTH < 1, (fake, ratio, cheat, honest)
    # Who has nothing to lose has its bond, and may claim 2 ut a block: 100 ut in 50 blocks, which a
    # confirmed lie brings, and half of the least bond is what another costs.
    for friends, part in ((0.4, 0.263), (0.3, 0.076), (0.2, 0.012)):
        assert abs(passes(friends) - part) < 0.0006, passes(friends)
    wrong = (1 / passes(0.4) - 1) * LEAST_BOND * FORGERY_SLASH
    assert abs(wrong - 140) < 1 and FREE_WORK * MIN_PERIOD == 100, wrong
    # Silence, and the part of reports that is checked where stints are long.
    assert abs(silence(1.25 * MIN_PERIOD) - 0.055) < 0.0005
    assert silence(1.25 * 900) < 1 and silence(1.25 * 910) == 1
    left = 0.5 ** (1.25 * 5_000 / HALF_LIFE_BLOCKS)
    assert round(left / (1 - left) / 2) == 11
    # An owner who splits gains nothing, and pays more.
    others = np.full(90, 1e11)
    shares, costs = [], []
    for parts in (1, 10, 100):
        stock, _, _, paid = run(np.concatenate([np.full(parts, 1e12 / parts), others]))
        shares.append(stock[:parts].sum() / stock.sum())
        costs.append(paid[:parts].sum())
    assert np.ptp(shares) < 1e-9 and costs == sorted(costs)
