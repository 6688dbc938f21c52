"""Tests of the lottery's formulas and of the simulation, one against the other.

    python3 tools/slots/test_slots.py

Prints TAP and ends with "# pass N" and "# fail N"."""

import itertools
import math
import traceback
from xml.etree import ElementTree

import numpy as np

import attacks
import bets
import claims
import court
import exact
import noise
import seeds
import svg
import tables
from simulate import simulate


def close(got, expected, tolerance):
    assert np.all(np.abs(np.asarray(got) - expected) <= tolerance), (got, expected, tolerance)


def by_outcomes(c, w):
    """Every set of winners with its probability."""
    p = exact.claim(c, w)
    for won in itertools.product([False, True], repeat=len(w)):
        won = np.array(won)
        yield won, float(np.where(won, p, 1 - p).prod())


def test_formulas_equal_the_sum_over_all_outcomes():
    for weights in ([1], [1, 1], [4, 3, 2, 1], [5, 1, 1, 1, 1, 1]):
        w = exact.shares(weights)
        for c in (0.05, 0.25, 0.5, 0.9):
            filled = several = mean = 0.0
            even = np.zeros(len(w))
            for won, probability in by_outcomes(c, w):
                filled += probability * won.any()
                several += probability * (won.sum() > 1)
                mean += probability * won.sum()
                if won.any():
                    even += probability * won / won.sum()
            close(filled, c, 1e-12)
            close(several, exact.contested(c, w), 1e-12)
            close(mean, exact.winners(c, w), 1e-12)
            close(even / c, exact.even_shares(c, w), 1e-12)


def test_even_shares_sum_to_one():
    for name in exact.DISTRIBUTIONS:
        for c in (0.05, 0.25, 0.5):
            close(exact.even_shares(c, exact.distribution(name)).sum(), 1, 1e-12)


def test_a_slot_is_filled_with_c_however_weight_is_split():
    for name in exact.DISTRIBUTIONS:
        w = exact.distribution(name)
        close(1 - np.prod(1 - exact.claim(0.3, w)), 0.3, 1e-12)


def test_gaps_are_geometric():
    for c in (0.05, 0.25, 1 / 3, 0.5):
        k = exact.gap_quantile(c)
        assert (1 - c) ** k <= 0.01 < (1 - c) ** (k - 1), (c, k)
    assert exact.gap_quantile(0.9) == 2
    assert exact.gap_quantile(0.99) == 1


def test_simulated_slots_agree_with_the_exact_values():
    """Binomial counts within 4 standard deviations; blocks that arrive within the slot."""
    slots = 20_000
    for seed, name in enumerate(exact.DISTRIBUTIONS):
        w = exact.distribution(name)
        for c in (0.1, 0.25, 0.5):
            for network in (0.0, 0.6):
                run = simulate(w, c, slots, seed, network=network)
                spread = lambda p: 4 * math.sqrt(p * (1 - p) / slots)
                close(run.filled / slots, c, spread(c))
                several = exact.contested(c, w)
                close(run.contested / slots, several, spread(several))
                # Every filled slot makes the chain longer by one block.
                assert abs(len(run.chain) - run.filled) <= 1, (len(run.chain), run.filled)
                close(run.interval, 1 / c, 5 * math.sqrt(1 - c) / c / math.sqrt(slots * c))
                close(run.orphaned, exact.orphaned(c, w), 0.02)
                # The quantile of n geometric gaps, within 4 standard deviations.
                wide = 4 * math.sqrt(0.01 * 0.99 / (slots * c)) / (0.01 * -math.log1p(-c))
                close(run.gap_quantile(), exact.gap_quantile(c), 1 + wide)


def test_simulated_block_shares_are_near_those_of_a_fair_fork_choice():
    """An author who won two slots in a row prefers its own block, so the larger gain a little;
    nothing else parts them."""
    w = exact.distribution("4:3:2:1")
    run = simulate(w, 0.25, 40_000, 7)
    close(run.shares, exact.even_shares(0.25, w), 0.02)


def test_late_blocks_fork():
    """Two equal authorities, everything late by exactly one slot's time and a half: a
    winner does not see the block of the slot before unless it made it itself."""
    w = exact.shares([1, 1])
    timely = simulate(w, 0.3, 20_000, 1, network=0.5)
    late = simulate(w, 0.3, 20_000, 1, network=0.5, load=1.0)
    assert late.orphaned > timely.orphaned + 0.05, (late.orphaned, timely.orphaned)
    assert late.interval > timely.interval
    assert late.deepest >= timely.deepest


