"""A year of the market: who pays whom where the fee for power follows what is minted.

Machines train for customers, train jobs of their own for the power, drill, or rest, whichever brings most.
Customers buy the more the less a ut costs. The fee is by the rule of price.py; other rules are beside it for
comparison. Steps of four hours; money in TRY, work in ut, power in ut/day."""

import math
from collections import deque
from dataclasses import dataclass, field

import price
from markdown import percent, table
from weight import DRILLING, DRILLING_FLOOR, FLOP_PER_UT, TRAINING, TRAINING_FLOOR, number

# Figures of the runtime: change both together.
HALF_LIFE_OF_REWARD = 4 * 5_259_600  # runtime/src/configs/session.rs, RewardHalfLife
TAIL = 0.1  # session.rs, RewardTail
AUTHORS = 0.9  # session.rs, 1 - JackpotShare
POWER_LIFE = 7 / math.log(2)  # days: pallets/hashrate/src/power.rs, a half-life of a week

BURNED = price.BURNED_PART / price.PERCENT

STEP = price.DAY // 6  # blocks
DAYS = 365
SETTLED_AFTER = 6  # steps from posting to acceptance: a day
SUPPLY = 1e6  # TRY of the genesis
LIQUID = 0.05  # of all TRY, what those who post can get in a day

# Assumptions, and no figures of the runtime. What a ut costs elsewhere, in USD, and what is bought at that
# price; how much more is bought where it is cheaper.
ELSEWHERE, WANTED, ELASTICITY, MOST_WANTED = 2e-5, 1e6, 1.5, 2e7


@dataclass(frozen=True)
class Machines:
    """Machines of a kind: how many, FLOP/s of strict training of each, and what a day of one costs, USD."""

    name: str
    count: int
    flops: float
    day: float

    def capacity(self):
        """ut a day of all."""
        return self.count * self.flops * 86_400 / FLOP_PER_UT

    def cost(self):
        """USD for a ut."""
        return self.day * self.count / self.capacity()


H100 = Machines("H100", 1, 2e13, 48.0)
LAPTOPS = Machines("laptops", 1_000, 2e10, 0.5)
H100S = Machines("H100", 20, 2e13, 48.0)
SCENARIOS = {
    "one H100": (H100,),
    "1,000 laptops": (LAPTOPS,),
    "both": (H100, LAPTOPS),
    "20 H100": (H100S,),
}


def reward(height):
    """What block `height` mints."""
    return max(2 ** (-(height - 1) / HALF_LIFE_OF_REWARD), TAIL)


class Live:
    """The rule of the runtime; with another `part` of what is minted than it burns, for comparison."""

    name = "of what was bought"

    def __init__(self, part=None):
        self.v = price.Volumes()
        self.scale = 1.0 if part is None else part * price.PERCENT / price.BURNED_PART

    def age(self, height):
        self.v = self.v.aged(height)

    def fee(self, minted, work):
        return self.scale * self.v.fee(int(minted * price.TRY), int(work * price.UT)) / price.TRY

    def marginal(self, minted, work):
        return self.scale * self.v.post(int(work * price.UT)).fee(int(minted * price.TRY), 1) / price.TRY

    def post(self, work, _paid, _minted):
        self.v = self.v.post(int(work * price.UT))

    def buy(self, work):
        self.v = self.v.buy(int(work * price.UT))

    def audit(self, _minted):
        """What the audit of a ut costs beside its fee."""
        return 0.0

    def accept(self, asks, bought, mine):
        """Notes what accepted jobs paid their trainers."""


class Constant(Live):
    """1 TRY for each ut, as it was."""

    name = "1 TRY a ut"

    def fee(self, _minted, _work):
        return 1.0

    marginal = fee


class BaseFee(Live):
    """A base fee that rises with the money that is posted and falls by itself: what comes to mind first. A day of
    0.15 of what is minted raises it by a factor of e, and a day without a job lowers it by as much."""

    name = "base fee"

    def __init__(self):
        super().__init__()
        self.now, self.at = price.Volumes().base(price.TRY) / price.TRY, 0

    def age(self, height):
        self.now = max(self.now * math.exp(-(height - self.at) / price.DAY), 1e-8)
        self.at = height

    def steepness(self, minted):
        return 1 / (BURNED * minted * price.DAY)

    def marginal(self, minted, work):
        left = 1 - self.now * self.steepness(minted) * work
        return min(self.now / left, 1e3) if left > 0 else 1e3

    def fee(self, minted, work):
        x = self.now * self.steepness(minted) * max(work, 1e-9)
        return min(-math.log1p(-x) / x * self.now, 1e3) if x < 1 else 1e3

    def post(self, _work, paid, minted):
        self.now = min(self.now * math.exp(min(paid * self.steepness(minted), 50)), 1e3)


