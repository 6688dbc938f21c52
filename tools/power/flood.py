"""What attacks on the fee for power cost: a third of the weight, floods, posting and taking back, splitting,
order. By the rule of price.py, in the first year, when a block mints 1 TRY. Money in TRY, work in ut."""

import math

import price
from markdown import percent, table
from price import DAY, TRY, UT, WINDOW, Volumes
from weight import TRAINING, TRAINING_FLOOR, number

STEP = DAY // 6
SETTLED = 6  # steps from posting to acceptance: a day
LIFE = 7 / math.log(2)  # days that power lasts
# What all power for training that is burned for brings of a window, TRY.
WINDOW_BURNS = price.BURNED_PART / price.PERCENT * WINDOW
BURNS = price.BURNED_PART / price.PERCENT * DAY


def steady(daily):
    """The market in which so much is trained a day, ut."""
    return Volumes(int(10 * daily * UT), int(daily * UT))


def base(v):
    return v.base(TRY) / TRY


def cost(v, work):
    """What the fee of this much, ut, is in one job."""
    return v.fee(TRY, int(work * UT)) * work / TRY


def reach(share):
    """The part of all training that is so large a share of the weight."""
    return share / TRAINING


class Campaign:
    """Somebody who trains for power beside others who go on as they did, or have ceased to.

    `idle` days pass first in which the others train nothing; then the attacker posts `rate` ut a day for
    `days`. What it posted is accepted a day later."""

    def __init__(self, daily, idle=0, others_return=False):
        self.v = steady(daily)
        self.power = float(daily)
        self.daily = 0.0 if idle and not others_return else float(daily)
        self.v = self.v.aged(self.v.at + int(idle * DAY))
        self.power *= 2 ** (-idle / 7)

    def run(self, rate, days):
        """What it pays, and its part of all training in the end."""
        v, power, own, paid = self.v, self.power, 0.0, 0.0
        steps, part = max(int(round(days * 6)), 1), STEP / DAY
        fading = 2 ** (-part / 7)
        waiting = []
        for step in range(steps + SETTLED):
            v = v.aged(v.at + STEP)
            power, own = power * fading, own * fading
            if step >= SETTLED:
                mine, fee = waiting[step - SETTLED]
                credited = v.credited(TRY, int(mine * UT), fee) / UT if mine > 0 else 0.0
                v = v.buy(int((credited + self.daily * part) * UT))
                own += credited / LIFE
                power += self.daily * part / LIFE
            else:
                v = v.buy(int(self.daily * part * UT))
                power += self.daily * part / LIFE
            mine = rate * days / steps if step < steps else 0.0
            fee = v.fee(TRY, max(int(mine * UT), 1))
            paid += fee * mine / TRY
            v = v.post(int(mine * UT)).post(int(self.daily * part * UT))
            waiting.append((mine, fee))
        return paid, own / max(own + power, TRAINING_FLOOR), rate * days

    def least(self, days, share=1 / 3):
        """What it pays for so large a share of the weight by posting evenly for so many days, and how much it
        trains."""
        low, high = 0.0, 1e3
        while self.run(high, days)[1] < reach(share):
            high *= 2
            assert high < 1e16
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (low, middle) if self.run(middle, days)[1] >= reach(share) else (middle, high)
        paid, _, work = self.run(high, days)
        return paid, work


def bound(share=1 / 3):
    """What is burned at least for this share of the weight, whatever is trained and however it is done."""
    return WINDOW_BURNS * -math.log(1 - reach(share))


def before(daily, share=1 / 3):
    """The same where 1 TRY is burned for each ut: at once."""
    part = reach(share)
    return max(TRAINING_FLOOR * part, part / (1 - part) * daily) * LIFE


VOLUMES = (0, 5e3, 5e4, 4e6, 1e8)
DAYS = (1 / 6, 1, 7, 28)
# Among which the cheapest is looked for.
LENGTHS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 21)


def thirds(volumes=VOLUMES):
    """What a third of the weight costs, by volume: posted evenly in so many days, in those in which it is cheapest,
    and the same beside others who ceased to train four weeks before."""
    found = {}
    for daily in volumes:
        beside = Campaign(daily)
        row = {days: beside.least(days) for days in DAYS}
        row["cheapest"] = min(beside.least(days) + (days,) for days in LENGTHS)
        idle = Campaign(daily, idle=28)
        row["idle"] = min(idle.least(days) + (days,) for days in LENGTHS)
        found[daily] = row
    return found


def thirds_table(found):
    columns = [
        "others train, ut/day",
        "base fee, TRY",
        "1/3 in four hours, TRY burned",
        "in a day",
        "in a week",
        "in four weeks",
        "where it is cheapest",
        "its computing, ut",
        "cheapest where others ceased four weeks before",
        "burned a day to hold it",
        "at 1 TRY a ut: at once",
        "a day",
    ]
    rows = []
    for daily, row in found.items():
        old = before(daily)
        rows.append(
            [
                number(daily) if daily else "0",
                f"{base(steady(daily)):.3g}",
                *[number(row[days][0]) for days in DAYS],
                f"{number(row['cheapest'][0])} in {row['cheapest'][2]} days",
                number(row["cheapest"][1]),
                f"{number(row['idle'][0])} in {row['idle'][2]} days",
                number(reach(1 / 3) * BURNS),
                number(old),
                number(old / LIFE),
            ]
        )
    return table(columns, rows)


