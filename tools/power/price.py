"""The rule of the fee for power, in integers, as primitives/protocol/src/price.rs has it: work in micro-ut,
money in units of 10^-12 TRY, time in blocks. Both compute the table of `vectors`."""

import pathlib
import random
from dataclasses import dataclass, replace

# Figures of primitives/protocol/src/price.rs: change both together.
BURNED_PART, PERCENT = 15, 100
WINDOW, DAY, LEAST_STAY = 144_000, 14_400, 144
LEAST_BOUGHT = 50_000_000_000
FREE_PART = 5
MOST_CROWDED = 32
LEAST_FEE, MOST_FEE = 10_000, 10**15
TRAINING_TENTHS, TENTHS = 6, 10
POWER_WORTH = 4
COMPUTE_TIMES, LEFT_TENTHS = 4, 26
MOST_VOLUME = 1 << 62
POINT, SQUARED_BITS = 32, 30

TRY = 10**12
UT = 10**6
TABLE = pathlib.Path(__file__).resolve().parents[2] / "primitives/protocol/tests/price-vectors.txt"


def up(a, b):
    """a / b, rounded up."""
    return -(-a // b)


def product(a, b):
    return (a * b) >> 64


def faded(x, blocks, window):
    """x (1 - 1 / window)^blocks, rounded down."""
    if blocks == 0:
        return x
    one = 2**64 - 1
    power, factor, left = one - one // window, one, blocks
    while left > 0:
        if left & 1:
            factor = product(factor, power)
        power = product(power, power)
        left >>= 1
    return product(x, factor)


def stay(age):
    """For how many blocks a job pays that bought nothing."""
    return min(max(age, LEAST_STAY), DAY)


def place_fee(unspent, age):
    """What is burned of the part of a fee that bought nothing."""
    age = stay(age)
    return unspent // DAY * age + unspent % DAY * age // DAY


def worth(fee, reward, volume):
    """What the power for a ut is worth whose fee is this, where those who make blocks train `volume` a day."""
    if fee == 0:
        return 0
    brings = up(reward * DAY * TRAINING_TENTHS * UT, TENTHS * max(volume, 1))
    return max(min(brings, MOST_FEE), fee * POWER_WORTH)


def compute(base, mean, most):
    """What computing a ut counts as, where the markets of all classes paid `mean`."""
    return min(up(base * LEFT_TENTHS * COMPUTE_TIMES, TENTHS) + mean * COMPUTE_TIMES, most)


def covered(work, quoted, now):
    """The work for which a deposit covers the power."""
    return min(quoted, now) * work // now if now > 0 else work


@dataclass(frozen=True)
class Volumes:
    """What was bought and what was posted, as they were at a height."""

    bought: int = 0
    posted: int = 0
    at: int = 0

    def aged(self, now):
        blocks = max(now - self.at, 0)
        return Volumes(
            faded(self.bought, blocks, WINDOW), faded(self.posted, blocks, DAY), max(self.at, now)
        )

    def post(self, work):
        return replace(self, posted=min(self.posted + work, MOST_VOLUME))

    def take_back(self, work, age):
        back = faded(work, age, DAY) * (DAY - stay(age)) // DAY
        return replace(self, posted=max(self.posted - back, 0))

    def buy(self, work):
        return replace(self, bought=min(self.bought + work, MOST_VOLUME))

    def counted(self):
        return max(self.bought, LEAST_BOUGHT)

    def free(self):
        return self.counted() // FREE_PART

    def base(self, reward):
        spent = reward * WINDOW * BURNED_PART * UT
        return min(max(up(spent, PERCENT * self.counted()), LEAST_FEE), MOST_FEE)

    def fee(self, reward, work):
        base = self.base(reward)
        return min(up(base * self.crowding(max(work, 1)), 1 << POINT), MOST_FEE)

    def credited(self, reward, work, fee):
        base = self.base(reward)
        return min(fee, base) * work // base

    def crowding(self, work):
        free = max(self.free(), 1)
        most = free * MOST_CROWDED
        clamp = lambda x: min(max(x, free), most)
        low, high = clamp(self.posted), clamp(self.posted + work)
        plain = min(max(free - self.posted, 0), work)
        square = high - low
        beyond = work - plain - square
        total = (
            (plain << POINT)
            + square * mean_square(low, high, free)
            + beyond * (MOST_CROWDED * MOST_CROWDED << POINT)
        )
        return up(total, work)


def mean_square(low, high, free):
    shift = max(free.bit_length() - SQUARED_BITS, 0)
    low, high, free = low >> shift, high >> shift, max(free >> shift, 1)
    return up((low * low + low * high + high * high) << POINT, 3 * free * free)


def vectors():
    """Lines of what the rule comes to, which the test of the Rust code reads."""
    draw = random.Random(3)
    lines = [
        "# The fee for power, by tools/power/price.py: written by tools/economy-sim --write, read by",
        "# primitives/protocol/src/price/tests.rs. Before: bought, posted, blocks that pass, work, reward, age,",
        "# what those who make blocks train; after: bought, posted, base, fee, posted when the work is taken back,",
        "# work that is credited at the base of before it was bought, what the place costs of a fee as large as the",
        "# reward, what the power is worth, and the work that a deposit covers of which it was worth the reward,",
        "# and what computing counts as where the market paid what they train.",
    ]
    cases = [(0, 0, 0, 1, TRY, 0, 0), (LEAST_BOUGHT, 0, 0, 79_000 * UT, TRY, 100, 5_000 * UT)]
    for _ in range(70):
        bought, posted = draw.getrandbits(draw.randint(30, 61)), draw.getrandbits(draw.randint(20, 58))
        blocks, age = draw.getrandbits(draw.randint(1, 21)), draw.getrandbits(draw.randint(1, 15))
        work, reward = draw.getrandbits(draw.randint(1, 54)), draw.getrandbits(draw.randint(30, 41))
        volume = draw.getrandbits(draw.randint(1, 60))
        cases.append((bought, posted, blocks, work, reward, age, volume))
    for bought, posted, blocks, work, reward, age, volume in cases:
        v = Volumes(bought, posted).aged(blocks)
        base = v.base(reward)
        found = (
            v.bought,
            v.posted,
            base,
            v.fee(reward, work),
            v.post(work).take_back(work, age).posted,
            v.buy(work).credited(reward, work, base),
            place_fee(reward, age),
            worth(v.fee(reward, work), reward, volume),
            covered(work, reward, worth(base, reward, volume)),
            compute(base, volume, TRY),
        )
        lines.append(" ".join(map(str, (bought, posted, blocks, work, reward, age, volume, *found))))
    return "\n".join(lines) + "\n"