def demand(usd):
    """ut a day that customers buy at this price of a ut, all included."""
    return min(WANTED * (max(usd, 1e-12) / ELSEWHERE) ** -ELASTICITY, MOST_WANTED)


def largest(most, holds):
    """The largest x up to `most` with holds(x), of which every smaller one holds as well."""
    if holds(most):
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@dataclass
class Year:
    """What happened."""

    days: list = field(default_factory=list)  # (day, fee, bought, burned, minted, customers' price, ut)
    sums: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)
    prices: list = field(default_factory=list)  # last month: (ut, paid to trainers, fee)

    def add(self, name, amount):
        self.sums[name] = self.sums.get(name, 0.0) + amount


def simulate(machines, usd_per_try, market=None, days=DAYS):
    """A year with these machines, where a TRY is worth so much."""
    machines = sorted(machines, key=Machines.cost)
    cost = {m.name: m.cost() / usd_per_try for m in machines}
    own = {m.name: 0.0 for m in machines}  # jobs of one's own, ut a day
    drills = dict(own)
    power, drilled = dict(own), dict(own)
    market, waiting, year = market or Live(), deque(), Year()
    supply, part = SUPPLY, STEP / price.DAY
    fading = math.exp(-part / POWER_LIFE)
    for step in range(int(days / part)):
        height = 1 + step * STEP
        market.age(height)
        minted = reward(height)
        daily = minted * price.DAY
        # What is accepted now was posted a day ago.
        burned = 0.0
        if len(waiting) == SETTLED_AFTER:
            work, fee, by = waiting.popleft()
            market.buy(work)
            burned = fee
            for name, done in by.items():
                power[name] += done / POWER_LIFE
        supply += daily * part - burned
        # What a ut brings: its share of all power, for as long as it lasts.
        all_power = sum(power.values())
        lately = sum(w for w, _, _ in waiting) / (SETTLED_AFTER * part)
        # Who sees the market grow expects it to grow on.
        grows = 2 * lately if lately > all_power else lately
        earned = AUTHORS * TRAINING * daily / max(all_power, grows, TRAINING_FLOOR)
        drilling = AUTHORS * DRILLING * daily / max(sum(drilled.values()), sum(drills.values()), DRILLING_FLOOR)
        most = sum(m.capacity() for m in machines) * part
        afford = LIQUID * supply * part
        audit = market.audit(minted)

        def asked(work):
            """What the dearest machine that is needed for this much wants for a ut, beside the power."""
            for m in machines:
                work -= m.capacity() * part
                if work <= 0:
                    break
            return max(cost[m.name] - earned, 0.0)

        def buys(work):
            paid = asked(work) + market.marginal(minted, work) + audit
            held = (market.fee(minted, work) + audit) * work
            return demand(paid * usd_per_try) * part >= work and held <= afford

        bought = largest(most, buys)
        fee = market.fee(minted, bought) if bought > 0 else market.marginal(minted, 0)
        # Where customers want more than machines have, they bid the price up.
        worth = ELSEWHERE * (max(bought / part, 1.0) / WANTED) ** (-1 / ELASTICITY) / usd_per_try
        asks = asked(bought)
        if bought >= most * (1 - 1e-9) and demand((asks + fee + audit) * usd_per_try) * part > most:
            asks = max(worth - fee - audit, asks)
        by, left = {}, bought
        for m in machines:
            have = m.capacity() * part
            done = min(left, have)
            left -= done
            free = have - done
            margin = market.marginal(minted, bought + sum(own.values()) * part)
            gain = earned - margin - audit - cost[m.name]
            other = max(drilling - cost[m.name], 0.0)
            # A tenth of what is free changes in a step to what pays better.
            toward = lambda now, pays: now + 0.1 * ((free / part if pays else 0.0) - now)
            own[m.name] = min(toward(own[m.name], gain > other), free / part)
            drills[m.name] = min(
                toward(drills[m.name], drilling > cost[m.name]), free / part - own[m.name]
            )
            by[m.name] = done
        mine = sum(own.values()) * part
        if mine > 0:
            costs = lambda work: (market.fee(minted, work) + audit) * work
            shrink = largest(mine, lambda work: costs(bought + work) <= afford) / mine
            own = {name: work * shrink for name, work in own.items()}
            mine *= shrink
        whole = bought + mine
        paid = market.fee(minted, whole) * whole if whole > 0 else 0.0
        for name, work in own.items():
            by[name] = by.get(name, 0.0) + work * part
        if whole > 0:
            market.post(whole, paid, minted)
            market.accept(asks, bought, mine)
        waiting.append((whole, paid, by))
        for name in power:
            power[name] *= fading
            drilled[name] = drilled[name] * fading + drills[name] * part / POWER_LIFE
        # Books.
        share = paid / whole if whole > 0 else 0.0
        year.add("customers' ut", bought)
        year.add("own ut", mine)
        year.add("drilled ut", sum(drills.values()) * part)
        year.add("customers to trainers", asks * bought)
        year.add("customers' fee", share * bought)
        year.add("own fee", share * mine)
        year.add("computing", sum(cost[m.name] * (by[m.name] + drills[m.name] * part) for m in machines))
        year.add("burned", burned)
        year.add("audits", audit * whole)
        year.add("minted", daily * part)
        year.weights = {}
        part_of = lambda own_power, total, floor: own_power / max(total, floor)
        total_d = sum(drilled.values())
        for name in power:
            year.weights[name] = TRAINING * part_of(power[name], sum(power.values()), TRAINING_FLOOR)
            year.weights[name] += DRILLING * part_of(drilled[name], total_d, DRILLING_FLOOR)
        founders = 1 - sum(year.weights.values())
        year.weights["founders"] = founders
        year.add("rewards of machines", AUTHORS * daily * part * (1 - founders))
        year.add("rewards of founders", AUTHORS * daily * part * founders)
        if step >= (days - 30) / part:
            year.prices.append((bought, asks * bought, share * bought))
        year.days.append((step * part, share or market.marginal(minted, 0), whole / part, burned / part, daily))
        assert supply > 0
    return year


