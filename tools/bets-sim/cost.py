"""What checking costs for each unit of work, by mechanism: what seats replay, in percent of the work of the job."""

import dataclasses

import rules
import wagers
from markdown import percent, table
from rules import SIZES, TRY, Job

# What the essay allows: the most overhead that decentralised hardware, about five times cheaper, can bear.
BOUND, CHEAPER = 2.0, 5
# What TrueBit's authors expect (Teutsch and Reitwiessner, 2017).
TRUEBIT = (5.0, 50.0)
SEATS = (3, 15)
STRATA = (2, 10, 100)
# Seats that replay a segment of another one again, by a second seed.
AGAIN = 2
# Evaluations of a seat beside those of the segments that it replays: of the first state and of the last.
EVALUATIONS = 2


@dataclasses.dataclass
class Cost:
    """Means, in units of the job's work, but for `verdicts`, how many there are. `draws`, `duties` and `again` are
    without evaluations."""

    draws: float
    duties: float
    again: float
    evaluations: float
    verdicts: float
    paid: float

    @property
    def all(self):
        return self.draws + self.duties + self.again + self.evaluations


def of_segments(job, draws, duties, evaluations, verdicts, paid):
    """The cost of replaying so many segments."""
    step = job.steps / job.segments / job.work
    evaluated = (draws + duties + AGAIN + evaluations) * rules.EVALUATION / job.work
    return Cost(draws * step, duties * step, AGAIN * step, evaluated, verdicts, paid)


def escrow(job, seats):
    """The committee of today: each seat draws for itself, seat 0 replays the first segment and the last as well, seats
    1 and 2 one that moved far. A segment that a seat has drawn already is no more work for its duty."""
    n = job.segments
    draws = rules.least_draws(n, seats)
    own = [min(n, rules.own_draws(draws, seat)) for seat in range(seats)]
    duties = [min(n, 2), 1, 1] + [0] * (seats - 3)
    more = sum(duty * (1 - drawn / n) for duty, drawn in zip(duties, own))
    paid = seats * job.audit_fee(seats) / job.price
    return of_segments(job, sum(own), more, EVALUATIONS * seats, seats, paid)


def lottery(job, strata):
    """One seat for each winner, and the duties of seats 0, 1 and 2, each by one seat, where they are no winners."""
    n = job.segments
    winners = n / strata
    more = min(n, 4) * (1 - 1 / strata)
    seats = 1 if n < 3 else 3
    # Each seat is paid for what it replays, by the rule of today.
    replayed = winners + more + seats
    work = replayed * job.longest + EVALUATIONS * rules.EVALUATION * (winners + seats)
    return of_segments(job, winners, more, EVALUATIONS, winners + seats, work / job.work)


def rows():
    """Each mechanism and job."""
    for training in SIZES:
        for seats in SEATS:
            yield f"escrow, {seats} seats", Job(training), escrow(Job(training), seats)
        for strata in STRATA:
            yield f"lottery, p = 1/{strata}", Job(training), lottery(Job(training), strata)


def whole(x):
    """A share in percent, with as many digits as say something."""
    return f"{100 * x:,.0f} %" if x >= 1 else f"{100 * x:.2g} %" if x < 0.1 else f"{100 * x:.1f} %"


def cost_table():
    columns = ["mechanism", "segments", "draws", "duties", "again", "evaluations", "**in all**"]
    columns += ["fees of verdicts, at 1 TRY a ut", "paid to seats at 1 TRY a ut"]
    lines = []
    for name, job, cost in rows():
        fees = cost.verdicts * rules.VERDICT_FEES / job.price
        parts = [cost.draws, cost.duties, cost.again, cost.evaluations]
        line = [name, f"{job.segments:,}", *map(whole, parts), f"**{whole(cost.all)}**", whole(fees), whole(cost.paid)]
        lines.append(line)
    return table(columns, lines)


