"""The numbers of docs/decisions/0029-a-court-decides-by-recomputing.md: how long a dispute is, and
what deposit makes every known cheat lose.

    python3 tools/slots/court.py            prints its tables, and its sentences that have numbers
    python3 tools/slots/court.py --write    puts the tables into it

The tests compare each cell and each sentence. Money is in TRY, time in seconds."""

import argparse
import math
import pathlib
from dataclasses import dataclass

import numpy as np

from attacks import FLOP_PER_UT, looks, majority, uncaught, withheld
from markdown import fill, percent, table

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "decisions" / "0029-a-court-decides-by-recomputing.md"

FAN = 64  # most parts of a range
FANS = (16, 32, 64)
HASH, CHUNK, KIB = 32, 1024, 1024
JUDGEMENT = 232 * KIB  # openings of the last call, as the table counts them
MOST_RESULTS = 6_656  # of a step
# Bytes of a transaction beside what it brings.
AROUND_POST, DENIAL, CHALLENGE, AROUND_JUDGEMENT = 200, 150, 400, 1_500

MOST_SEGMENTS = 65_536  # primitives/program/src/spec/mod.rs, MAX_SEGMENTS
MULTIPLE = 3  # of the larger of the price and what the power is worth
LOST = 3 / 4  # of a deposit: a quarter may go to a friend that is the finder
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)  # of power and bonds that the cheat owns
DRAWS, DRAWN_OF, MOST_DRAWS = 45, 1_000, 16  # own draws of all seats, of so many segments
# Replays beside these: the first segment, the last, two that moved most, two that another seat replayed.
DUTIES, DUTIES_OF_EACH = 6, 4
MOST_OF_ONE = 2  # of these by one seat, beyond its draws: a pick or the first and the last, and what another one replayed
CLASS_RATE = 2e9  # FLOP/s of the machine class gib8
CLOCK = 4 * 3600
BLOCK = 6
MOST_WINDOWS = 42  # primitives/traits/src/court.rs, MAX_WINDOWS
PRICE_OF_1000 = 1_021.3  # docs/protocol.md: price of a job of 1,000 ut at 1 TRY
DAY = 86_400
RELAY_SEATS, APPEAL_SEATS = 31, 61  # primitives/protocol/src/relay.rs
PRICE_PART = 1_250  # a seat of a relay earns at least this part of the price
RELAY_FEE, SAMPLES_PART = 0.5, 10  # for 4 GiB; samples are paid a tenth