def test_one_author_never_forks():
    run = simulate(exact.shares([1]), 0.25, 5_000, 3, network=3.0, build=0.5)
    assert run.orphaned == 0 and run.contested == 0 and run.deepest == 0
    assert run.blocks == run.filled == len(run.chain)


def test_secondary_slots_ignore_weights():
    w = exact.distribution("4:3:2:1")
    run = simulate(w, 0.25, 20_000, 5, network=0.2, secondary=True)
    assert run.filled == run.slots
    # Three slots of four by turns, one by the lottery.
    close(run.shares, 0.75 / 4 + 0.25 * exact.even_shares(0.25, w), 0.03)


def test_the_same_seed_gives_the_same_run():
    w = exact.distribution("Zipf 100")
    one, two = (simulate(w, 0.25, 2_000, 11, network=0.7) for _ in range(2))
    assert np.array_equal(one.chain, two.chain) and np.array_equal(one.authors, two.authors)


def test_a_chart_is_well_formed():
    lines = [("a < b", [(0, 0), (1, 2)]), ("c", [(0, 1), (1, 0.3)])]
    text = svg.chart("t & u", "x", "y", lines)
    root = ElementTree.fromstring(text)
    assert sum(1 for _ in root.iter("{http://www.w3.org/2000/svg}polyline")) == 2
    assert svg.ticks(0.97) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert svg.ticks(2.0)[-1] == 2


def test_markers_are_filled_and_others_kept():
    text = "a\n<!-- t -->\nold\n<!-- /t -->\nb\n"
    assert tables.fill(text, "t", "new\n") == "a\n<!-- t -->\nnew\n<!-- /t -->\nb\n"
    try:
        tables.fill(text, "u", "new\n")
    except ValueError:
        return
    raise AssertionError("a marker that is not there is an error")


def test_splitting_is_neutral_in_slots():
    for c in (0.1, 0.25, 0.5):
        for share in (0.01, 0.3, 0.5):
            for parts in (2, 16, 1000):
                each = float(exact.claim(c, share / parts))
                close(1 - (1 - each) ** parts, exact.claim(c, share), 1e-9)
                # Claims are concave in the share: splitting never claims less.
                assert parts * each > float(exact.claim(c, share))
                # The most that it can: -ln(1 - c) w.
                assert parts * each < -math.log1p(-c) * share


def test_a_jump_to_a_standstill_is_found_by_every_draw_after_it():
    # By hand: 3 segments, of which each of three honest seats draws one. The last state is replayed
    # whatever is drawn, so with no seat of its own no jump escapes.
    assert court.gain(court.standstill, 3, 3, 3, 1, 0) == -3 * 3 / 4
    # With half of the seats its own, after 0, 1 or 2 honest segments: that of the last is its own, and
    # the two others are, or draw what is before the jump.
    passed = [0.5 * (0.5 + 0.5 * y) ** 2 for y in (0, 1 / 3, 2 / 3)]
    seen = [p / (1 - 0.5 * (1 - p)) for p in passed]
    gains = [q * 2 * (1 - y) - (1 - q) * 9 / 4 for q, y in zip(seen, (0, 1 / 3, 2 / 3))]
    close(court.gain(court.standstill, 3, 3, 3, 1, 0.5), max(gains), 1e-12)
    # One false state that is found by its own segment alone may save everything.
    safe = (2 / 3) ** 3
    close(court.gain(court.hidden(1), 3, 3, 3, 1, 0), safe * 2 - (1 - safe) * 9 / 4, 1e-12)
    for share in court.SHARES:
        brings = [court.gain(a, 3, 3, 30, 3, share) for a in (court.standstill, *court.HIDDEN)]
        assert brings == sorted(brings) and brings[0] < 0, (share, brings)


def test_withholding_equals_the_sum_over_outcomes():
    """The value of choosing between draws, against a simulation."""
    rng = np.random.default_rng(1)
    for share, p in ((0.1, 0.3), (0.4, 0.5), (0.4, 0.05)):
        draws = 200_000
        # With probability `share` the last author is the attacker: it looks at the outcome, and
        # where it is bad withholds the block and lets another author's output decide.
        first, second = rng.random(draws) < p, rng.random(draws) < p
        mine = rng.random(draws) < share
        close((first | (mine & second)).mean(), attacks.one_look(share, p), 0.006)