WORTHS = (0.01, 0.1, 1.0)  # USD for a TRY


def last_month(year, usd_per_try, machines):
    """Of the last month: ut for customers a day, what they paid trainers and as fee, TRY for a ut, and what the
    cheapest machine that must compute that much costs, TRY for a ut."""
    work = sum(w for w, _, _ in year.prices)
    if work < 1:
        return 0.0, float("nan"), float("nan"), float("nan")
    daily, left = work / 30, work / 30
    for m in sorted(machines, key=Machines.cost):
        left -= m.capacity()
        if left <= 1:
            break
    return (
        daily,
        sum(a for _, a, _ in year.prices) / work,
        sum(f for _, _, f in year.prices) / work,
        m.cost() / usd_per_try,
    )


def years():
    """All scenarios."""
    return {
        (name, worth): simulate(machines, worth)
        for name, machines in SCENARIOS.items()
        for worth in WORTHS
    }


def months(year):
    """Burned of minted in the last month, in percent of it."""
    last = [day for day in year.days if day[0] >= DAYS - 30]
    return sum(d[3] for d in last) / sum(d[4] for d in last)


def flows_table(found):
    columns = [
        "machines",
        "a TRY is worth, USD",
        "customers pay trainers, TRY",
        "customers pay as fee",
        "machines pay as fee for jobs of their own",
        "burned in the year",
        "minted in the year",
        "machines earn of it",
        "founders earn of it",
        "computing costs machines",
        "machines are left with",
    ]
    rows = []
    for (name, worth), year in found.items():
        s = year.sums
        left = s["customers to trainers"] + s["rewards of machines"] - s["own fee"] - s["computing"]
        keys = ["customers to trainers", "customers' fee", "own fee", "burned", "minted"]
        keys += ["rewards of machines", "rewards of founders", "computing"]
        rows.append([name, f"{worth:g}", *[number(s[k]) for k in keys], number(left) if left > 0 else f"-{number(-left)}"])
    return table(columns, rows)


def prices_table(found):
    columns = [
        "machines",
        "a TRY is worth, USD",
        "fee for a ut, TRY",
        "burned of minted",
        "for customers, ut/day",
        "for oneself, ut/day",
        "a ut costs a customer: pay + fee, TRY",
        "computing it costs, TRY",
        "the customer pays of it",
        "weight: H100",
        "laptops",
        "founders",
    ]
    rows = []
    for (name, worth), year in found.items():
        daily, pay, fee, cost = last_month(year, worth, SCENARIOS[name])
        _, now, whole, _, _ = year.days[-1]
        w = year.weights
        rows.append(
            [
                name,
                f"{worth:g}",
                f"{now:.3g}",
                percent(months(year)),
                number(daily),
                number(max(whole - daily, 0)),
                f"{pay:.3g} + {fee:.3g}",
                f"{cost:.3g}",
                percent((pay + fee) / cost, 0),
                *[percent(w.get(k, 0)) if k in w else "" for k in ("H100", "laptops", "founders")],
            ]
        )
    return table(columns, rows)


