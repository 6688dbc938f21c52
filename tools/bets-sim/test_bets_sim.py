"""Tests of the simulations of tools/bets-sim: formulas against draws, money against what came in, and that what checks
the page finds what is wrong with it.

    /usr/bin/python3 -B tools/bets-sim --assert"""

import itertools
import math
import random

import numpy as np

import cost
import forecast
import lottery
import page
import rules
import wagers
import year
from ledger import Broke, Ledger
from rules import TRY, WHOLE, Job, Record


def close(got, expected, tolerance):
    assert np.all(np.abs(np.asarray(got) - expected) <= tolerance), (got, expected, tolerance)


def raises(kind, run):
    try:
        run()
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


# Money


def test_a_ledger_moves_what_is_there_and_no_more():
    ledger = Ledger()
    ledger.open("a", 10)
    ledger.open("b")
    ledger.move("a", "b", 4)
    assert ledger.of == {"a": 6, "b": 4}
    raises(Broke, lambda: ledger.move("a", "b", 7))
    raises(AssertionError, lambda: ledger.move("a", "b", -1))
    raises(AssertionError, lambda: ledger.move("a", "nobody", 1))
    assert ledger.of == {"a": 6, "b": 4}
    ledger.check()
    ledger.of["a"] += 1
    raises(AssertionError, ledger.check)


