"""A forecast of the chance that a result is right, audits that follow it, and what bounds the gain of who waited.

Gains and deposits in units of the larger of the job's price and the worth of its power."""

import functools
import math

import numpy as np

import rules
from lottery import LOST
from markdown import percent, table
from rules import DEPOSIT_MULTIPLE, HALF_LIFE, TRY, UNKNOWN, WHOLE

# Where audits follow the forecast, somebody with this chance of being wrong or more is always audited: a stranger.
SURE = 0.1
TARGETS = (0.5, 0.8, 0.9, 0.95)


def by_size(record, fee):
    """The forecast on chain, where as much is unknown as the job burns, if that is more: what somebody did for less
    says little of a job that burns more. In millionths."""
    return record.right(max(UNKNOWN, fee))


def by_class(record, fee, share):
    """The same, with the share of results of this class of machines that were right in the place of nine in ten."""
    prior = max(UNKNOWN, fee)
    wrong = record.failed + rules.CONVICTION_COUNTS * record.convicted
    return min(WHOLE, int(WHOLE * (prior * share + record.done) / (prior + record.done + wrong)))


def by_offers(right, stake, check):
    """A forecast in millionths where so much is open to anybody who shows that the result is false, and a check costs
    so much: no more is false than makes checking pay, see wagers.Game."""
    return max(right, WHOLE - min(WHOLE, WHOLE * check // max(stake, 1)))


def found(segments, seats, draws, own=0.0):
    """Element `F - 1`: the probability that an audit finds one of `F` false segments, which the cheat spreads as it
    likes, where the share `own` of the seats is its own or asleep."""
    false = np.arange(1, segments + 1)
    miss = np.ones(segments)
    for drawn in range(min(draws, segments)):
        miss *= np.maximum(segments - false - drawn, 0) / (segments - drawn)
    return 1 - (own + (1 - own) * miss) ** seats


@functools.cache
def floor(segments, seats, own=0.0, gain=1.0, multiple=DEPOSIT_MULTIPLE, draws=None):
    """The least probability of an audit with which making up does not pay, whatever share is made up, and whatever is
    known of the trainer: who makes up the share `f` saves `f gain`, and loses by being found what the job brings and
    the deposit, less what a friend has of that."""
    chance = found(segments, seats, draws or rules.least_draws(segments, seats), own)
    share = np.arange(1, segments + 1) / segments
    return float((share * gain / (chance * (gain + LOST * multiple))).max())


def needed(audit, gain=1.0):
    """The multiple with which an audit with this probability is enough, where it finds whatever is false."""
    return gain * (1 / audit - 1) / LOST


def audit(right, least):
    """The probability of an audit by the forecast (in millionths), and no less than `least`."""
    return min(1.0, max(least, (1 - right / WHOLE) / SURE))


def swan(right, least=0.0, seats=3, own=0.0, gain=1.0):
    """What one fraud brings on average, in prices, of somebody with this forecast that makes up all of a job."""
    chance = audit(right, least) * (1 - own**seats)
    return gain - chance * (gain + LOST * DEPOSIT_MULTIPLE)


def burned_for(right):
    """What somebody must have burned, in TRY, for this forecast, and what it burns in four weeks to keep it."""
    unknown = UNKNOWN / TRY
    done = unknown * (right - 0.9) / (1 - right)
    return done, done * math.log(2)


def scores(log):
    """Brier scores and log scores of forecasts over results: (name, mean square error, mean log loss)."""
    right = np.array([not entry.false for entry in log], float)
    names = ["share", *log[0].forecasts]
    columns = {"share": np.full(len(log), right.mean())}
    for name in log[0].forecasts:
        columns[name] = np.array([entry.forecasts[name] for entry in log]) / WHOLE
    result = {}
    for name in names:
        p = np.clip(columns[name], 1e-3, 1 - 1e-3)
        result[name] = float(((p - right) ** 2).mean()), float(-np.log(np.where(right > 0, p, 1 - p)).mean())
    return result


def score(entry):
    """What an audit is expected to find of false money, for each unit that it costs."""
    return (WHOLE - entry.forecasts["chain"]) * entry.price / entry.cost


def steps(log, target, least):
    """Audits one after the other, where most is expected, until the share `target` of what is false is audited, by
    price; everything else is audited with the probability `least(entry)`. How many, what all cost, of auditing all,
    and what is found."""
    order = sorted(log, key=score, reverse=True)
    floors = [least(entry) if least else 0.0 for entry in order]
    all_cost = sum(entry.cost for entry in order)
    all_false = sum(entry.price for entry in order if entry.false)
    cost = sum(entry.cost * part for entry, part in zip(order, floors))
    caught = sum(entry.price * part for entry, part in zip(order, floors) if entry.false)
    count = 0
    for entry, part in zip(order, floors):
        if caught >= target * all_false:
            break
        cost += entry.cost * (1 - part)
        caught += entry.price * (1 - part) * entry.false
        count += 1
    return count, cost / all_cost, caught / all_false


def spend(log, target, least=None):
    """What it costs to audit that share, of auditing all, and what is audited."""
    return steps(log, target, least)[1:]


def within(log, budget):
    """The largest share, in thousandths, of what is false that is audited for a part of the cost of auditing all."""
    low, high = 0, 1_001
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if spend(log, middle / 1_000)[0] <= budget else (low, middle)
    return low / 1_000


def reach(log, target, least=None):
    """How many results are audited for sure for that."""
    return steps(log, target, least)[0]


def curve(log, least=None, points=41):
    """Points (cost, found) of the same."""
    return [spend(log, i / (points - 1), least) for i in range(points)]


def least_of(entry):
    return floor(entry.segments, 3)


def scores_table(log):
    names = {
        "share": "what all have: the share of results that are right",
        "chain": "the record, as on chain",
        "by size": "the record, and the fee of this job as what is unknown",
        "by class": "that, and the share of right results of the machine's class",
        "by offers": "that, and three prices open to anybody, where a check costs one segment",
    }
    result = scores(log)
    lines = [[names[name], f"{brier:.4f}", f"{loss:.3f}"] for name, (brier, loss) in result.items()]
    return table(["forecast from", "mean square error", "mean log loss"], lines)


def audited(log, target, least=None):
    """The same for what black swans do not do, and which part of what they do is audited by it, by price."""
    plain = [entry for entry in log if entry.kind != "swan"]
    cost, _ = spend(plain, target, least)
    # Audits of results of others go as far down as they do for that.
    swans = [entry for entry in log if entry.kind == "swan" and entry.false]
    rank = [score(entry) for entry in sorted(plain, key=score, reverse=True)]
    reached = rank[min(reach(plain, target, least), len(rank) - 1)]
    parts = [1.0 if score(entry) >= reached else least(entry) if least else 0.0 for entry in swans]
    return cost, sum(e.price * part for e, part in zip(swans, parts)) / sum(e.price for e in swans)


def savings_table(log):
    columns = ["audited of what is false, but for black swans", "all alike takes", "by the forecast"]
    columns += ["of black swans' frauds that audits", "by the forecast, and a least for each job"]
    columns += ["of black swans' frauds that audits"]
    lines = []
    for target in TARGETS:
        by = [*audited(log, target), *audited(log, target, least_of)]
        lines.append([percent(target, 0), percent(target, 0), *map(percent, by)])
    return table(columns, lines)


def floors_table():
    columns = ["an audit is", "work brings", "nobody's seats", "20 % of the seats are the cheat's or asleep", "40 %"]
    lines = []
    for audit_is, seats, draws in (("three seats, as today", 3, None), ("one seat that replays one segment", 1, 1)):
        for gain, brings in ((1.0, "the price"), (2.0, "the price, and power worth as much")):
            least = [percent(floor(532, seats, own, gain, draws=draws)) for own in (0.0, 0.2, 0.4)]
            lines.append([audit_is, brings, *least])
    return table(columns, lines)


def deposits_table():
    columns = ["audited with", "deposit, in prices: work brings the price", "power worth as much besides"]
    lines = [
        [percent(chance, 0), *(f"{needed(chance, gain):.2f}" for gain in (1.0, 2.0))]
        for chance in (0.5, 0.3, 0.2, 0.1, 0.05, 0.01)
    ]
    return table(columns, lines)


def swans_table():
    columns = ["forecast", "burned for it, TRY", "burned in four weeks to keep it"]
    columns += ["audited with, by the forecast alone"]
    columns += ["a fraud brings, of its price", "audited with, at least", "a fraud brings"]
    least = floor(532, 3)
    lines = []
    for right in (0.9, 0.95, 0.98, 0.99, 0.999):
        burned = burned_for(right)
        p = round(right * WHOLE)
        line = [f"{right:g}", *(f"{x:,.0f}" for x in burned), percent(audit(p, 0)), f"{swan(p):+.2f}"]
        lines.append(line + [percent(audit(p, least)), f"{swan(p, least):+.2f}"])
    return table(columns, lines)


def facts(log):
    least = floor(532, 3)
    kept = burned_for(0.99)
    result = scores(log)
    by, with_least = audited(log, 0.9), audited(log, 0.9, least_of)
    plain = [entry for entry in log if entry.kind != "swan"]
    tenth = within(plain, 0.1)
    return (
        f"- **A forecast saves most of the audits of those who do not wait**: 90 % of what they make up is audited for "
        f"{percent(by[0])} of the cost of auditing all; with a budget of 10 % of that, {percent(tenth, 0)} is, where "
        f"10 % would be if all were audited alike.\n"
        f"- **Who waits is not found by it**: that audits {percent(by[1])} of what black swans make up. A record of "
        f"99 % takes {kept[0]:.0f} TRY that are burned, and {kept[1]:.0f} in each half-life to keep it, whatever the "
        f"price of the job for which it is used; and who earns it was paid for honest work.\n"
        f"- **So each job asks for a least probability, whatever is known of its trainer**: at three prices "
        f"{percent(least)}, or {percent(floor(532, 3, 0.0, 2.0))} where power is worth as much as the price. It is "
        f"the deposit of the job itself that bounds a black swan: with the least, a fraud of any price brings nothing "
        f"on average, whoever waited how long. Where it comes off, it brings one price, and no more than the third of "
        f"the deposit that was at stake.\n"
        f"- **What is left of the saving is what the deposit allows.** With the least, 90 % of what the others make "
        f"up is audited for {percent(with_least[0])}. To audit a tenth, a deposit of {needed(0.1):.0f} prices is "
        f"needed, to audit a hundredth one of {needed(0.01):.0f}.\n"
        f"- **How good it is.** The record on chain has a mean square error of {result['chain'][0]:.4f}, where one "
        f"chance for all has {result['share'][0]:.4f}. The fee of the job as what is unknown gives "
        f"{result['by size'][0]:.4f}, and the class of machines with it {result['by class'][0]:.4f}, since cheats have "
        f"small machines here more often than others do. With what is open to anybody it is worse than nothing, "
        f"{result['by offers'][0]:.4f}: that says what pays a cheat, and these cheats do not ask.\n"
    )


def check(log):
    """Asserts what the page says."""
    assert abs(burned_for(0.99)[0] - 90) < 1e-9
    record = rules.Record(done=90 * TRY)
    assert record.right() == 990_000 and record.aged(HALF_LIFE).right() < 990_000
    # A large job is more unknown than a small one; nobody gains by its size.
    record = rules.Record(done=90 * TRY)
    assert by_size(record, TRY) == 990_000 > by_size(record, 250 * TRY)
    for segments in (6, 54, 532, 5_320):
        for seats in (3, 15):
            for gain in (1.0, 2.0):
                for own in (0.0, 0.2, 0.4):
                    least = floor(segments, seats, own, gain)
                    chance = found(segments, seats, rules.least_draws(segments, seats), own)
                    share = np.arange(1, segments + 1) / segments
                    brings = share * gain - least * chance * (gain + LOST * DEPOSIT_MULTIPLE)
                    assert abs(brings.max()) < 1e-9, (segments, seats, gain, own)
                    # Today's audit, which is always, is enough.
                    assert own == 0.4 or least <= 1, (segments, seats, gain, own, least)
    for gain in (1.0, 2.0):
        for chance in (0.5, 0.1, 0.01):
            assert abs(gain - chance * (gain + LOST * needed(chance, gain))) < 1e-9
    # A black swan gains without the least, more the better its record is, and never with it.
    gains = [swan(round(p * WHOLE)) for p in (0.9, 0.95, 0.98, 0.99, 0.999)]
    assert gains == sorted(gains) and gains[0] < 0 < gains[-1]
    for p in range(0, WHOLE + 1, 1_000):
        assert swan(p, floor(532, 3)) <= 1e-12 and swan(p, floor(532, 3, 0.0, 2.0), gain=2.0) <= 1e-12
    for target in TARGETS:
        cost, swans = audited(log, target)
        least_cost, least_swans = audited(log, target, least_of)
        # It saves, and finds black swans less than all alike would; with the least it finds at least so many.
        assert cost < target and swans < target, (target, cost, swans)
        assert least_cost >= cost and least_swans >= min(map(least_of, log)) - 1e-9, (target, least_cost, least_swans)
    result = scores(log)
    assert result["by size"][0] < result["chain"][0] < result["share"][0] < result["by offers"][0]