def test_no_author_makes_all_blocks_of_a_seed():
    """The reason for the number of blocks: at 40 % of the weight, once in years; with the two
    blocks that there were, many times a day."""
    heights = attacks.BLOCKS_PER_DAY // seeds.STEP
    assert seeds.in_a_day(seeds.run(0.4, seeds.BLOCKS), heights) < 0.002
    assert seeds.in_a_day(seeds.run(0.3, seeds.BLOCKS), heights) < 1e-4
    assert heights * seeds.run(0.1, 2) > 10


def test_runs_equal_simulated_ones():
    rng = np.random.default_rng(4)
    mine = rng.random((200_000, 3)) < seeds.owned(0.4)
    close(mine.all(axis=1).mean(), seeds.run(0.4, 3), 0.004)
    # A slot is the author's where it won, whoever else did.
    w = exact.shares([0.4, 0.6])
    won = rng.random((400_000, 2)) < exact.claim(0.25, w)
    filled = won[won.any(axis=1)]
    close(filled[:, 0].mean(), seeds.owned(0.4), 0.006)


def test_races_equal_simulated_ones():
    for share, blocks, final in ((0.3, 4, 1), (0.4, 4, 3), (0.4, 6, 5), (0.45, 2, 8)):
        played = seeds.simulated_race(share, blocks, final, 8_000, 9)
        close(played, seeds.race(share, blocks, final), 4 * math.sqrt(0.25 / 8_000))
    # Against one honest block that ends it, hidden blocks help: not less than an open run.
    assert seeds.race(0.3, 4, 1) >= seeds.run(0.3, 4)
    # Later finality, more to win; more blocks, less.
    assert seeds.race(0.3, 8, 2) < seeds.race(0.3, 8, 4) < seeds.race(0.3, 4, 4)


def test_the_last_block_by_known_slots_equals_a_simulation():
    rng = np.random.default_rng(5)
    own = np.zeros(60, dtype=bool)
    own[[3, 4, 9, 10, 11, 20]] = True
    others, blocks, start, runs = 0.2, 4, 1, 20_000
    found = 0
    for _ in range(runs):
        filled = own | (rng.random(60) < others)
        last = np.flatnonzero(filled[start + 1 :])[blocks - 1] + start + 1
        found += own[last]
    close(found / runs, seeds.last_block(own, [start], blocks, others)[0], 0.015)


def test_a_step_and_more_blocks_leave_less_to_choose():
    few = {"windows": 12}
    free = seeds.timing(0.3, 2, 1, **few)
    assert free > 0.95, "whoever chooses freely makes the second of two blocks"
    assert seeds.timing(0.3, 16, 16, **few) < seeds.timing(0.3, 16, 1, **few) < free
    assert seeds.known_draws(0.4, 2, 1) > 1 > 1e-6 > seeds.known_draws(0.4, 16, 16)


def test_a_tail_of_slots_gives_many_seeds():
    rng = np.random.default_rng(2)
    for share in (0.1, 0.3, 0.4):
        q = share
        # Blocks at the end of an epoch that are all the attacker's.
        runs = rng.geometric(1 - q, size=100_000) - 1
        close((runs == 0).mean(), attacks.tail(q)[0], 0.006)
        close((runs == 2).mean(), attacks.tail(q)[2], 0.006)


def test_renting_arithmetic():
    """Effective power by the ledger's rule, in steps of a minute, against the formula."""
    rate, hours = 1000.0, 6
    level, minute = 0.0, 1 / 1440
    for _ in range(hours * 60):
        level = level * 2 ** (-minute / 7) + rate * minute * math.log(2) / 7
    close(level, attacks.rented(rate, hours / 24), 0.05)


def test_three_times_holds():
    """Against every listed attack, at every share up to 40 %; not against the hidden jump."""
    for S, N in ((3, 30), (3, 66), (3, 100), (3, 1_000), (15, 1_000)):
        k = court.own_draws(N, S)
        for w in np.linspace(0, 0.4, 9):
            for attack in court.LISTED:
                assert court.gain(attack, court.MULTIPLE, S, N, k, w) < 0, (attack, S, N, w)
                # At the multiple that is needed, the best that the cheat has brings nothing.
                close(court.gain(attack, court.needed(attack, S, N, k, w), S, N, k, w), 0, 1e-9)
            # No share needs more than small ones in the limit, or than all segments at once.
            ends = court.bound(S, k, w), court.needed(court.no_segment, S, N, k, w)
            assert court.needed(court.some_segments, S, N, k, w) <= max(ends) + 1e-9
            assert court.gain(court.hidden(1), court.MULTIPLE, S, N, k, w) > 0
    least = court.least_multiple()
    assert max(least, court.bound(3, 1, 0.4)) < court.MULTIPLE, least
    # The hidden jump that saves 5 % of 1,000 segments, with and without seats.
    few = court.hidden(0.05), 3, 1_000, 15
    assert court.needed(*few, 0) < court.MULTIPLE < court.needed(*few, 0.1)