def test_a_deposit_is_shared_out_as_on_chain():
    """The example of `friendly-accuser` in docs/security.md: of a deposit of 60.90 TRY the friend has 15.15, 30.30 are
    burned and 0.30 make the submitter whole."""
    market = year.Market("escrow", 1, 1)
    before = dict(market.ledger.of)
    market.ledger.move("honest 0", "held", 6_090 * TRY // 100)
    market.lose(6_090 * TRY // 100, 30 * TRY // 100, "verifier 0")
    change = {name: market.ledger.of[name] - before[name] for name in before}
    assert change["submitters"] == 30 * TRY // 100 and change["burned"] == 3_030 * TRY // 100
    assert change["verifier 0"] == 1_515 * TRY // 100 == change["jackpot"] and change["held"] == 0
    market.ledger.check()


# The lottery


def test_strata_are_all_segments():
    for segments, n in itertools.product((1, 2, 9, 10, 11, 54, 532), (2, 10, 100)):
        assert sum(lottery.strata(segments, n)) == segments
        assert lottery.held(segments, n) == len(lottery.strata(segments, n)) * n / segments


def test_each_segment_wins_with_p():
    rng = np.random.default_rng(3)
    for segments, n in ((7, 2), (7, 10), (25, 10)):
        drawn = lottery.winners(rng, segments, n, 40_000)
        for stratum in range(drawn.shape[1]):
            won = drawn[:, stratum]
            assert set(np.unique(won[won >= 0]) // n) == {stratum}
        share = [(drawn == segment).sum() / 40_000 for segment in range(segments)]
        close(share, 1 / n, 5 * math.sqrt(1 / n / 40_000))


def test_what_is_made_up_escapes_as_often_as_the_formula_says():
    """The formula against draws, with seats that are the cheat's, for the best places."""
    rng = np.random.default_rng(5)
    for segments, n, false, own in ((25, 10, 3, 0.0), (25, 10, 6, 0.3), (40, 2, 4, 0.2), (13, 100, 5, 0.5)):
        capacity, places = lottery.capacities(segments, n), []
        for _ in range(false):
            # The next one goes where fewest are.
            counts = [sum(p // n == s for p in places) for s in range(len(capacity))]
            stratum = min((c, s) for s, c in enumerate(counts) if c < capacity[s])[1]
            free = [p for p in range(stratum * n, min(segments, stratum * n + n)) if p not in (0, segments - 1)]
            places.append(next(p for p in free if p not in places))
        drawn = lottery.winners(rng, segments, n, 40_000)
        seen = np.isin(drawn, places) & (rng.random(drawn.shape) >= own)
        close(1 - seen.any(axis=1).mean(), lottery.escapes(segments, n, own)[false - 1], 0.012)


def test_two_seats_for_each_winner_miss_what_both_pass_over():
    rng = np.random.default_rng(6)
    drawn = lottery.winners(rng, 25, 10, 40_000)
    asleep = (rng.random(drawn.shape) < 0.5) & (rng.random(drawn.shape) < 0.5)
    seen = np.isin(drawn, [5, 15, 22]) & ~asleep
    close(1 - seen.any(axis=1).mean(), lottery.escapes(25, 10, 0.5, seats=2)[2], 0.012)


def test_no_places_are_better_than_those_of_the_formula():
    """All ways of making up so many of a small job, by their probability."""
    jobs = ((7, 2, 0.0), (7, 3, 0.3), (8, 5, 0.4), (5, 9, 0.2))
    for (segments, n, own), always in itertools.product(jobs, (False, True)):
        best = lottery.escapes(segments, n, own, always=always)
        for false in range(1, segments + 1):
            found = 0.0
            for places in itertools.combinations(range(segments), false):
                escape = own if {0, segments - 1} & set(places) else 1.0
                for start in range(0, segments, n):
                    hits = sum(start <= p < start + n for p in places)
                    # The seat of the first and the last one is another one than that of a winner.
                    escape *= 1 - (1 - own) * hits / (min(n, segments - start) if always else n)
                found = max(found, escape)
            assert best[false - 1] >= found - 1e-12, (segments, n, own, false, best[false - 1], found)
            # Without those that are always replayed it is the best, and no more.
            assert false > segments - 2 or abs(best[false - 1] - found) < 1e-12, (segments, n, own, false)


def test_a_smaller_deposit_would_pay():
    """What `lottery.check` asserts can fail."""
    assert lottery.advantage(54, 100, 0.0, 2.0).max() < 0
    assert lottery.advantage(54, 100, 0.0, 2.0, multiple=1).max() > 0
    assert lottery.advantage(54, 100, 0.4, 2.0).max() > 0
    for own in (0.0, 0.2):
        for segments, n in ((3, 100), (54, 10), (532, 100)):
            least = lottery.needed(segments, n, own, 2.0)
            brings = lambda m: lottery.advantage(segments, n, own, 2.0, multiple=m, withhold=True).max()
            assert abs(brings(least)) < 1e-9 < brings(least - 0.01)


# What checking costs


def test_the_cost_of_a_committee_is_that_of_draws():
    """The formula for what seats replay against drawing it."""
    rng = random.Random(2)
    for training in (10, 100, 1_000):
        job = Job(training)
        n, draws = job.segments, rules.least_draws(job.segments, 3)
        total = 0
        for _ in range(4_000):
            for seat in range(3):
                replayed = set(rng.sample(range(n), min(n, rules.own_draws(draws, seat))))
                total += len(replayed | ({0, n - 1} if seat == 0 else {rng.randrange(n)}))
        by_formula = cost.escrow(job, 3)
        expected = (by_formula.draws + by_formula.duties) * job.work / job.steps * n
        close(total / 4_000, expected, 0.05)


def awake(mechanism):
    """A market whose verifiers replay, with a trainer, its job of 54 segments, and money enough for many of them."""
    market = year.Market(mechanism, 9, 1)
    market.able = [name for name in market.verifiers if name.startswith("verifier")]
    trainer = next(t for t in market.trainers if t.kind == "lazy")
    for name in [*market.able, trainer.name]:
        market.ledger.move("submitters", name, 100_000 * TRY)
    return market, trainer, Job(100)


def test_what_a_committee_replays_in_a_year_is_what_it_costs():
    market, trainer, job = awake("escrow")
    for _ in range(2_000):
        market.escrow(trainer, job, set())
    expected = cost.escrow(job, 3)
    # Nobody replays the segments of others there.
    again = expected.again + cost.AGAIN * rules.EVALUATION / job.work
    close(market.checked / 2_000 / job.work, expected.all - again, 0.0008)


def test_committees_and_winners_find_as_often_as_the_formulas_say():
    market, trainer, job = awake("escrow")
    runs, false = 3_000, set(range(20, 25))
    found = 0
    for _ in range(runs):
        market.ledger.move("submitters", trainer.name, 1_000 * TRY)
        found += market.escrow(trainer, job, false)
    # Three draws, and the duties of two seats, which are as good as draws here.
    close(found / runs, 1 - (1 - 5 / 54) ** 5, 5 * math.sqrt(0.25 / runs))
    market, trainer, job = awake("lottery")
    found = 0
    for _ in range(runs):
        market.ledger.move("submitters", trainer.name, 1_000 * TRY)
        found += market.lottery(trainer, job, false)
    close(found / runs, 1 - (1 - 5 / 10) * (1 - 5 / 54) ** 2, 5 * math.sqrt(0.25 / runs))


# Bets and forecasts


def test_a_friend_that_finds_brings_back_no_more_than_a_quarter():
    """Who is found by a friend loses what `Game.lost` says, but for the price, which is not paid."""
    market, trainer, job = awake("bets")
    stake, friend = 3 * job.price, "watcher 0"
    before = market.ledger.of[trainer.name] + market.ledger.of[friend]
    market.ledger.move(trainer.name, "held", stake)
    market.ledger.move("submitters", "held", job.price)
    market.taken(friend, None, 0, stake, job.price)
    lost = before - market.ledger.of[trainer.name] - market.ledger.of[friend] - rules.VERDICT_FEES
    close(lost / job.price + 1, wagers.Game(3, 1).lost, 1e-9)
    assert market.ledger.of["held"] == 0
    market.ledger.check()


def test_a_holder_does_best_by_the_rule():
    for right in np.linspace(0.5, 1, 26):
        for loss in (0.5, 1, 7, 100):
            assert wagers.bears(right, loss, 1) <= min(1, (1 - right) * loss) + 1e-12


def test_an_audit_finds_as_often_as_the_formula_says():
    rng = random.Random(4)
    for segments, seats, draws, own, false in ((54, 3, 1, 0.0, 5), (54, 3, 2, 0.3, 10), (20, 5, 4, 0.5, 1)):
        hits = 0
        for _ in range(20_000):
            found = False
            for _ in range(seats):
                drawn = rng.sample(range(segments), draws)
                found |= rng.random() >= own and min(drawn) < false
            hits += found
        close(hits / 20_000, forecast.found(segments, seats, draws, own)[false - 1], 0.015)


def test_the_least_is_what_deters_and_no_more():
    for gain in (1.0, 2.0):
        least = forecast.floor(532, 3, 0.2, gain)
        assert forecast.swan(WHOLE, least * 0.98, 3, 0.2, gain) > 0
        assert forecast.swan(WHOLE, least, 3, 0.2, gain) <= 1e-12


def test_a_record_that_is_kept_stays():
    """Who burns what `burned_for` says in each half-life keeps its forecast."""
    burned, each = forecast.burned_for(0.99)
    record = Record(done=round(burned * TRY))
    for day in range(1, 29):
        record.aged(day * rules.DAY).done += round(each / 28 * TRY)
    assert record.right() >= 989_500, record.right()
    assert record.aged(5 * rules.HALF_LIFE).right() < 960_000


def test_a_conviction_is_forgotten_by_a_new_account_and_by_time():
    record = Record(done=90 * TRY, convicted=25 * TRY)
    assert record.right() < Record().right() < record.aged(20 * rules.HALF_LIFE).right() + 1_000


# A year


def test_a_year_is_the_same_for_a_seed_and_another_for_another():
    run = lambda seed: year.Market("lottery", seed, 10).run()
    one, again, other = run(1), run(1), run(2)
    assert (one.after, one.checked, one.tried) == (again.after, again.checked, again.tried)
    assert one.after != other.after


def test_money_is_conserved_whatever_the_seed():
    for seed, mechanism in itertools.product((7, 8), year.MECHANISMS):
        made = year.Market(mechanism, seed, 40).run()
        assert sum(made.after.values()) == sum(made.before.values()) and made.after["held"] == 0
        assert made.tried["honest"] == 0 and made.checked > 0


def test_nobody_honest_is_convicted_and_no_cheat_is_paid_for_what_was_found():
    for mechanism in year.MECHANISMS:
        market = year.Market(mechanism, 3, 60)
        market.run()
        for trainer in market.trainers:
            if trainer.kind == "honest":
                assert trainer.record.convicted == 0 and trainer.accounts == 1
        accounts = sum(t.accounts - 1 for t in market.trainers if t.kind == "cheat")
        assert accounts == market.tried["cheat"] - market.accepted["cheat"], mechanism


def test_the_lottery_pays_honest_trainers_the_price_in_a_year():
    market = year.Market("lottery", 5, 60)
    honest = next(t for t in market.trainers if t.kind == "honest")
    job, runs = Job(10), 3_000
    before = market.ledger.of[honest.name]
    market.able = market.verifiers
    for name in market.verifiers:
        market.ledger.move("submitters", name, 100_000 * TRY)
    for _ in range(runs):
        market.lottery(honest, job, set())
    paid = (market.ledger.of[honest.name] - before) / runs / job.price
    close(paid, 1, 4 * math.sqrt(0.6 * 0.4) * 10 / 6 / math.sqrt(runs))


# The page


def test_a_page_with_another_number_is_found():
    text = "A page.\n\n<!-- one -->\n| 5 |\n<!-- /one -->\n\nSee [it](8.md) and `9`.\n"
    assert page.compare(text, {"one": "| 5 |\n"}) == []
    assert page.compare(text, {"one": "| 6 |\n"}) == ["the block one is not what is computed"]
    assert page.compare(text, {"one": "| 5 |\n", "two": ""}) == ["there is no block two"]
    assert page.compare(text + "<!-- two -->\n<!-- /two -->\n", {"one": "| 5 |\n"}) == [
        "nothing computes the block two"
    ]
    assert page.compare(text + "It is 12 %.\n", {"one": "| 5 |\n"}) == ["nothing computes 12"]
    assert page.filled(text, {"one": "| 6 |\n"}).count("| 6 |") == 1


def tests():
    """The tests by what they say."""
    for name, run in sorted(globals().items()):
        if name.startswith("test_"):
            yield name, run
