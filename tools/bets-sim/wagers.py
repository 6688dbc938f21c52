"""Bets: what a standing offer is worth as a forecast, when somebody checks, and what it costs to push the odds. In
units of the price of the work, but for what is said to be in TRY."""

import dataclasses
import functools

import numpy as np

import rules
from lottery import LOST
from markdown import percent, table

# "100 of mine to 1 of yours that F(X) = Y."
ODDS = 100
STAKES = (3, 10, 100)
# A check of the whole, or of one of so many segments.
CHECKS = (1, 6, 54, 532)
CHANCES = (0.9, 0.98, 0.99, 0.999)
LOSSES = (1, 10, 100, 1_000)
# Transactions of two trades with oneself, at the fees of a verdict, TRY.
TRADES = 2 * rules.VERDICT_FEES / rules.TRY


@dataclasses.dataclass(frozen=True)
class Game:
    """Somebody has `stake` at stake, open to anybody who shows that its result is false. Who makes the result up saves
    `saved` of the price; who takes the offer checks first, at the cost `check`, and takes what is false alone. What is
    lost is shared as a deposit is: half is burned, a quarter is the finder's, who may be a friend."""

    stake: float
    check: float
    saved: float = 1.0

    @property
    def prize(self):
        return self.stake * (1 - LOST)

    @property
    def lost(self):
        """What is lost by being found: the price, and the stake but for what a friend has of it."""
        return 1 + LOST * self.stake

    @property
    def false(self):
        """How much is false where checking just pays: `f prize = check`; all of it where checking never pays."""
        return min(1.0, self.check / self.prize)

    @property
    def checked(self):
        """How much is checked where making it up just pays: `saved = c lost`."""
        return min(1.0, self.saved / self.lost) if self.false < 1 else 0.0

    def cheat(self, checked):
        """What making it up brings, beside computing it, where somebody checks with this probability."""
        return self.saved - checked * self.lost

    def taker(self, false):
        """What checking brings, where so much is false."""
        return false * self.prize - self.check

    def play(self, rounds=400_000):
        """Both play what would have been best against all that the other one did: shares that were false and that
        were checked, of all rounds."""
        false, checked = 0.0, 0.0
        most_checked, most_false = self.saved / self.lost, self.check / self.prize
        for played in range(1, rounds + 1):
            # Where `cheat` and `taker` are above zero.
            makes_up, checks = checked < most_checked, false > most_false
            false += (makes_up - false) / (played + 1)
            checked += (checks - checked) / (played + 1)
        return false, checked


def checks(right, loss, cost):
    """The holder's rule: whether it checks."""
    return (1 - right) * loss > cost


def bears(right, loss, cost):
    """What a claim costs its holder on average: it checks, or takes it for so much less."""
    return cost if checks(right, loss, cost) else (1 - right) * loss


def holders(seed, claims=200_000, believed=None):
    """Mean costs of holders who always check, never do, and do by the rule: chances of being right from a beta
    distribution, losses of 1 to 1,000 prices. Where all believe `believed`, what the rule costs then."""
    rng = np.random.default_rng(seed)
    right = rng.beta(18, 1, claims)
    loss = 10 ** rng.uniform(0, 3, claims)
    false = rng.random(claims) > right
    trusted = right if believed is None else np.full(claims, believed)
    rule = (1 - trusted) * loss > 1
    means = [1.0, (false * loss).mean(), np.where(rule, 1.0, false * loss).mean()]
    return [float(mean) for mean in means], float(rule.mean())


def rule_table():
    columns = ["chance of being right", "loses as much as a check costs", *(f"{loss:,} times" for loss in LOSSES[1:])]
    lines = []
    for right in CHANCES:
        line = [f"{right:g}"]
        for loss in LOSSES:
            does = "checks" if checks(right, loss, 1) else "discounts"
            line.append(f"{does}, {bears(right, loss, 1):.3g}")
        lines.append(line)
    return table(columns, lines)


def offers_table():
    columns = ["at stake, prices", "a check costs, of the price", "worth as a forecast", "somebody checks"]
    columns += ["who makes it up: nobody checks", "1 % check", "10 % check", "half check"]
    lines = []
    for stake in STAKES:
        for segments in CHECKS:
            game = Game(stake, 1 / segments)
            gains = [f"{game.cheat(checked):+.2f}" for checked in (0, 0.01, 0.1, 0.5)]
            line = [str(stake), percent(game.check), percent(1 - game.false, 3)]
            lines.append(line + [percent(game.checked)] + gains)
    return table(columns, lines)