def test_an_attack_is_found_as_often_as_in_simulated_audits():
    rng = np.random.default_rng(6)
    S, N, k, w, runs = 3, 10, 3, 0.3, 100_000
    # Draws with replacement, of which the formulas are; what is drawn without is found more often.
    drawn = rng.integers(0, N, (runs, S, k))
    # The first seat draws one less.
    drawn[:, 0, 2] = drawn[:, 0, 1]
    own = rng.random((runs, S)) < w
    for false in (1, 4, 10):
        passed = (own | (drawn >= false).all(axis=2)).all(axis=1)
        close(passed.mean(), court.some_segments(S, N, k, w)[0][false - 1], 0.006)
    # A standstill is found by every draw after it, and by the evaluation of the last state.
    after = (own | (drawn < 4).all(axis=2)).all(axis=1) & own[:, 0]
    close(after.mean(), court.standstill(S, N, k, w)[0][4], 0.006)
    # One seat looks at the movement of parameters, and one at that of moments.
    undrawn = (own | (drawn > 0).all(axis=2)).all(axis=1)
    once, twice = own[:, 1] & undrawn, own[:, 1] & own[:, 2] & undrawn
    close(once.mean(), court.SEEN_ONCE(S, N, k, w)[0][0], 0.006)
    close(twice.mean(), court.SEEN_TWICE(S, N, k, w)[0][0], 0.006)