def bets_table():
    """The same of bets that settle unasked, where takers check as often as it pays them."""
    columns = ["bets, at stake", "a check costs", "checked", "**checking, of the work**", "false, of the work"]
    lines = []
    for segments in wagers.CHECKS:
        for stake in wagers.STAKES:
            game = wagers.Game(stake, 1 / segments)
            what = "all of the work" if segments == 1 else f"one segment of {segments:,}"
            line = [f"{stake} prices", what, whole(game.checked)]
            lines.append(line + [f"**{whole(game.checked / segments)}**", whole(game.false)])
    return table(columns, lines)


def facts():
    found = {(name, job.segments): cost.all for name, job, cost in rows()}
    small = found["escrow, 3 seats", 1]
    one = escrow(Job(1), 3)
    large = found["escrow, 3 seats", 5_320]
    lottery_large = found["lottery, p = 1/100", 5_320]
    below = [n for name, n in found if name == "escrow, 3 seats" and found[name, n] <= BOUND]
    again = [n for name, n in found if name == "lottery, p = 1/10" and found[name, n] <= BOUND]
    return (
        f"- **A job of one segment is checked at TrueBit's cost**: {whole(small)} of its work by three seats, where "
        f"TrueBit expects {100 * TRUEBIT[0]:,.0f} to {100 * TRUEBIT[1]:,.0f} %; {whole(one.again)} of it is "
        f"what seats may replay of each other, which nothing makes them do. From {min(below)} segments on escrow "
        f"with three seats is below the essay's {100 * BOUND:.0f} %, and so is the lottery from {min(again)} on; of "
        f"5,320 segments escrow takes {whole(large)} and the lottery at 1/100 {whole(lottery_large)}.\n"
        f"- **The bound.** Hardware that is {CHEAPER} times cheaper is no dearer than a data centre up to "
        f"{100 * (CHEAPER - 1)} % of overhead; {100 * BOUND:.0f} % leave a price of "
        f"{100 * (1 + BOUND) / CHEAPER:.0f} % of it.\n"
        f"- **Duties are what the lottery does not save.** At 1/100 they are "
        f"{percent(share_of_duties(532, 100), 0)} of what is replayed of 532 segments, and "
        f"{percent(share_of_duties(5_320, 100), 0)} of 5,320.\n"
        f"- **More draws, not fewer, for long jobs.** Escrow draws some 45 segments of any job above 1,000. A lottery "
        f"replays each winner, a constant part of the work, so it is the dearer one from some length on: of 5,320 "
        f"segments at any p from 1/2 ({whole(found['lottery, p = 1/2', 5_320])}) to 1/100.\n"
    )


def share_of_duties(segments, strata):
    job = next(Job(t) for t in SIZES if Job(t).segments == segments)
    cost = lottery(job, strata)
    return (cost.duties + cost.again) / (cost.draws + cost.duties + cost.again)


def check():
    """Asserts what the page says."""
    found = {(name, job.segments): cost for name, job, cost in rows()}
    # docs/protocol.md: a committee replays 50 of 1,000 with all duties; of 5,320 the same 50.
    for seats in SEATS:
        cost = found[f"escrow, {seats} seats", 5_320]
        replayed = (cost.draws + cost.duties + cost.again) * Job(10_000).work / Job(10_000).steps * 5_320
        assert 49.9 < replayed <= 50, replayed
    assert found["escrow, 3 seats", 1].all >= TRUEBIT[0] - 0.7
    for (name, segments), cost in found.items():
        assert cost.all < BOUND or segments == 1 or (segments == 6 and "15" in name), (name, segments, cost.all)
    # One seat for each winner is less than what escrow draws only where p is below that.
    for segments in (54, 532, 5_320):
        by = [found[f"lottery, p = 1/{n}", segments].all for n in STRATA]
        share = found["escrow, 3 seats", segments].all
        assert by[2] < by[1] < by[0] and by[1] > share
        assert (by[2] < share) == (segments < 5_000)
    for cost in found.values():
        assert min(cost.draws, cost.again, cost.evaluations) > 0 and cost.duties >= 0
    # What is paid covers what is replayed, by the rule of today.
    for (name, segments), cost in found.items():
        assert name.startswith("lottery") or cost.paid > cost.draws + cost.duties, (name, segments)
    assert Job(1).price == 108 * TRY // 100