def flood(daily, size, bought=True, taken_back=None):
    """Somebody posts `size` days of what a market trains, at once. Returns what it pays; by what factor the fee
    is higher then; for how many hours it is 1.5 times and 1.01 times what it was; what the others pay more in
    fees in the three days after if they go on as before, and how much less in the 30 days after that."""
    v, part = steady(daily), 1 / 24
    was, work = base(v), size * daily
    paid = cost(v, work)
    v = v.post(int(work * UT))
    first = v.fee(TRY, 1) / TRY / was
    hours, more, less, curve = {1.5: 0, 1.01: 0}, 0.0, 0.0, []
    for hour in range(33 * 24):
        v = v.aged(v.at + DAY // 24)
        if taken_back is not None and hour + 1 == taken_back:
            age = taken_back * (DAY // 24)
            v = v.take_back(int(work * UT), age)
            paid = price.place_fee(int(paid * TRY), age) / TRY
        elif taken_back is None and bought and hour == 24:
            v = v.buy(int(work * UT))
        lot = daily * part
        now = v.fee(TRY, int(lot * UT)) / TRY
        curve.append((hour, now / was))
        for factor in hours:
            hours[factor] += now > factor * was
        if hour < 72:
            more += (now - was) * lot
        else:
            less += (was - now) * lot
        v = v.post(int(lot * UT)).buy(int(lot * UT))
    return paid, first, hours[1.5], hours[1.01], more, less, curve


SIZES = (0.5, 1, 2, 4, 8, 16)


def floods(daily=4e6):
    return {size: flood(daily, size) for size in SIZES}


def floods_table(found):
    columns = [
        "posted at once, in days of the market",
        "the flooder burns, TRY",
        "the fee for others is then",
        "1.5 times as high for, hours",
        "1 % higher for, hours",
        "others pay more in three days, TRY",
        "and less in the 30 days after, TRY",
    ]
    rows = [
        [
            f"{size:g}",
            number(paid),
            f"x {first:.3g}",
            str(high),
            str(some),
            number(more),
            number(less),
        ]
        for size, (paid, first, high, some, more, less, _) in found.items()
    ]
    return table(columns, rows)


BACK = (1, 6, 12, 24)


def taken_back(daily=4e6, size=8):
    return {hours: flood(daily, size, taken_back=hours) for hours in BACK}


def taken_back_table(found):
    columns = [
        "taken back after, hours",
        "burned for the place, TRY",
        "1.5 times as high for, hours",
        "others pay more in three days, TRY",
    ]
    rows = [
        [str(hours), number(paid), str(high), number(more)]
        for hours, (paid, _, high, _, more, _, _) in found.items()
    ]
    return table(columns, rows)


def order(daily=4e6):
    """What the author of a block saves who posts a day of the market before everybody else of its block, who post
    as much, and not after them: in parts of the fee."""
    v, work = steady(daily), daily
    return 1 - cost(v, work) / cost(v.post(int(work * UT)), work)


def check():
    """Asserts what the pages say about attacks on the fee."""
    assert price.TABLE.read_text() == price.vectors(), "run tools/economy-sim --write"
    # Whoever has a third has burned this at least, at every volume, and however it is done.
    found = thirds()
    least = bound()
    for daily, row in found.items():
        costs = [row[days][0] for days in DAYS] + [row["cheapest"][0]]
        if daily > 0:
            assert all(c > least * 0.999 for c in costs), (daily, costs, least)
            # To flood costs many times as much as to take one's time.
            assert costs[0] > 10 * costs[4] and costs[1] > 5 * costs[4], costs
        else:
            assert costs[0] > TRAINING_FLOOR * reach(1 / 3) * LIFE * base(steady(0)) * 0.99
        # Waiting for others to cease gains no more than that one trains for two.
        assert row["idle"][0] > 0.3 * least, (daily, row["idle"], least)
    # The cost in TRY is that of the share, whatever the volume is.
    large = [found[daily]["cheapest"][0] for daily in VOLUMES if daily >= 5e4]
    assert max(large) < 1.01 * min(large), large
    # Splitting changes nothing.
    v = steady(4e6).post(int(1e7 * UT))
    whole, sum_of_parts, now = cost(v, 1e7), 0.0, v
    for _ in range(1_000):
        sum_of_parts += cost(now, 1e4)
        now = now.post(int(1e4 * UT))
    assert abs(sum_of_parts / whole - 1) < 1e-5, (sum_of_parts, whole)
    # A flood raises the fee for days and not for weeks, and costs the flooder more than the others.
    for size, (paid, _, high, some, more, less, _) in floods().items():
        assert paid > more, (size, paid, more)
        assert some <= 80 and high <= some and less > 0
        # Over the month the others pay less, but where the flood was very large.
        assert size > 4 or less > more, (size, more, less)
    # To post and take back at once costs a hundredth and leaves as much; a day later it costs as much as to buy.
    back = taken_back()
    market = steady(4e6)
    at_once = market.post(int(3e7 * UT)).take_back(int(3e7 * UT), 0)
    assert at_once == market.post(int(3e5 * UT)) and price.place_fee(10**18, 0) == 10**16
    bought = flood(4e6, 8)[0]
    # The work of a day in front of as much in the same block.
    assert abs(order() - 0.37) < 0.005
    assert abs(back[24][0] / bought - 1) < 1e-9
    for hours, (paid, _, _, _, more, _, _) in back.items():
        assert paid > more, (hours, paid, more)
