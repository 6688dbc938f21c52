"""Rules of the chain that these simulations use, in integers as on chain. `check` compares them with the Rust sources
and with the table of docs/protocol.md, so that they cannot drift apart unseen. Money in TRY / 10^12, work in ut."""

import dataclasses
import functools
import math
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRY = 10**12
# primitives/protocol/src/duties.rs
DRAWS, OF_SEGMENTS, MAX_DRAWS = 45, 1_000, 16
MAX_FORCED, FORCED_SHARE = 16, 16
# primitives/protocol/src/fees.rs
COMPUTE_PRICE, DEPOSIT_MULTIPLE, CHALLENGE_BASE, ROUNDS = TRY, 3, 6 * TRY, 3
# runtime/src/configs: the least fee of a seat, and the least stake
MIN_AUDIT_FEE, SEAT_STAKE = TRY // 10, 10 * TRY
# primitives/protocol/src/reputation.rs
HALF_LIFE, LEAST_BLAME, UNKNOWN, CONVICTION_COUNTS, WHOLE = 403_200, TRY // 100, 10 * TRY, 4, 1_000_000
DAY = 14_400
# The fees of one verdict (a commitment and a revelation), docs/security.md, `selective-serving`.
VERDICT_FEES = TRY // 20
# The jobs of primitives/protocol/tests/deposits.rs: steps of a thousandth of a ut, in intervals of 1,880, and
# evaluations of 0.04 ut. In thousandths of a ut.
STEP, INTERVAL, EVALUATION = 1, 1_880, 40