def pushing_table():
    """What it costs to make a result of 100 TRY look right with 99 % and more, and what it brings."""
    price = 100
    game = Game(100, 1 / 54)
    columns = ["a cheat with a job of 100 TRY", "costs, TRY", "brings where it is believed, TRY"]
    columns += ["what it should count as"]
    lines = [
        ["bets 100 to 1 with itself", f"{TRADES:.2f}", f"{price - TRADES:.2f}", "nothing: a trade says nothing"],
        [
            "offers 100 prices to anybody, and a friend takes all of it at once",
            f"{TRADES:.2f}",
            f"{price - TRADES:.2f}",
            "nothing: what is taken is no longer offered",
        ],
    ]
    for checked in (0.001, game.checked, 0.05):
        cost = checked * price * game.lost
        lines.append(
            [
                f"leaves 100 prices open to anybody, and somebody checks with {percent(checked, 2)}",
                f"{cost:,.2f} on average",
                f"{price * game.cheat(checked):+,.2f} on average",
                f"{percent(1 - game.false, 2)}, while a check costs a 54th",
            ]
        )
    return table(columns, lines)


def facts(seed):
    (always, never, rule), checked = holders(seed)
    (_, _, pushed), few = holders(seed, believed=0.999)
    three, ten, hundred = Game(3, 1), Game(10, 1), Game(100, 1 / 54)
    assert three.false == 1
    return (
        f"- **The rule is the cheapest.** Of 200,000 claims that are right with 95 % on average, with losses of 1 to "
        f"1,000 times the check, who always checks pays 1, who never does {never:.2f}, and by the rule "
        f"{rule:.2f}: {percent(checked, 0)} are checked. Where all look right with 99.9 %, the same rule checks "
        f"{percent(few, 0)} and costs {pushed:.2f}. So odds that a cheat can push are worse than none.\n"
        f"- **Odds are no forecast; what is open to anybody is.** 100 to 1 says {percent(ODDS / (ODDS + 1))}, "
        f"whatever it is 100 of. But how much is false settles where checking just pays, at the cost of a check over "
        f"what the finder has: where three prices are at stake and a check is all of the work, nobody checks, and all "
        f"may be false; where ten are, {percent(ten.false)}; where 100 are and a check is one of 54 segments, "
        f"{percent(hundred.false, 2)}. Played against "
        f"each other for 400,000 rounds, both sides come within {play_error():.1g} of these shares.\n"
        f"- **Who takes must not have all of it.** Else a friend takes the offer when somebody begins to check, and "
        f"the cheat loses nothing but its price: so half of what is lost is burned, as of any deposit. Then the finder "
        f"has less, and checks less.\n"
        f"- **The smaller the check, the better the bet.** A stake says much where a piece of the result can be "
        f"checked for a small part of the price, as a segment can.\n"
    )


@functools.cache
def play_error():
    """How far play is from the formulas at most, rounded up to one digit."""
    error = 0.0
    # Where less is false it takes far more rounds.
    for stake, segments in ((3, 6), (3, 54), (10, 1), (10, 6)):
        game = Game(stake, 1 / segments)
        false, checked = game.play()
        error = max(error, abs(false - game.false), abs(checked - game.checked))
    digits = 10.0 ** np.floor(np.log10(error))
    return float(np.ceil(error / digits) * digits)


def check(seed):
    """Asserts what the page says."""
    assert play_error() <= 0.01, play_error()
    for stake in STAKES:
        for segments in CHECKS:
            game = Game(stake, 1 / segments)
            if game.false == 1:
                assert game.checked == 0 and game.taker(1) <= 0 < game.cheat(0)
                continue
            # Where both are as said, neither gains by doing otherwise.
            assert abs(game.cheat(game.checked)) < 1e-12 and abs(game.taker(game.false)) < 1e-12
            assert game.cheat(game.checked + 0.01) < 0 < game.cheat(0)
    # The same odds are worth more or less by what is at stake and what a check costs.
    assert 1 - Game(10, 1).false < ODDS / (ODDS + 1) < 1 - Game(100, 1 / 54).false
    # An offer that is no more than a check costs says nothing.
    assert Game(4, 1.01).false == 1 and Game(4, 1.01).checked == 0
    (always, never, rule), checked = holders(seed)
    assert rule < min(always, never) and 0.1 < checked < 0.9
    (_, _, pushed), few = holders(seed, believed=0.999)
    assert pushed > always and few == 0
    for right in CHANCES:
        for loss in LOSSES:
            assert bears(right, loss, 1) == min(1, (1 - right) * loss)
