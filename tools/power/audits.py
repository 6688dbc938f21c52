"""What audits cost where what computing counts as follows the market, and whether verifiers earn what it costs them:
the rule of the chain (`price.compute`) beside the constant that there was. With the machines and the customers of
economy.py. Money in TRY, work in ut."""

import functools

import economy
import price
from economy import SCENARIOS, Live
from markdown import percent, table
from price import TRY
from weight import number

# What three seats replay of a job of 1,000 segments: 44 draws, the first and the last, and what is beside them.
REPLAYED = 0.05
MOST = 1.0  # TRY a ut: primitives/protocol/src/fees.rs, COMPUTE_PRICE
# The rule: so many times what the dearest machine costs that trains. It earns 3.6 bases for a ut, of which one is
# burned, and what customers pay.
TIMES, BASES = price.COMPUTE_TIMES, price.LEFT_TENTHS / price.TENTHS
# What the power for a ut earns, in bases: 0.54 / 0.15.
EARNS = economy.AUTHORS * economy.TRAINING / economy.BURNED


class Audited(Live):
    """The rule of the runtime, where each ut also pays its audit: `rule(base, mean)` for each ut that is replayed."""

    def __init__(self, rule):
        super().__init__()
        self.rule, self.mean, self.weight, self.last = rule, 0.0, 0.0, 0

    def compute(self, minted):
        return min(self.rule(self.v.base(int(minted * TRY)) / TRY, self.mean), MOST)

    def audit(self, minted):
        return REPLAYED * self.compute(minted)

    def accept(self, asks, bought, mine):
        """Notes the mean price as ClassPrice does, a price as half of the mean at least and twice at most. Who trains
        for itself names none."""
        fading = (1 - 1 / price.WINDOW) ** (self.v.at - self.last)
        self.last, self.weight = self.v.at, self.weight * fading
        for paid, work in ((asks, bought), (0.0, mine)):
            if work > 0:
                paid = min(max(paid, self.mean / 2), 2 * self.mean) if self.weight > 0 else paid
                paid = min(paid, MOST)
                self.mean = (self.mean * self.weight + paid * work) / (self.weight + work)
                self.mean, self.weight = max(self.mean, 1e-12), self.weight + work


def by_market(base, mean):
    return TIMES * (mean + BASES * base)


RULES = {"constant": lambda _base, _mean: MOST, "market": by_market, "none": lambda _base, _mean: 0.0}
WORTHS = (0.001, *economy.WORTHS)


@functools.cache
def simulate(rule, name, worth):
    """Of the last month of a year: what is trained a day, what a ut that is replayed pays, what customers pay of what
    computing costs, and audits as a part of what is minted."""
    market = Audited(RULES[rule])
    year = economy.simulate(SCENARIOS[name], worth, market)
    last = [day for day in year.days if day[0] >= economy.DAYS - 30]
    trained = sum(day[2] for day in last) / len(last)
    compute = market.compute(economy.reward(economy.DAYS * price.DAY))
    _, pay, fee, cost = economy.last_month(year, worth, SCENARIOS[name])
    minted = sum(day[4] for day in last) / len(last)
    audits = REPLAYED * compute
    return trained, compute, (pay + fee + audits) / cost, audits * trained / minted


def costs(name, worth):
    """What a ut costs each kind of machines, TRY."""
    return {m.name: m.cost() / worth for m in SCENARIOS[name]}


def audits_table():
    columns = [
        "machines",
        "a TRY is worth, USD",
        "trained at 1 TRY a ut, ut/day",
        "by the rule",
        "without audits",
        "replaying a ut pays by the rule, TRY",
        "of what it costs: H100",
        "laptops",
        "audits, of what is minted",
        "a customer pays of computing: at 1 TRY",
        "by the rule",
    ]
    rows = []
    for name in SCENARIOS:
        for worth in WORTHS:
            now, rule, none = (simulate(each, name, worth) for each in ("constant", "market", "none"))
            of = {kind: f"{rule[1] / cost:.2g} x" for kind, cost in costs(name, worth).items()}
            rows.append(
                [
                    name,
                    f"{worth:g}",
                    number(now[0]),
                    number(rule[0]),
                    number(none[0]),
                    f"{rule[1]:.3g}",
                    of.get("H100", ""),
                    of.get("laptops", ""),
                    percent(rule[3]),
                    percent(now[2], 0),
                    percent(rule[2], 0),
                ]
            )
    return table(columns, rows)


def check():
    """Asserts what the page says about audits."""
    for name in SCENARIOS:
        for worth in WORTHS:
            now, rule, none = (simulate(each, name, worth) for each in ("constant", "market", "none"))
            # The constant keeps a large market out, the rule does not.
            assert rule[0] > 0.55 * none[0], (name, worth, rule[0], none[0])
            assert worth < 0.01 or name == "1,000 laptops" or now[0] < 0.05 * none[0], (name, worth)
            assert rule[0] > now[0] and rule[2] < now[2]
            # Whoever verifies with a machine as one that trains earns three times what it costs.
            cheapest = min(costs(name, worth).values())
            assert rule[1] > 2.9 * cheapest, (name, worth, rule[1], cheapest)
            # Where computing is worth more than what is minted, audits are as well.
            assert worth < 0.01 or rule[3] < 0.1, (name, worth, rule[3])
    # Laptops that rest beside an H100 earn a third of what they cost at the least fee, and more at four times that.
    for worth in (0.001, 0.01):
        pays = simulate("market", "both", worth)[1] / costs("both", worth)["laptops"]
        assert 0.3 < pays < 1 < 4 * pays, (worth, pays)
    # Who trains for itself and names no price pays half a base for the audit of a ut, beside the base, of 3.6.
    own = REPLAYED * by_market(1.0, 0.0)
    assert abs(own - price.compute(TRY, 0, 100 * TRY) * REPLAYED / TRY) < 1e-9
    assert abs(own - 0.52) < 1e-9 and abs(EARNS - 3.6) < 1e-9 and own + 1 < EARNS / 2
    # Nobody moves it for less than power costs: to raise the mean by half one burns the fee for all that ten days
    # trained, at twice the mean; floods do not move the base.
    market = Audited(by_market)
    market.v = price.Volumes(bought=40_000_000 * price.UT)
    market.mean, market.weight = 0.001, 4e7
    before = market.compute(1.0)
    market.post(4e8, 0.0, 1.0)
    assert market.compute(1.0) == before
    market.accept(1.0, 4e7, 0.0)
    assert abs(market.mean / 0.001 - 1.5) < 1e-9
    assert market.compute(1.0) / before < 1.5
    # While little is trained it is what it is now.
    young = Audited(by_market)
    assert young.compute(1.0) == MOST
    young.v = price.Volumes(bought=220_000 * price.UT)
    assert young.compute(1.0) == MOST