def ceil_div(a, b):
    return -(-a // b)


def least_draws(segments, seats):
    """How many segments each seat draws at least."""
    return max(1, ceil_div(DRAWS * min(segments, OF_SEGMENTS), OF_SEGMENTS * max(seats, 1)))


def own_draws(draws, seat):
    """How many of them the seat of this number draws: the first one less, of three or more."""
    return draws - (1 if seat == 0 and draws > 2 else 0)


def replays(draws, segments):
    """The most segments that one seat replays of a single result."""
    return min(segments, max(own_draws(draws, 0) + 2, draws + 1))


def forced_errors(segments):
    return min(MAX_FORCED, ceil_div(segments, FORCED_SHARE))


def hit(segments, draws):
    """The probability that so many draws hit a forced error."""
    return 1 - math.comb(segments - forced_errors(segments), min(draws, segments)) / math.comb(
        segments, min(draws, segments)
    )


@dataclasses.dataclass(frozen=True)
class Job:
    """A job of this much training, in ut, of which the price is `price` for a ut."""

    training: int
    price_per_ut: int = TRY

    @property
    def steps(self):
        return 1_000 * self.training

    @functools.cached_property
    def segments(self):
        return ceil_div(self.steps, INTERVAL)

    @functools.cached_property
    def work(self):
        """Steps and evaluations, in thousandths of a ut."""
        return STEP * self.steps + EVALUATION * (self.segments + 1)

    @functools.cached_property
    def price(self):
        return self.work * self.price_per_ut // 1_000

    @property
    def longest(self):
        """The longest segment with the evaluation at its end, in thousandths of a ut."""
        return STEP * min(INTERVAL, self.steps) + EVALUATION

    def audit_work(self, replayed):
        """What a seat is paid for that replays so many segments: one more, and two evaluations. The looks at states
        for a standstill are left out; those jobs have next to none."""
        return (replayed + 1) * self.longest + 2 * EVALUATION

    def audit_fee(self, seats=3, replayed=None, compute=COMPUTE_PRICE):
        """The least fee of a seat in a round."""
        if replayed is None:
            replayed = replays(least_draws(self.segments, seats), self.segments)
        return max(MIN_AUDIT_FEE, ceil_div(self.audit_work(replayed) * compute, 1_000))

    def challenge(self, compute=COMPUTE_PRICE):
        """The deposit of a challenge: what a defence costs at most."""
        work = 2 * self.longest + 16 * STEP
        return CHALLENGE_BASE + ceil_div(work * compute, 1_000)

    def seat_stake(self, fee, draws):
        """What a seat puts at stake, so that guessing forced errors does not pay."""
        guess = math.ceil(1.25 * fee / hit(self.segments, own_draws(draws, 0)))
        return max(SEAT_STAKE, self.challenge(), guess)


SIZES = (1, 10, 100, 1_000, 10_000)


def factors():
    """The table of primitives/protocol/src/decay.rs."""
    source = (ROOT / "primitives/protocol/src/decay.rs").read_text()
    table = source.split("const FACTORS")[1].split("];")[0]
    found = [int(word.replace("_", ""), 16) for word in re.findall(r"0x[0-9a-f_]+", table)]
    assert len(found) == 64, len(found)
    return found


FACTORS = factors()


def multiply(x, f):
    """`x f / 2^64`, rounded to nearest as on chain."""
    return (x >> 64) * f + (((x & (2**64 - 1)) * f + 2**63) >> 64)


@functools.cache
def factor(rest, half_life):
    """`2^(-rest / half_life)` with 64 fractional bits, as on chain."""
    bits, product = (rest << 64) // half_life, 2**64
    for step in FACTORS:
        if bits >> 63:
            product = multiply(product, step)
        bits = (bits << 1) & (2**64 - 1)
    return product


def decayed(value, elapsed, half_life=HALF_LIFE):
    """`value 2^(-elapsed / half_life)`, as on chain."""
    return multiply(value, factor(elapsed % half_life, half_life)) >> (elapsed // half_life)


@dataclasses.dataclass
class Record:
    """What an account did as a trainer: sums of burned fees, as they are at height `at`."""

    done: int = 0
    failed: int = 0
    convicted: int = 0
    at: int = 0

    def aged(self, now):
        by = now - self.at
        if by > 0:
            self.done, self.failed = decayed(self.done, by), decayed(self.failed, by)
            self.convicted, self.at = decayed(self.convicted, by), now
        return self

    def right(self, prior=UNKNOWN):
        """The forecast on chain, in millionths: `Record::right`. `prior` is what is known of everybody."""
        wrong = self.failed + CONVICTION_COUNTS * self.convicted
        return min(WHOLE, WHOLE * (prior - prior // 10 + self.done) // (prior + self.done + wrong))


def check():
    """Asserts that all of this is what the chain has."""

    def source(path):
        return (ROOT / path).read_text()

    duties = source("primitives/protocol/src/duties.rs")
    for line in (
        f"pub const DRAWS: u32 = {DRAWS};",
        f"pub const OF_SEGMENTS: u32 = {OF_SEGMENTS:_};",
        f"pub const MAX_FORCED: u32 = {MAX_FORCED};",
        f"pub const FORCED_SHARE: u32 = {FORCED_SHARE};",
    ):
        assert line in duties, line
    expected = re.findall(r"\t\t\t\(([0-9_]+), ([0-9]+), ([0-9]+)\),\n", duties)
    assert len(expected) == 10, expected
    for segments, seats, draws in expected:
        assert least_draws(int(segments.replace("_", "")), int(seats)) == int(draws), (segments, seats)
    assert [forced_errors(n) for n in (1, 16, 17, 100, 256, 1_000)] == [1, 1, 2, 7, 16, 16]
    for segments, draws, found in ((30, 1, 67), (100, 2, 136), (1_000, 14, 203)):
        assert round(1_000 * hit(segments, draws)) == found
    fees = source("primitives/protocol/src/fees.rs")
    for line in (
        f"pub const COMPUTE_PRICE: Balance = {COMPUTE_PRICE:_};",
        f"pub const DEPOSIT_MULTIPLE: Balance = {DEPOSIT_MULTIPLE};",
        f"pub const CHALLENGE_BASE: Balance = {CHALLENGE_BASE:_};",
        "let (burned, quarter) = (rest / 2, rest / 4);",
    ):
        assert line in fees, line
    reputation = source("primitives/protocol/src/reputation.rs")
    for line in (
        f"pub const HALF_LIFE: BlockNumber = {HALF_LIFE:_};",
        f"pub const LEAST_BLAME: Balance = {LEAST_BLAME:_};",
        f"pub const UNKNOWN: Balance = {UNKNOWN:_};",
        f"pub const CONVICTION_COUNTS: Balance = {CONVICTION_COUNTS};",
    ):
        assert line in reputation, line
    # What the test of `Record::right` expects.
    kinds = {"Done": "done", "Failed": "failed", "Convicted": "convicted"}
    pattern = r"right\(&\[\(Deed::(\w+), (\d+) \* TRY\)\]\), ([0-9_]+)\)"
    expected = re.findall(pattern, reputation)
    assert len(expected) == 4, expected
    for deed, burned, millionths in expected:
        known = {kinds[deed]: int(burned) * TRY} if deed in kinds else {}
        assert Record(**known).right() == int(millionths.replace("_", "")), deed
    aged = Record(8 * TRY, 2 * TRY, TRY).aged(HALF_LIFE)
    assert (aged.done, aged.failed, aged.convicted) == (4 * TRY, TRY, TRY // 2)
    # The table of docs/protocol.md: segments, price, draws, audit, deposit.
    protocol = source("docs/protocol.md")
    for training in SIZES:
        job = Job(training)
        fee = job.audit_fee()
        deposit = max(TRY, DEPOSIT_MULTIPLE * job.price) + 3 * ROUNDS * fee
        cells = [f"| {training:,} | {job.segments:,} | {shown(job.price)} |"]
        cells += [f"| {least_draws(job.segments, 3)} | {shown(3 * fee)} |", f"| {shown(deposit)} |"]
        rows = [row for row in protocol.splitlines() if row.startswith(cells[0])]
        assert len(rows) == 1 and all(cell in rows[0] for cell in cells), (cells, rows)
    assert "about 0.05 TRY of fees for a verdict" in source("docs/security.md")
    assert f"pub const MIN_AUDIT_FEE: Balance = {MIN_AUDIT_FEE:_};" in source("primitives/protocol/src/job.rs")
    assert f"SeatStake: Balance = {SEAT_STAKE // TRY} * TRY;" in source("runtime/src/configs/audits.rs")


def shown(amount):
    """`amount` in TRY, rounded to tenths, as in the table of docs/protocol.md."""
    text = f"{(amount + TRY // 20) // (TRY // 10) / 10:,.1f}"
    return text[:-2] if text.endswith(".0") else text