RULES = (Live, BaseFee, Constant)


def rules(worth=0.1):
    """The year of both by each rule."""
    return {rule.name: simulate(SCENARIOS["both"], worth, rule()) for rule in RULES}


def rules_table(found):
    columns = [
        "rule",
        "fee for a ut after a month, TRY",
        "after a year",
        "trained in the year, ut",
        "of it for customers",
        "burned of minted in the year",
        "in the last month",
    ]
    rows = []
    for name, year in found.items():
        after = lambda day: next(d[1] for d in year.days if d[0] >= day)
        s = year.sums
        rows.append(
            [
                name,
                f"{after(30):.3g}",
                f"{year.days[-1][1]:.3g}",
                number(s["customers' ut"] + s["own ut"]),
                number(s["customers' ut"]),
                percent(s["burned"] / s["minted"], 1),
                percent(months(year), 1),
            ]
        )
    return table(columns, rows)


PARTS = (0.05, 0.1, 0.15, 0.3, 0.5)


def parts(worth=0.1, machines=(LAPTOPS,)):
    """A year where other parts of what is minted are burned: how much less customers pay than computing costs."""
    found = {}
    for part in PARTS:
        year = simulate(machines, worth, Live(part))
        daily, pay, fee, cost = last_month(year, worth, machines)
        found[part] = (daily, pay + fee, cost, months(year))
    return found


def parts_table(found):
    columns = [
        "part of what is minted",
        "for customers, ut/day",
        "a ut costs a customer, TRY",
        "computing it costs, TRY",
        "the customer pays of it",
        "burned of minted",
        "least burned for a third of the weight, TRY",
    ]
    rows = []
    for part, (daily, paid, cost, burned) in found.items():
        third = part * price.WINDOW * math.log(9 / 4)
        rows.append(
            [
                f"{part:.2f}",
                number(daily),
                f"{paid:.3g}",
                f"{cost:.3g}",
                percent(paid / cost, 0),
                percent(burned),
                number(third),
            ]
        )
    return table(columns, rows)


# Where machines earn no rent: those that train cost about what the power brings.
COMPETITIVE = (
    ("one H100", 0.01),
    ("1,000 laptops", 0.01),
    ("1,000 laptops", 0.1),
    ("both", 0.01),
    ("20 H100", 0.01),
    ("20 H100", 0.1),
)


def check(found, by_rule, by_part):
    """Asserts what the pages say about a year."""
    for (name, worth), year in found.items():
        burned = months(year)
        assert abs(burned / BURNED - 1) < 0.03, (name, worth, burned)
        s = year.sums
        # Nothing is lost: what is burned is what was paid, but for the last day.
        assert abs((s["customers' fee"] + s["own fee"]) / s["burned"] - 1) < 0.02, (name, worth)
        assert abs(sum(year.weights.values()) - 1) < 1e-9
    for name, worth in COMPETITIVE:
        _, pay, fee, cost = last_month(found[name, worth], worth, SCENARIOS[name])
        assert pay + fee < 0.7 * cost, (name, worth, pay, fee, cost)
    # One machine that earns many times what it costs keeps that.
    _, pay, fee, cost = last_month(found["one H100", 1.0], 1.0, SCENARIOS["one H100"])
    assert pay < 1e-6 and fee > 10 * cost
    # The other rules: one runs away, one is far from what anybody pays.
    live, running, constant = (by_rule[rule.name] for rule in RULES)
    assert running.days[-1][1] > 100 and constant.days[-1][1] == 1.0
    for other in (running, constant):
        assert other.sums["customers' ut"] < live.sums["customers' ut"] / 1_000
    # At the margin customers pay part / (0.54 - part) of what computing costs.
    shares = [paid / cost for _, paid, cost, _ in by_part.values()]
    assert shares == sorted(shares)
    for part, share in zip(by_part, shares):
        margin = part / (AUTHORS * TRAINING - part)
        assert part > 0.2 or abs(share / margin - 1) < 0.35, (part, share, margin)
    assert by_part[0.15][1] < by_part[0.15][2] / 2 and by_part[0.3][1] > by_part[0.3][2]