def test_openings_are_bounded_by_those_of_a_tree():
    """Any set of chunks opens with no more bytes than the formula has, by counting siblings."""
    rng = np.random.default_rng(7)
    for height in (4, 8, 11):
        for chunks in (1, 3, 8, 16):
            level, siblings = set(rng.choice(2**height, chunks, replace=False).tolist()), 0
            for _ in range(height):
                siblings += sum(1 for place in level if place ^ 1 not in level)
                level = {place // 2 for place in level}
            bytes_of = chunks * court.CHUNK + siblings * court.HASH
            assert bytes_of <= court.opening(chunks, 2**height) + 1e-6
    assert court.opening(1, 2**8) == court.CHUNK + 8 * court.HASH


def test_a_dispute_narrows_to_one_in_its_rounds():
    for fan in (*court.FANS, 128):
        for count in (1, 2, 16, 17, 64, 65, 4_096, 4_097, 2**24, 10**8):
            left, found = count, 0
            while left > 1:
                left, found = math.ceil(left / fan), found + 1
            assert court.levels(fan, count) == found, (fan, count)


def test_who_opens_nothing_gains_no_more_than_who_is_seen():
    """Committees of three, drawn: how often nobody finds a jump of which nobody opens samples."""
    rng = np.random.default_rng(23)
    S, N, k, w, rounds = 3, 30, 1, 0.4, 200_000
    owned = rng.random((rounds, S)) < w
    draws = np.array([court.first_draws(k), k + 1, k + 1])
    missed = rng.random((rounds, S)) < (1 - 1 / N) ** draws
    misled = rng.random(rounds) < court.misled(w)
    asks = ~owned[:, 1] | ~owned[:, 2]
    passed = (owned | missed).all(axis=1) & (~asks | misled)
    close(passed.mean(), court.unopened(S, N, k, w)[0][0], 0.004)
    # It was the attack that was left: 57 prices were needed where now less than one is.
    assert court.needed(court.unasked, 3, 1_000, 15, 0) > 50
    assert court.needed(court.unopened, 3, 1_000, 15, 0.4) < 1
    for share in court.SHARES[1:]:
        assert court.asking(share) < 0, "asking for a lie does not pay"
    # With a part of the price that is half of that it would.
    part, court.PRICE_PART = court.PRICE_PART, 2 * court.PRICE_PART
    assert court.asking(0.4) > 0
    court.PRICE_PART = part


def test_the_record_of_the_court_has_its_numbers():
    """Each cell of its tables, and each sentence with a number."""
    text = court.RECORD.read_text(encoding="utf-8")
    for name, make in court.TABLES.items():
        between = text.split(f"<!-- {name} -->\n")[1].split(f"<!-- /{name} -->")[0]
        rows, expected = between.splitlines(), make().splitlines()
        assert len(rows) == len(expected), (name, len(rows), len(expected))
        for row, line in zip(rows, expected):
            for got, cell in itertools.zip_longest(row.split("|"), line.split("|")):
                assert got is not None and cell is not None, (name, row, line)
                assert got.strip() == cell.strip(), (name, got, cell, line)
    for sentence in court.sentences():
        assert sentence in text, sentence


def test_odds_that_lower_seats_can_be_bought():
    """Bets with itself cost a cheat nothing and bring something, whatever it faked; a stake that stands loses more
    where one in a hundred finds it; and the page has the table."""
    for faked, three, two, brings, even in bets.rows():
        assert three > two and brings > 0
        assert 0.01 * bets.STAKES[-1] > brings and even[-1] < 0.01, faked
        assert sorted(even, reverse=True) == even
    text = (court.RECORD.parent.parent / "bets.md").read_text(encoding="utf-8")
    assert bets.table() in text


def test_three_times_holds_for_a_third_of_the_seats_whatever_a_claim_is_sold_for():
    """And a sale at a price adds less than what it brings; the page has the table."""
    for price, cells in claims.rows():
        assert cells == sorted(cells) and max(cells[:4]) < court.MULTIPLE, price
    unsold, *_, full = (cells for _, cells in claims.rows())
    more = [sold - plain for sold, plain in zip(full, unsold)]
    assert 0 < min(more) and max(more) < claims.PAY / court.LOST + 1e-9
    text = (court.RECORD.parent.parent / "protocol.md").read_text(encoding="utf-8")
    assert claims.table() in text


def test_ground_keys_equal_a_simulation():
    """The best of several keys, by the formula and by drawing the claims of each."""
    rng = np.random.default_rng(7)
    for mean, keys in ((0.7, 10), (1.4, 20), (68.0, 1_000)):
        drawn = rng.poisson(mean, size=(4_000, keys)).max(axis=1)
        error = 5 * drawn.std() / math.sqrt(len(drawn)) / mean
        close(drawn.mean() / mean, attacks.ground(mean, keys), error)


def test_rounding_is_to_the_significand():
    x = np.array([1 + 2.0**-8, 1 + 2.0**-7, 1 + 3 * 2.0**-8, -3.0, 0.0, 2.0**100])
    close(noise.significand(x, 8), [1, 1 + 2.0**-7, 1 + 2.0**-6, -3, 0, 2.0**100], 0)
    random = np.random.default_rng(3).standard_normal(1_000)
    assert np.array_equal(noise.significand(random, 24), random.astype(np.float32).astype(float))


def test_bits_count_from_the_last_place():
    one = np.array([1.0])
    for distance, bits in ((0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (255, 8), (256, 9)):
        assert noise.bits_changed(one, one + distance * 2.0**-23, 24)[0] == bits, distance


def test_noise_of_a_thousandth_changes_a_third_of_strict_outputs():
    """What `docs/proof-of-hashrate.md` says of the least noise that earns power."""
    strict = noise.PRECISIONS["binary32 (strict)"]
    assert noise.least_amplitude(strict) <= -9
    for inputs in ("0", "1", "two values, 0 and 1", "standard normal"):
        assert noise.least_bits(inputs, strict, 0.001) >= 8, inputs
    assert noise.least_bits("65,536", strict, 0.001) == 0, "inputs this large hide it"
    assert noise.least_amplitude(8) > -3, "bfloat16 has no place for noise that does no harm"


def test_equal_beginnings_are_counted_as_somebody_would_compute_them():
    x = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [0.0, 2.0, 0.0]])
    known, computed = set(), 0
    for row in x:
        for end in range(1, 4):
            begin = tuple(row[:end])
            if begin not in known:
                known.add(begin)
                computed += row[end - 1] != 0
    close(noise.saved_by_prefixes(x), 1 - computed / x.size, 1e-12)
    still = np.zeros(x.shape)
    close(noise.saved_by_keeping(x, still, still, 24), 1, 0)
    close(noise.saved_by_keeping(x, still, still + [0, 1, 0], 24), 1 / 3, 1e-12)


def main():
    tests = [(name, run) for name, run in sorted(globals().items()) if name.startswith("test_")]
    failed = 0
    for name, run in tests:
        try:
            run()
            print(f"ok - {name}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok - {name}\n{traceback.format_exc()}", flush=True)
    print(f"# pass {len(tests) - failed}\n# fail {failed}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
