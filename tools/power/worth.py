"""What false work gains by its power, and what it loses where it is found, by how much of the training power makes
blocks. By the rule of price.py, in the first year, when a block mints 1 TRY. Money in TRY, work in ut."""

import math

import price
from flood import LIFE, STEP, steady
from markdown import percent, table
from price import DAY, TRY, UT
from weight import TRAINING, TRAINING_FLOOR, number

AUTHORS = 0.9  # runtime/src/configs/session.rs, 1 - JackpotShare
DEPOSITS = 3  # primitives/protocol/src/fees.rs, DEPOSIT_MULTIPLE
# A friend who convicts first brings a quarter of the deposit back: LostShares in fees.rs.
LOST = 0.75

# Of all who train, the part of the power of those who make blocks.
PARTS = (1.0, 0.5, 0.3, 0.1)
DAILY = 4e6


def brings(work, volume, days=150):
    """What power of this work earns whoever makes blocks, beside others of these with `volume` ut a day, until
    nothing is left of it."""
    part = STEP / DAY
    own, fading, earned = work / LIFE, 2 ** (-part / 7), 0.0
    for _ in range(int(days / part)):
        # The middle of the step.
        now = own * math.sqrt(fading)
        earned += AUTHORS * TRAINING * DAY * part * now / max(volume + now, TRAINING_FLOOR)
        own *= fading
    return earned


def deposit(work, daily, volume):
    """What is held from the trainer of a job that is cheaper than its power: by a constant worth, and by the rule."""
    v = steady(daily)
    fee = v.fee(TRY, int(work * UT))
    worth = price.worth(fee, TRY, int(max(volume, TRAINING_FLOOR) * UT))
    return tuple(DEPOSITS * each * work / TRY for each in (price.POWER_WORTH * fee, worth))


def pays_from(gain, held):
    """The least probability that nobody finds it with which false work pays."""
    lost = LOST * held
    return lost / (gain + lost)


def chosen(daily=DAILY):
    """By the part of the training power that makes blocks: what a job of 1,000 ut gains, both deposits."""
    work = 1e3
    return {part: (brings(work, part * daily), *deposit(work, daily, part * daily)) for part in PARTS}


def chosen_table(found):
    columns = [
        "of the training power makes blocks",
        "false power brings, TRY",
        "deposit by four fees, TRY",
        "false work pays where it is missed with",
        "deposit by the rule, TRY",
        "pays where it is missed with",
    ]
    rows = [
        [
            percent(part, 0),
            f"{gain:.3g}",
            f"{before:.3g}",
            percent(pays_from(gain, before), 0),
            f"{now:.3g}",
            percent(pays_from(gain, now), 0),
        ]
        for part, (gain, before, now) in found.items()
    ]
    return table(columns, rows)


def check():
    """Asserts what the pages say about deposits."""
    for daily in (5e3, 4e6, 1e9):
        for part, (gain, before, now) in chosen(daily).items():
            # Where it is lost it is more than twice what the power brings, whoever makes blocks.
            assert LOST * now > 2.2 * gain, (daily, part, gain, now)
            assert pays_from(gain, now) > 0.7 and now >= before
            # By four fees it was less than the gain where two fifths or less make blocks; on the floor there is no
            # difference.
            if daily > TRAINING_FLOOR:
                assert (LOST * before < gain) == (part < 0.4), (daily, part)
            else:
                assert now <= before * 1.001
    # The work of a day, and of ten, gains less for each ut than a little.
    for work in (1e3, DAILY, 10 * DAILY):
        for part in PARTS:
            _, now = deposit(work, DAILY, part * DAILY)
            assert LOST * now > 2.2 * brings(work, part * DAILY), (work, part)
    # Power that is credited when it is worth more than at the deposit is worth no more than was quoted.
    for quoted, later in ((1.0, 0.1), (0.5, 0.3), (0.1, 1.0)):
        v, work = steady(DAILY), 1e3
        fee = v.fee(TRY, int(work * UT))
        worths = [price.worth(fee, TRY, int(part * DAILY * UT)) for part in (quoted, later)]
        credited = price.covered(int(work * UT), *worths) / UT
        assert LOST * DEPOSITS * worths[0] * work / TRY > 2.2 * brings(credited, later * DAILY), (quoted, later)