@dataclass
class Job:
    """A job by its sizes: FLOP, segments and steps of each, results of a step, chunks of the
    largest, stretches of the longest chain, and FLOP/s of the machines that train it."""

    name: str
    sizes: str
    flop: float
    segments: int
    steps: int
    results: int
    chunks: int
    stretches: int
    rate: float = CLASS_RATE

    @property
    def segment(self):
        return self.flop / self.segments

    @property
    def step(self):
        return self.segment / self.steps

    @property
    def defence(self):
        """What a defence computes at most, FLOP: 2 segments and 16 steps."""
        return 2 * self.segment + 16 * self.step

    @property
    def clock(self):
        """Each side's clock, s: two disputes are heard at a time."""
        return 2 * self.defence / self.rate + CLOCK

    @property
    def work(self):
        """Blocks of work of a defence."""
        return math.ceil(self.defence / self.rate / BLOCK)

    @property
    def ticks(self):
        """A clock, in blocks."""
        return 2 * self.work + CLOCK // BLOCK

    def grown(self, others):
        """The clock of a defence beside so many others of the same account, in blocks."""
        return self.ticks + min(others * self.work, MOST_WINDOWS * CLOCK // BLOCK)

    def fitting(self, defences):
        """The number of segments with which so many defences fit into four hours; none where their steps
        alone do not."""
        left = CLOCK * self.rate / defences - 16 * self.step
        return math.ceil(2 * self.flop / left) if left > 0 else None

    @property
    def challenge_deposit(self):
        """Three TRY each for fees of moves and posts in the state, and a defence's price at the most that computing
        counts as, 1 TRY a ut."""
        return 6 + self.defence / FLOP_PER_UT

    @property
    def price(self):
        return self.flop / FLOP_PER_UT


JOBS = [
    Job("10^9", "10^9 (digits)", 1.8e9, 30, 50, 44, 16, 1),
    Job("10^12 (11.7)", "10^12 (characters, 11.7 x 10^12)", 11.7e12, 10, 200, 862, 2**11, 16),
    Job("10^15", "10^15 (8 blocks, width 512)", 1e15, 400, 2, 1_650, 2**16, 128),
    Job("10^18", "10^18 (24 blocks, computed)", 1e18, 1_000, 2, 4_802, 2**24, 4_096, 20e12),
]
# The longest that is valid: its longest chain reads 2^29 terms by columns, 128 in a stretch.
LONGEST = Job("longest", "", 0, 1, 10**8, MOST_RESULTS, 2**22, 2**22)


# The longest segments of an audit: a seat replays three of a result in 7/12 of a day.
LARGEST = Job("largest segments", "", 7 / 12 * DAY * CLASS_RATE, 3, 10**6, MOST_RESULTS, 2**22, 2**22)


# The length of a dispute


def levels(fan, count):
    """The least `r` with `fan^r >= count`."""
    found = 0
    while fan**found < count:
        found += 1
    return found


def rounds(job, fan=FAN):
    """A root is denied so often until a piece is left: steps, results, chunks, the chunk's
    elements, and stretches of a chain."""
    inner = levels(fan, job.chunks) + 1 + levels(fan, job.stretches)
    return max(1, levels(fan, job.steps)) + max(1, levels(fan, job.results)) + inner


def transactions(job, fan=FAN):
    """A commitment, the challenge, two in each round, and the judgement."""
    return 2 + 2 * rounds(job, fan) + 1


def moved(job, fan=FAN):
    """Bytes of all moves, at most."""
    posts = rounds(job, fan) * (HASH * fan + AROUND_POST + DENIAL)
    return posts + CHALLENGE + AROUND_JUDGEMENT + JUDGEMENT


def opening(chunks, of):
    """Bytes that open so many chunks of a content of `of` chunks, at most."""
    chunks = min(chunks, of)
    return chunks * CHUNK + HASH * chunks * math.log2(of / chunks)


# What an audit finds. S seats; N segments; k own draws of a seat, of which the first seat has one less
# where they are three at least.


def own_draws(segments, seats):
    """The least number of segments that a seat draws of a result."""
    least = math.ceil(DRAWS * min(segments, DRAWN_OF) / (DRAWN_OF * seats))
    return max(1, min(MOST_DRAWS, least))


def first_draws(k):
    """The segments that the first seat draws, which replays two by its duty."""
    return k - (k > 2)


def found(false, segments, seats, share):
    """The probability that a seat that is not the cheat's draws one of the false segments."""
    k = own_draws(segments, seats)
    first, other = (share + (1 - share) * uncaught(false, segments, n) for n in (first_draws(k), k))
    return 1 - first * other ** (seats - 1)


def forced(segments):
    """The number of forced errors of a result."""
    return min(16, math.ceil(segments / 16))


def hit(segments, seats=3):
    """The probability that a forced error is among the own draws of the first seat."""
    return 1 - uncaught(forced(segments), segments, first_draws(own_draws(segments, seats)))


def stake(segments, seats=3):
    """What a seat stakes for its guess, in fees."""
    return 5 / 4 / hit(segments, seats)


# What a seat has of an audit, in fees. A tenth of all fees is for those who find forced errors.


def replaying(segments, seats=3):
    """The first seat replays, and so does everybody else: what it has on the average of fee and prizes. The
    prize is shared by those who find something, of whom the others draw one segment more where they draw
    three at least."""
    k = own_draws(segments, seats)
    first, other = (1 - uncaught(forced(segments), segments, n) for n in (first_draws(k), k))
    return 0.9 + 0.1 * first / other * (1 - (1 - other) ** seats)


def agreeing(segments, seats=3):
    """It says that all traces that the trainer gave it are right."""
    return (1 - hit(segments, seats)) * 0.9 - hit(segments, seats) * stake(segments, seats)


def differing(segments, seats=3):
    """It says of all that they differ, and names traces that it made up: none of them is the true one."""
    return -stake(segments, seats)


# Attacks: the probabilities `p` that no honest party finds them, and their gains `g` in units of
# the larger of price and fee, as arrays over what the cheat may choose.


def no_segment(S, N, k, w):
    """No segment is real."""
    return np.array([w**S]), np.array([2.0])


def some_segments(S, N, k, w):
    """A share `x` of the segments is not real."""
    x = np.arange(1, N + 1) / N
    return over_seats(lambda n: w + (1 - w) * (1 - x) ** n, S, k), 2 * x


def standstill(S, N, k, w):
    """A jump to a state that stands still, after the share `y` of the segments."""
    y = np.arange(N) / N
    return w * (w + (1 - w) * y**k) ** (S - 1), 2 * (1 - y)


def shown(seats):
    """A jump that so many of the two seats see that look at movement: one at the parameters, the other at
    the moments."""
    return lambda S, N, k, w: (np.array([w**seats * missed(S - seats, N, k, w)]), np.array([2.0]))


def hidden(saved):
    """A jump that neither movement nor standstill shows, and that saves this share."""
    return lambda S, N, k, w: (np.array([missed(S, N, k, w)]), np.array([2.0 * saved]))


def misled(w):
    """The probability that a relay's answer is what an owner of this share of the bonds wants, where somebody doubts
    it: it has a majority of both committees together."""
    return float(majority(w, RELAY_SEATS + APPEAL_SEATS))


def unopened(S, N, k, w):
    """A jump of which nobody opens the samples that would show it. The two seats that look at movement draw one
    segment more each, and one of them that is not the cheat's asks a relay: the result is lost, or what it has
    shows the jump, but where the relay is the cheat's."""
    q = (1 - 1 / N) ** np.array([first_draws(k), k + 1, k])
    first, blind, other = w + (1 - w) * q
    asked = (1 - w) ** 2 * q[1] ** 2 + 2 * w * (1 - w) * q[1]
    assert abs(asked + w**2 - blind**2) < 1e-12
    p = first * other ** (S - 3) * (w**2 + asked * misled(w))
    return np.array([p]), np.array([2.0])


def unasked(S, N, k, w):
    """The same where nobody asked a relay."""
    one = lambda n: w + (1 - w) * (1 - 1 / N) ** n
    p = one(first_draws(k)) * one(k + 1) ** 2 * one(k) ** (S - 3)
    return np.array([p]), np.array([2.0])


def among(seats, w, k):
    """The probability that so many seats are the cheat's."""
    return math.comb(seats, k) * w**k * (1 - w) ** (seats - k)


def asking(w):
    """What an owner of this share of the bonds has, in prices, that posted a job and asks a relay for what its honest
    trainer serves. It looks at how many seats of the committee are its own. Either these say the truth, and it pays
    the others; or it goes on: they deny it, it doubts the answer that it is held, and has its price back where both
    committees together deny it, or pays all others. Where they are a majority, the trainer doubts."""
    least = (RELAY_SEATS + APPEAL_SEATS) // 2 + 1
    fee, has = 1 / PRICE_PART, 0.0
    for own in range(RELAY_SEATS + 1):
        others = RELAY_SEATS - own
        wins = sum(among(APPEAL_SEATS, w, k) for k in range(max(0, least - own), APPEAL_SEATS + 1))
        costs = RELAY_SEATS if own > others else others + APPEAL_SEATS * (1 - w)
        has += among(RELAY_SEATS, w, own) * max(-others * fee, wins - (1 - wins) * costs * fee)
    return has


def over_seats(one, seats, k):
    """What `one` is of a seat that draws so many, multiplied over seats of which one is the first."""
    return one(first_draws(k)) * one(k) ** (seats - 1)


def missed(seats, N, k, w):
    """The probability that each of so many seats, of which one is the first, is the cheat's or does not
    draw the one false segment."""
    return over_seats(lambda n: w + (1 - w) * (1 - 1 / N) ** n, seats, k)


SEEN_TWICE, SEEN_ONCE = shown(2), shown(1)
LISTED = (no_segment, some_segments, standstill, SEEN_TWICE, SEEN_ONCE, unopened)
HIDDEN = tuple(hidden(saved) for saved in (1 / 3, 1 / 2, 1))


def gain(attack, multiple, S, N, k, w):
    """What an attack brings at its best, where its author withholds one block."""
    p, g = attack(S, N, k, w)
    q = looks(w, p)
    return float((q * g - (1 - q) * LOST * multiple).max())


def needed(attack, S, N, k, w):
    """The multiple at which an attack brings nothing."""
    p, g = attack(S, N, k, w)
    q = looks(w, p)
    return float((q * g / (LOST * (1 - q))).max())


def bound(S, k, w):
    """The multiple against a share that is not real, for small shares: the most over `N`."""
    return 8 / (3 * (first_draws(k) + k * (S - 1)) * (1 - w) ** 2)


def least_multiple():
    """The least multiple that holds against each listed attack, for every job and committee."""
    return max(
        needed(attack, S, N, own_draws(N, S), w)
        for attack in LISTED
        for S in range(3, 16, 2)
        for N in (*range(1, DRAWN_OF + 1), MOST_SEGMENTS)
        for w in SHARES
    )


# Tables


def count(n):
    """A number with its groups, or as a power of two where that is shorter."""
    power = round(math.log2(n))
    return f"2^{power}" if n >= 2**20 and n == 2**power else f"{n:,}"


def sizes_table():
    columns = ["job, FLOP", "segments x steps", "results", "chunks of the largest", "stretches"]
    for what in ("rounds", "transactions", "KiB"):
        columns += [f"{what}: {FANS[0]}", *map(str, FANS[1:])]
    rows = []
    for job in JOBS:
        sizes = [count(n) for n in (job.results, job.chunks, job.stretches)]
        row = [job.sizes, f"{job.segments:,} x {job.steps}", *sizes]
        row += [str(rounds(job, fan)) for fan in FANS]
        row += [str(transactions(job, fan)) for fan in FANS]
        row += [f"{moved(job, fan) / KIB:.0f}" for fan in FANS]
        rows.append(row)
    return table(columns, rows)


# Attack, its name, and the committees (S, N) of its rows.
ROWS = (
    (no_segment, "no segment is real", ((3, None),)),
    (some_segments, "a share is not", ((3, 30), (3, 100), (3, 1_000), (15, 1_000))),
    (standstill, "jump to a standstill", ((3, 30), (3, 1_000))),
    (SEEN_TWICE, "jump that parameters and moments show", ((3, 1_000), (15, 1_000))),
    (SEEN_ONCE, "jump that one of them shows", ((3, 1_000), (15, 1_000))),
    (unopened, "jump of which nobody opens samples", ((3, 1_000), (15, 1_000))),
    (hidden(1), "hidden, saves all", ((3, 30), (3, 1_000))),
    (hidden(0.05), "hidden, saves 5 %", ((3, 1_000),)),
)


def attacks_table():
    columns = ["attack", "S, N, k", "w = 0", *(f"{100 * w:.0f} %" for w in SHARES[1:])]
    figures, most = [], 0.0
    for attack, name, committees in ROWS:
        for place, (S, N) in enumerate(committees):
            # Where no segment is real their number changes nothing.
            k = own_draws(N or DRAWN_OF, S)
            row = [needed(attack, S, N or DRAWN_OF, k, w) for w in SHARES]
            if attack in LISTED:
                most = max(most, *row)
            committee = f"{S}, {N:,}, {k}" if N else f"{S}, any"
            figures.append(("" if place else name, committee, row))

    def cell(multiple):
        if multiple == 0:
            return "0"
        if multiple == most:
            return f"**{multiple:.2f}**"
        return f"{multiple:.2f}" if multiple < 10 else f"{multiple:.1f}"

    return table(columns, [[name, who, *map(cell, row)] for name, who, row in figures])


def withholding_table(segments=30, draws=3):
    """What shares of power and of bonds bring to who also withholds blocks, of committees of three whose
    seats draw so many segments each: a table of docs/proof-of-hashrate.md. Gains are in units of the
    larger of price and fee; the author counts as if it chose what seats draw, which nobody knows."""
    columns = [
        "share of power and bonds",
        "majority of 3 seats",
        "with withholding",
        "of 15 seats",
        "with withholding",
        f"1 false of {segments} found by 3 seats, {first_draws(draws)}, {draws} and {draws} drawn",
        "with withholding",
        "a jump to a standstill brings",
        "a hidden jump that saves a third",
        "that saves half",
        "that saves all",
        "blocks withheld for a majority of 3",
    ]
    rows = []
    for share in SHARES[1:]:
        three, fifteen = majority(share), majority(share, 15)
        safe = missed(3, segments, draws, share)
        brings = [gain(a, MULTIPLE, 3, segments, draws, share) for a in (standstill, *HIDDEN)]
        rows.append(
            [
                f"{share:.0%}",
                *[percent(x, 2) for x in (three, looks(share, three))],
                *[percent(x, 3) for x in (fifteen, looks(share, fifteen))],
                *[percent(x) for x in (1 - safe, 1 - looks(share, safe))],
                *[f"{x:+.2f}" for x in brings],
                f"{withheld(share, three):.2f}",
            ]
        )
    return table(columns, rows)


def defences_table():
    columns = ["job", "segment, s", "step, s", "a defence at most, s", "clock, h"]

    def cell(seconds):
        digits = 0 if seconds >= 10 else 1 if seconds >= 1 else -math.floor(math.log10(seconds))
        return f"{seconds:,.{digits}f}"

    rows = []
    for job in JOBS:
        rate = f"{job.rate / 1e9:.0f} GFLOP/s" if job.rate < 1e12 else f"{job.rate / 1e12:.0f} TFLOP/s"
        times = [cell(work / job.rate) for work in (job.segment, job.step, job.defence)]
        rows.append([f"{job.name}, {rate}", *times, f"{job.clock / 3600:.1f}"])
    return table(columns, rows)


def several_table():
    """What becomes of an account that is accused in several jobs."""
    columns = [
        "job",
        "a defence, blocks",
        "a clock alone",
        "defences that fit it",
        "beside 2 others",
        "beside 9",
        "beside 99",
        "segments of which ten defences fit four hours",
    ]
    rows = []
    for job in (JOBS[0], JOBS[1], JOBS[2], LARGEST, JOBS[3]):
        fitting = job.fitting(10)
        needed = "none: 16 steps do not" if fitting is None else f"{max(fitting, job.segments):,}, of {job.segments:,}"
        clocks = [f"{clock:,}" for clock in (job.ticks, *map(job.grown, (2, 9, 99)))]
        cells = [job.name, f"{job.work:,}", clocks[0], f"{job.ticks // job.work:,}", *clocks[1:], needed]
        rows.append(cells)
    return table(columns, rows)


def guesses_table():
    columns = ["seats, segments, draws", "hit", "stake", "replays", "agrees with all", "differs in all"]
    rows = []
    for seats, segments in ((3, 1), (3, 30), (3, 100), (3, 1_000), (15, 1_000)):
        draws = own_draws(segments, seats)
        has = [f(segments, seats) for f in (replaying, agreeing, differing)]
        cells = [f"{hit(segments, seats):.3f}", f"{stake(segments, seats):.1f}"]
        rows.append([f"{seats}, {segments:,}, {draws}", *cells, *[f"{x:+.2f}" for x in has]])
    return table(columns, rows)


TABLES = {
    "court-guesses": guesses_table,
    "court-sizes": sizes_table,
    "court-attacks": attacks_table,
    "court-defences": defences_table,
    "court-several": several_table,
}


# Sentences


def listed(texts):
    """Texts one after the other, the last after *and*."""
    return ", ".join(texts[:-1]) + " and " + texts[-1]


def sentences():
    """The parts of the record's sentences that have computed numbers."""
    words = {0: "none", 2: "two"}
    saved = [words[transactions(job) - transactions(job, 128)] for job in (JOBS[1], JOBS[3])]
    dearer = [(moved(job) - moved(job, 16)) / KIB for job in JOBS]
    fewer = [transactions(job, 16) - transactions(job) for job in JOBS]
    columns = [2 * opening(64, 2**24), 2 * opening(64, 2**11), opening(128, 2**24)]
    columns = [f"{size / KIB:.0f} KiB" for size in columns]
    rows = 2 * 16_384 * 4 // KIB
    # A chunk, its path, and the path of its tensor among all results.
    rest = 6 * (opening(1, 2**24) + HASH * levels(2, MOST_RESULTS)) / KIB
    ordinary = 5 * 2**20 // 4 * 3 - 2 * (2**20 + 4_096)
    room = 7 / 12 * DAY * CLASS_RATE
    most = room / (own_draws(DRAWN_OF, 3) + MOST_OF_ONE) * DRAWN_OF
    drawn = [(n, own_draws(n, 3)) for n in (30, 100, 1_000)]
    replays = [(n, 2 * k + first_draws(k) + DUTIES) for n, k in drawn]
    assert {own_draws(1_000, S) * S for S in (3, 5, 9, 15)} == {DRAWS}
    everybody = [(DRAWS + DUTIES_OF_EACH * S) / 1_000 for S in (3, 15)]
    ten = [found(100, 1_000, S, w) for S, w in ((15, 0), (3, 0.4), (15, 0.4))]
    return [
        f"64 costs {min(dearer):.0f} to {max(dearer):.0f} KiB more than 16 and saves "
        f"{min(fewer)} to {max(fewer)} transactions",
        f"128 saves {saved[0]} at 10^12 and {saved[1]} at 10^18",
        f"takes {rounds(LONGEST)} rounds and {transactions(LONGEST)} transactions",
        f"64 terms cost {columns[0]} at `n = 2^24` and {columns[1]} at 2^11; of one, 128 terms "
        f"{columns[2]}; of rows alone, 16,384 terms {rows} KiB",
        f"(six tensors at most) adds {rest:.0f} KiB",
        f"more than {MOST_RESULTS:,} results in a step ({MOST_RESULTS * HASH // KIB} KiB in a",
        f"falls from {ordinary:,} to {ordinary - 256 * KIB:,} bytes",
        f"For 1,000 ut at 1 TRY that is {MULTIPLE * PRICE_OF_1000:,.0f} TRY",
        f"For the jobs above: {listed([f'{job.challenge_deposit:,.0f}' for job in JOBS])} TRY, of "
        f"prices of {JOBS[0].price:.3f}, {JOBS[1].price:.0f}, {JOBS[2].price:,.0f} and "
        f"{JOBS[3].price / 1e6:.1f} million TRY",
        f"on their classes: {listed([f'{job.clock / 3600:.1f}' for job in JOBS])} hours",
        f"32 times two clocks, about {32 * 2 * JOBS[0].clock / DAY:.0f} days for a small job",
        f"{replays[-1][1]} of 1,000 segments are {percent(replays[-1][1] / 1_000)} of the training",
        f"{DRAWS - 1} draws find 10 % of false segments with {percent(ten[0])}",
        f"three seats would need {percent(everybody[0])} and fifteen {percent(everybody[1])}",
        f"with 40 % of three seats {percent(ten[1])}, of fifteen {percent(ten[2])}",
        f"a majority of 31 with {percent(majority(0.4, 31))}",
        f"is {listed([f'{hit(n):.3f}' for n in (30, 100, 1_000)])} for 30, 100 and 1,000 segments "
        f"(k = {', '.join(str(first_draws(k)) for _, k in drawn)})",
        f"of both together with {percent(misled(0.4))}, and who posted a job and asks loses {percent(-asking(0.4), 2)} of its price on the average",
        f"So a relay of samples costs {31 * RELAY_FEE / SAMPLES_PART:.2f} TRY, or {percent(31 / PRICE_PART, 2)} of the price",
        f"a single jump among 1,000 segments would be found with {percent(1 - unasked(3, 1_000, 15, 0)[0][0])}",
        f"one draw of three seats and 40 % at most {bound(3, 1, 0.4):.2f}",
        f"the least multiple that holds for every job is {least_multiple():.2f}",
        "cost more to check: " + ", ".join(f"{most} of {n:,}" for n, most in replays),
        f"{needed(hidden(1), 3, 1_000, 15, 0):.0f} times the price at 1,000 segments",
        f"replays about {room / FLOP_PER_UT / 10:.0f}0 ut in its day at most, so jobs of three seats end "
        f"at about {most / FLOP_PER_UT / 1000:.0f},000 ut ({most / 1e15:.0f} x 10^15 FLOP)",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the record, print the rest")
    options = parser.parse_args()
    text = RECORD.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        if options.write:
            text = fill(text, name, make())
        else:
            print(f"## {name}\n\n{make()}")
    if options.write:
        RECORD.write_text(text, encoding="utf-8")
    for sentence in sentences():
        print(f"- ... {sentence} ...")


if __name__ == "__main__":
    main()
