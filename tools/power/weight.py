"""Shares of the weight (pallets/hashrate/src/shares.rs), and what a third of it costs.

Power in ut/day, money in TRY, time in days."""

import math

from markdown import table

# Figures of the runtime: change both together.
DRILLING, TRAINING = 0.4, 0.6  # pallets/hashrate/src/shares.rs, fifths
DRILLING_FLOOR = 1e7  # pallets/hashrate/src/lib.rs, DRILLING_FLOOR
TRAINING_FLOOR = 5e3  # pallets/hashrate/src/lib.rs, TRAINING_FLOOR
HALF_LIFE = 7.0  # pallets/hashrate/src/power.rs, WEEK_MS
FLOP_PER_UT = 4.32e11  # primitives/program/src/units.rs
# What the four authorities of a small network declared before there were founders.
DECLARED = 4_000.0


def share(own, others, floors=(DRILLING_FLOOR, TRAINING_FLOOR)):
    """The share of the weight of one with `own` = (drilling, training) beside `others` with theirs
    and a founder without work, which has the rest."""
    parts = (DRILLING, TRAINING)
    return sum(
        part * mine / max(mine + theirs, floor)
        for part, mine, theirs, floor in zip(parts, own, others, floors)
        if mine > 0
    )


def share_before(own, others, declared):
    """The same by the rule before: both kinds added up."""
    weigh = lambda power: DRILLING * power[0] + TRAINING * power[1]
    return weigh(own) / (weigh(own) + weigh(others) + declared)


def least(wanted, of):
    """The least x with of(x) >= wanted, for an increasing `of`; None where there is none."""
    low, high = 0.0, 1.0
    while of(high) < wanted:
        high *= 2
        if high > 1e30:
            return None
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if of(middle) >= wanted else (middle, high)
    return high


def at_once(effective):
    """The work, ut, that makes this much effective power when it is credited at once."""
    return effective * HALF_LIFE / math.log(2)


def thirds(drilling, training, wanted=1 / 3):
    """What a third of the weight takes where all others drill and train so much: drilling alone,
    training alone, and by the rule before, once what was declared is gone."""
    others = (drilling, training)
    return {
        "drilling": least(wanted, lambda x: share((x, 0), others)),
        "training": least(wanted, lambda x: share((0, x), others)),
        "drilling before": least(wanted, lambda x: share_before((x, 0), others, 1e-9)),
        "training before": least(wanted, lambda x: share_before((0, x), others, 1e-9)),
    }


def tflops(power):
    """The rate of computing, TFLOP/s, of this power."""
    return power * FLOP_PER_UT / 86_400 / 1e12


def number(x):
    """A number with three significant digits."""
    if x < 1e-6:
        return "0"
    if x >= 100:
        return f"{float(f'{x:.3g}'):,.0f}"
    return f"{x:.3g}"


VOLUMES = (
    (0, 0),
    (1e4, 100),
    (1e6, 1e3),
    (1e7, 5e3),
    (1e7, 5e4),
    (1e8, 5e3),
    (1e9, 1e5),
)


def thirds_table():
    columns = [
        "others drill, ut/day",
        "others train, ut/day",
        "1/3 by drilling, ut/day",
        "TFLOP/s",
        "1/3 by training, ut/day",
        "ut at once",
        "before: by drilling, TFLOP/s",
        "before: by training, ut at once",
    ]
    rows = []
    for drilling, training in VOLUMES:
        found = thirds(drilling, training)
        rows.append(
            [
                number(drilling),
                number(training),
                number(found["drilling"]),
                number(tflops(found["drilling"])),
                number(found["training"]),
                number(at_once(found["training"])),
                number(tflops(found["drilling before"])),
                number(at_once(found["training before"])),
            ]
        )
    return table(columns, rows)


def check():
    """Asserts what the pages say about the rule."""
    floors = (DRILLING_FLOOR, TRAINING_FLOOR)
    # Ten ut of one's own buy nothing of an empty market.
    assert share((10, 0), (0, 0)) < 1e-6 and share((0, 10), (0, 0)) < 0.002
    # All drilling never decides on more than 0.4, all training on 0.6.
    assert abs(share((1e30, 0), (0, 0)) - DRILLING) < 1e-9
    assert abs(share((0, 1e30), (0, 0)) - TRAINING) < 1e-9
    for drilling, training in VOLUMES:
        found = thirds(drilling, training)
        # Never below the floors, and proportional to the volume of the same kind above them.
        assert found["drilling"] >= floors[0] / 3 / DRILLING * (1 - 1e-9)
        assert found["training"] >= floors[1] / 3 / TRAINING * (1 - 1e-9)
        if drilling > floors[0] / 6:
            assert abs(found["drilling"] / (5 * drilling) - 1) < 1e-6
        if training > floors[1] * 4 / 9:
            assert abs(found["training"] / (1.25 * training) - 1) < 1e-6
    # The volume of the other kind changes nothing.
    assert thirds(0, 0)["training"] == thirds(1e12, 0)["training"]
    assert thirds(0, 0)["drilling"] == thirds(0, 1e12)["drilling"]
