"""A year of jobs with honest, lazy and cheating trainers, trainers that wait for one large fraud, lazy verifiers, those
who check where it pays, gamblers and griefers, by each mechanism. All money is moved in a ledger in integers.

One replica a job, all trainers are drawn alike, nobody leaves or learns: who cheats goes on until it has no deposit."""

import dataclasses
import functools
import random

import forecast
import rules
from ledger import Ledger
from lottery import LOST, ticket
from markdown import percent, table
from rules import DAY, DEPOSIT_MULTIPLE, LEAST_BLAME, ROUNDS, TRY, VERDICT_FEES, WHOLE, Job, Record

DAYS, JOBS, YEARS = 364, 16, 5
SIZES = {10: 60, 100: 30, 1_000: 10}
# How many of each, and what each begins with, TRY.
TRAINERS = {"honest": 44, "lazy": 8, "cheat": 4, "clever": 4, "swan": 4}
VERIFIERS = {"verifier": 20, "asleep": 5}
MONEY = dict.fromkeys(TRAINERS, 20_000)
MONEY |= {"verifier": 5_000, "asleep": 5_000, "watcher": 2_000, "gambler": 2_000, "griefer": 2_000}
OTHERS = {"watcher": 5, "gambler": 5, "griefer": 2}
SUBMITTERS = 10_000_000
ORDERED = {training: Job(training) for training in SIZES}
# The fee that is burned, a ut, as in primitives/protocol/tests/deposits.rs.
FEE = TRY // 4
# What computing costs whoever does it, a ut. It is no money of the chain.
COSTS = 7 * TRY // 10
# Of machines: how many of each kind of trainers have a small one.
SMALL = {"honest": 0.5, "lazy": 0.6, "cheat": 0.8, "clever": 0.5, "swan": 0.5}
SEATS, N = 3, 10
# The share of verifiers that are asleep, which the leasts take into account.
ASLEEP = VERIFIERS["asleep"] / sum(VERIFIERS.values())
MECHANISMS = ("escrow", "lottery", "bets", "bets with a least", "forecast", "forecast with a least")
# The forecast for which a black swan waits, in millionths.
STRIKES = 990_000
# What a taker believes of a result that is false: so much of it is.
HALF = 0.5
# A defence against a false challenge: what its moves cost, TRY.
DEFENCE = TRY // 10


@dataclasses.dataclass
class Entry:
    """A result, with what was known of its trainer."""

    kind: str
    false: bool
    price: int
    cost: int
    segments: int
    forecasts: dict


@dataclasses.dataclass
class Trainer:
    name: str
    kind: str
    small: bool
    record: Record = dataclasses.field(default_factory=Record)
    accounts: int = 1


@dataclasses.dataclass
class Year:
    mechanism: str
    before: dict
    after: dict
    computed: dict
    taken: dict
    jobs: int
    work: int
    checked: int
    tried: dict
    accepted: dict
    paid: int
    paid_for_false: int
    log: list

    def change(self, group):
        """What a group has more than it began with."""
        return self.after[group] - self.before[group]


class Market:
    def __init__(self, mechanism, seed, days):
        self.mechanism, self.days = mechanism, days
        self.orders = random.Random(f"{seed}/orders")
        self.rng = random.Random(f"{seed}/{mechanism}")
        self.ledger = Ledger()
        for account in ("held", "burned", "jackpot"):
            self.ledger.open(account)
        self.ledger.open("submitters", SUBMITTERS * TRY)
        self.trainers = []
        kinds = random.Random(f"{seed}/machines")
        for kind, count in TRAINERS.items():
            for i in range(count):
                self.trainers.append(Trainer(f"{kind} {i}", kind, kinds.random() < SMALL[kind]))
        self.verifiers = self.named(VERIFIERS)
        others = {kind: self.named({kind: count}) for kind, count in OTHERS.items()}
        self.watchers, self.gamblers, self.griefers = others.values()
        everybody = [trainer.name for trainer in self.trainers] + self.verifiers
        for name in everybody + self.watchers + self.gamblers + self.griefers:
            self.ledger.open(name, MONEY[name.split()[0]] * TRY)
        self.computed = dict.fromkeys([*MONEY, "submitters"], 0)
        self.by_kind = dict.fromkeys(TRAINERS, 0)
        self.tried = dict.fromkeys(TRAINERS, 0)
        self.accepted = dict.fromkeys(TRAINERS, 0)
        self.checked = self.work = self.jobs = self.paid = self.paid_for_false = 0
        self.log, self.true_of = [], {True: [9, 10], False: [9, 10]}

    @staticmethod
    def named(counts):
        return [f"{kind} {i}" for kind, count in counts.items() for i in range(count)]

    def groups(self):
        found = {}
        for account, amount in self.ledger.of.items():
            found[account.split()[0]] = found.get(account.split()[0], 0) + amount
        return found

    def compute(self, who, work, checking=False):
        """Somebody computes so many thousandths of a ut."""
        self.computed[who.split()[0]] += work * COSTS // 1_000
        self.checked += work if checking else 0

    def segments_work(self, job, count):
        """The work of replaying so many segments, with an evaluation at the end of each."""
        return count * (job.steps // job.segments + rules.EVALUATION)

    # What trainers do

    def brings(self, trainer, job):
        """What making up all of a job brings beside computing it, in prices, by the rules that everybody knows: it
        saves the computing, and loses by being found its pay and a deposit of three prices."""
        right = trainer.record.right()
        chance = 1 - ASLEEP**SEATS  # escrow; the first segment and the last are always replayed by lottery
        if self.mechanism.startswith("forecast"):
            chance *= forecast.audit(right, self.least(job))
        elif self.mechanism.startswith("bets"):
            cost = self.segments_work(job, 1) * COSTS // 1_000
            prize = max(DEPOSIT_MULTIPLE * job.price // 4, job.price)
            looks = (1 - right / WHOLE) * HALF * prize > cost
            chance = 1.0 if looks else (1 - ASLEEP) * self.least(job)
        return COSTS / TRY - chance * (1 + DEPOSIT_MULTIPLE)

    def made_up(self, trainer, job, now):
        """The segments that a trainer makes up. Who makes up a part spares the first and the last, which are always
        replayed."""
        n = job.segments
        trainer.record.aged(now)
        if trainer.kind == "cheat":
            return set(range(n))
        if trainer.kind == "swan" and job.training == max(SIZES) and trainer.record.right() >= STRIKES:
            return set(range(n))
        if trainer.kind == "clever" and self.brings(trainer, job) > 0:
            return set(range(n))
        if trainer.kind == "lazy" and self.rng.random() < 0.5:
            return set(self.rng.sample(range(1, n - 1), max(1, n // 10)))
        return set()

    def forecasts(self, trainer, job, now):
        record = trainer.record.aged(now)
        fee = FEE * job.training
        right, all_of = self.true_of[trainer.small]
        by_class = forecast.by_class(record, fee, right / all_of)
        check = job.longest * COSTS // 1_000
        return {
            "chain": record.right(),
            "by size": forecast.by_size(record, fee),
            "by class": by_class,
            "by offers": forecast.by_offers(by_class, DEPOSIT_MULTIPLE * job.price, check),
        }

    def done(self, trainer, job, now, convicted):
        fee = FEE * job.training
        trainer.record.aged(now)
        if not convicted:
            trainer.record.done += fee
            return
        trainer.record.convicted += max(fee, LEAST_BLAME)
        if trainer.kind in ("cheat", "clever", "swan"):
            # A new account: nothing is known of it.
            trainer.record, trainer.accounts = Record(at=now), trainer.accounts + 1
            self.ledger.move(trainer.name, "burned", min(DEFENCE, self.ledger.of[trainer.name]))

    def lose(self, deposit, loss, finder):
        """Shares out a deposit that is held, as LostShares: the submitter is made whole, half of the rest is burned, a
        quarter is the finder's."""
        move = self.ledger.move
        whole = min(deposit, loss)
        rest = deposit - whole
        move("held", "submitters", whole)
        move("held", "burned", rest // 2)
        move("held", finder, rest // 4)
        move("held", "jackpot", rest - rest // 2 - rest // 4)

    # Mechanisms: each returns whether the result was found false, and says which trainers have the deposit.

    def seat(self, job, name, replayed, draws, fee, false):
        """A seat: whether it found something false. One that is asleep vouches without a replay, and loses its stake
        where it vouched for a forced error."""
        move = self.ledger.move
        move("held", name, fee)
        move(name, "burned", min(VERDICT_FEES, self.ledger.of[name]))
        if not name.startswith("asleep"):
            self.compute(name, self.segments_work(job, len(replayed)) + 2 * rules.EVALUATION, checking=True)
            return bool(replayed & false)
        if self.rng.random() < rules.hit(job.segments, draws):
            move(name, "jackpot", min(fee, self.ledger.of[name]))
            stake = min(job.seat_stake(fee, max(draws, 1)), self.ledger.of[name])
            move(name, "burned", stake // 2)
            move(name, "jackpot", stake - stake // 2)
        return False

    def drawn(self, count):
        return self.rng.sample(self.able, count)

    def escrow(self, trainer, job, false):
        n, price, fee = job.segments, job.price, job.audit_fee(SEATS)
        deposit = max(TRY, DEPOSIT_MULTIPLE * price) + SEATS * ROUNDS * fee
        move = self.ledger.move
        move(trainer.name, "held", deposit)
        move("submitters", "held", price + SEATS * fee)
        draws = rules.least_draws(n, SEATS)
        finder = None
        for seat, name in enumerate(self.drawn(SEATS)):
            own = rules.own_draws(draws, seat)
            replayed = set(self.rng.sample(range(n), min(own, n)))
            # What moved far is not what is made up: a cheat makes up what the samples do not show.
            replayed |= {0, n - 1} if seat == 0 else {self.rng.randrange(n)} if seat < 3 else set()
            if self.seat(job, name, replayed, own, fee, false) and finder is None:
                finder = name
        if finder:
            move("held", "submitters", price)
            self.lose(deposit, SEATS * fee, finder)
            return True
        move("held", trainer.name, deposit + price)
        return False

    def lottery(self, trainer, job, false):
        n, price = job.segments, job.price
        of_ticket = ticket(price, n, N)
        move = self.ledger.move
        evaluations = 2 * rules.EVALUATION
        of_winner = max(1, (job.longest + evaluations) * TRY // 1_000)
        duty = [job.audit_fee(replayed=2), job.audit_fee(replayed=1), job.audit_fee(replayed=1)]
        winners = [w for start in range(0, n, N) if (w := start + self.rng.randrange(N)) < n]
        fees = sum(duty) + len(winners) * of_winner
        most = -(-n // N) * of_ticket
        deposit = max(TRY, DEPOSIT_MULTIPLE * max(price, of_ticket)) + fees
        move(trainer.name, "held", deposit)
        move("submitters", "held", most + fees)
        finder = None
        for name, fee, replayed in zip(
            self.drawn(3), duty, ({0, n - 1}, {self.rng.randrange(n)}, {self.rng.randrange(n)})
        ):
            if self.seat(job, name, replayed, len(replayed), fee, false) and finder is None:
                finder = name
        for winner in winners:
            name = self.drawn(1)[0]
            if self.seat(job, name, {winner}, 1, of_winner, false) and finder is None:
                finder = name
        if finder:
            move("held", "submitters", most)
            self.lose(deposit, fees, finder)
            return True
        paid = len(winners) * of_ticket
        move("held", trainer.name, deposit + paid)
        move("held", "submitters", most - paid)
        return False

    def bets(self, trainer, job, false, right):
        """The result settles unasked. Its trainer leaves its deposit open to anybody; who checks goes on while that
        pays by what is believed, and so does the holder, who then pays so much less as is left of doubt."""
        n, price = job.segments, job.price
        stake = DEPOSIT_MULTIPLE * price
        move = self.ledger.move
        move(trainer.name, "held", stake)
        move("submitters", "held", price)
        move(trainer.name, "burned", min(VERDICT_FEES, self.ledger.of[trainer.name]))
        gambler = self.rng.choice(self.gamblers) if self.rng.random() < 0.1 else None
        puts = stake // 1_000  # a tenth of the offer, at 100 to 1
        if gambler and self.ledger.has(gambler, puts):
            move(gambler, "held", puts)
        else:
            gambler = None
        watcher = self.rng.choice(self.watchers)
        found, _ = self.looks(watcher, job, false, 1 - right / WHOLE, stake // 4)
        if found:
            return self.taken(watcher, gambler, puts, stake, price)
        found, doubt = self.looks("submitters", job, false, 1 - right / WHOLE, price)
        if found:
            return self.taken("submitters", gambler, puts, stake, price)
        less = price * round(doubt * WHOLE) // WHOLE
        if self.rng.random() < self.least(job):
            fee = job.audit_fee(replayed=0)
            move("submitters", "held", fee)
            name = self.drawn(1)[0]
            if self.seat(job, name, {self.rng.randrange(n)}, 1, fee, false):
                return self.taken(name, gambler, puts, stake, price)
        move("held", trainer.name, stake + price - less + (puts if gambler else 0))
        move("held", "submitters", less)
        return False

    def taken(self, finder, gambler, puts, stake, price):
        """Shares out a stake as a deposit, but that who took a tenth of the offer has a tenth of the finder's part."""
        move = self.ledger.move
        move("held", "submitters", price)
        part = stake // 4 // 10 if gambler else 0
        if gambler:
            move("held", gambler, puts + part)
        move("held", finder, stake // 4 - part)
        move("held", "burned", stake // 2)
        move("held", "jackpot", stake - stake // 2 - stake // 4)
        move(finder, "burned", min(VERDICT_FEES, self.ledger.of[finder]))
        return True

    def looks(self, who, job, false, doubt, prize):
        """Somebody replays segments while that pays, and returns whether one was false, and what is left of doubt."""
        n = job.segments
        cost = self.segments_work(job, 1) * COSTS // 1_000
        for _ in range(n):
            if doubt * HALF * prize <= cost:
                break
            segment = self.rng.randrange(n)
            self.compute(who, self.segments_work(job, 1), checking=True)
            if segment in false:
                return True, 1.0
            doubt = doubt * (1 - HALF) / (1 - doubt * HALF)
        return False, doubt

    def least(self, job):
        """The least probability of an audit with which making up does not pay."""
        if "least" not in self.mechanism:
            return 0.0
        if self.mechanism.startswith("bets"):
            # One segment: who makes up the share `f` is found with it, and saves no more.
            return bets_least_chance()
        return forecast.floor(job.segments, SEATS, ASLEEP)

    def forecast(self, trainer, job, false, right):
        """Escrow, where an audit is drawn by the forecast when the result is there."""
        if self.rng.random() < forecast.audit(right, self.least(job)):
            return self.escrow(trainer, job, false)
        self.ledger.move("submitters", trainer.name, job.price)
        return False

    def griefs(self, day):
        """Once a week each griefer attacks an honest trainer: a challenge that is lost, or an offer taken blindly."""
        for griefer in self.griefers if day % 7 == 0 else []:
            victim = self.rng.choice([t for t in self.trainers if t.kind == "honest"])
            job = ORDERED[self.rng.choices([*SIZES], [*SIZES.values()])[0]]
            bets = self.mechanism.startswith("bets")
            costs = DEPOSIT_MULTIPLE * job.price // 100 if bets else job.challenge()
            if self.ledger.has(griefer, costs + VERDICT_FEES):
                self.ledger.move(griefer, victim.name, costs)
                self.ledger.move(griefer, "burned", VERDICT_FEES)
                if not bets:
                    self.ledger.move(victim.name, "burned", min(DEFENCE, self.ledger.of[victim.name]))
                    self.compute(victim.name, 2 * job.longest + 16 * rules.STEP, checking=True)

    def job(self, training, now):
        job, ledger = ORDERED[training], self.ledger
        fee = FEE * training
        # What the deposit can be at most, in any of these mechanisms; more than anybody's deposit of a small job.
        able = 2 * DEPOSIT_MULTIPLE * job.price + SEATS * ROUNDS * job.audit_fee(SEATS)
        trainer = self.orders.choice(self.trainers)
        while not ledger.has(trainer.name, able):
            trainer = self.orders.choice(self.trainers)
        false = self.made_up(trainer, job, now)
        known = self.forecasts(trainer, job, now)
        work = job.work - self.segments_work(job, len(false))
        self.compute(trainer.name, max(0, work))
        kind = self.mechanism.split()[0]
        if kind in ("escrow", "lottery"):
            found = getattr(self, kind)(trainer, job, false)
        else:
            found = getattr(self, kind)(trainer, job, false, known["chain"])
        assert not found or false
        self.work += job.work
        self.jobs += 1
        self.by_kind[trainer.kind] += job.price
        self.tried[trainer.kind] += bool(false)
        if not found:
            ledger.move("submitters", "burned", fee)
            self.accepted[trainer.kind] += bool(false)
            self.paid += job.price + fee
            self.paid_for_false += (job.price + fee) * bool(false)
        entry = Entry(trainer.kind, bool(false), job.price, SEATS * job.audit_fee(SEATS), job.segments, known)
        self.log.append(entry)
        counts = self.true_of[trainer.small]
        counts[0], counts[1] = counts[0] + (not found), counts[1] + 1
        self.done(trainer, job, now, found)

    def run(self):
        before = self.groups()
        for day in range(self.days):
            # Who has the least bond today.
            self.able = [name for name in self.verifiers if self.ledger.has(name, 100 * TRY)]
            for _ in range(JOBS):
                training = self.orders.choices([*SIZES], [*SIZES.values()])[0]
                self.job(training, day * DAY)
            self.griefs(day)
            assert self.ledger.of["held"] == 0, "something stays on hold"
            self.ledger.check()
        return Year(
            self.mechanism,
            before,
            self.groups(),
            self.computed,
            self.by_kind,
            self.jobs,
            self.work,
            self.checked,
            self.tried,
            self.accepted,
            self.paid,
            self.paid_for_false,
            self.log,
        )


def total(years):
    """The sums of several years of one mechanism; the log is that of the first."""
    first = years[0]
    sums = {}
    for field in dataclasses.fields(Year):
        values = [getattr(year, field.name) for year in years]
        if field.name in ("mechanism", "log"):
            sums[field.name] = values[0]
        elif isinstance(values[0], dict):
            sums[field.name] = {key: sum(value[key] for value in values) for key in values[0]}
        else:
            sums[field.name] = sum(values)
    return dataclasses.replace(first, **sums)


@functools.cache
def years(seed, days=DAYS, count=YEARS):
    """So many years by each mechanism, with the same orders, and their sums."""
    made = {m: [Market(m, f"{seed}/{i}", days).run() for i in range(count)] for m in MECHANISMS}
    return {mechanism: total(each) for mechanism, each in made.items()}


NAMES = {"verifier": "verifiers", "asleep": "verifiers that are asleep", "watcher": "checkers"}
NAMES |= {"gambler": "gamblers", "griefer": "griefers", "honest": "honest trainers", "lazy": "lazy trainers"}
NAMES |= {"cheat": "cheats", "clever": "clever cheats", "swan": "black swans", "held": "on hold"}


def money(amount):
    """The mean amount of a year, in TRY, rounded."""
    return f"{round(amount / TRY / YEARS):+,}"


def shown(part, of):
    return f"{part:,} of {of:,}" if of else "none tried"


def checking_table(found):
    columns = ["mechanism", "checking, of the work", "made up", "of it accepted: lazy", "cheats", "clever", "swans"]
    columns += ["paid for what is false, of all that is paid"]
    lines = []
    for name, year in found.items():
        line = [name, percent(year.checked / year.work), f"{sum(year.tried.values()):,}"]
        for kind in ("lazy", "cheat", "clever", "swan"):
            line.append(shown(year.accepted[kind], year.tried[kind]))
        lines.append(line + [percent(year.paid_for_false / year.paid, 2)])
    return table(columns, lines)


def flows_table(found):
    columns = ["TRY in the year", *found]
    groups = ["submitters", *TRAINERS, *VERIFIERS, *OTHERS, "burned", "jackpot", "held"]
    assert all(set(groups) == set(year.after) for year in found.values())
    lines = []
    for group in groups:
        lines.append([NAMES.get(group, group), *(money(year.change(group)) for year in found.values())])
    lines.append(["**sum**", *(money(sum(map(year.change, groups))) for year in found.values())])
    return table(columns, lines)


def each(year, kind):
    """What each of a kind has more after a year, on average, less what computing cost it, TRY."""
    count = (TRAINERS | VERIFIERS | OTHERS)[kind]
    return (year.change(kind) - year.computed[kind]) / count / TRY / YEARS


def margin(year, kind):
    """What a kind of trainers has more, less what computing cost it, of the price of the jobs that it took: so the luck
    of who had which jobs is out of it."""
    return (year.change(kind) - year.computed[kind]) / year.taken[kind]


def shown_margin(year, kind):
    return f"{100 * margin(year, kind):+.1f} %"


def each_table(found):
    columns = ["less what computing cost", *found]
    lines = []
    for kind in TRAINERS:
        name = f"{NAMES[kind]}, of the price of their jobs"
        lines.append([name, *(shown_margin(year, kind) for year in found.values())])
    for kind in VERIFIERS | OTHERS:
        lines.append([f"{NAMES[kind]}, TRY each", *(f"{each(year, kind):+,.0f}" for year in found.values())])
    return table(columns, lines)


def facts(found):
    escrow, bets = found["escrow"], found["bets"]
    least, alone = found["forecast with a least"], found["forecast"]
    bets_least = found["bets with a least"]
    discounts = -bets.change("submitters") / -escrow.change("submitters")
    return (
        f"- **Money is conserved**, to the last unit, each day, in all {len(found) * YEARS} years of "
        f"{escrow.jobs // YEARS:,} jobs.\n"
        f"- **Who makes things up without asking is worse off than who is honest.** The clever cheat computes first "
        f"what it brings. It finds nothing to make up by escrow, by lottery and where there is a least "
        f"probability of an audit. By bets alone it makes up {bets.tried['clever']:,} results that nobody checks by "
        f"the rule, and is left with {shown_margin(bets, 'clever')} of the price, where an honest trainer has "
        f"{shown_margin(bets, 'honest')}; by the forecast alone {alone.tried['clever']:,}, and "
        f"{shown_margin(alone, 'clever')}.\n"
        f"- **The rule of the holder is no equilibrium.** It says nobody checks what is small or well-known, so that "
        f"is what is made up. With one segment of a result in "
        f"{1 / bets_least_chance():.1f} drawn by the chain, whatever anybody believes, the clever cheat is honest, and "
        f"checking takes {percent(bets_least.checked / bets_least.work)} of the work in the place of "
        f"{percent(bets.checked / bets.work)}.\n"
        f"- **What deters does not find.** With the least probability the forecast accepts "
        f"{shown(least.accepted['swan'], least.tried['swan'])} frauds of black swans, escrow "
        f"{shown(escrow.accepted['swan'], escrow.tried['swan'])}; a black swan is left with "
        f"{shown_margin(least, 'swan')} by it and {shown_margin(alone, 'swan')} without the least. These frauds do not "
        f"pay, and submitters have them all the same: {percent(least.paid_for_false / least.paid, 2)} of what is paid "
        f"is for what is false, {percent(escrow.paid_for_false / escrow.paid, 2)} by escrow.\n"
        f"- **Lazy trainers are found late by all of them.** They make up a tenth of a job; of that a check of few "
        f"segments sees little, and what they lose when it does is more than what they saved.\n"
        f"- **Griefers** lose what they bring: {money(escrow.change('griefer'))} TRY a year by false challenges, "
        f"{money(bets.change('griefer'))} by taking offers blindly, all of it to those whom they attack but for fees. "
        f"Gamblers, who take offers without checking, have {money(bets.change('gambler'))} TRY where so much is "
        f"made up: they share what others find.\n"
        f"- **Customers pay less by bets**, {percent(discounts, 0)} of what escrow takes from them, since they pay no "
        f"seats and so much less as they doubt; so honest trainers have {shown_margin(bets, 'honest')} in the place of "
        f"{shown_margin(escrow, 'honest')}.\n"
    )


def bets_least_chance():
    return 1 / ((1 - ASLEEP) * (1 + LOST * DEPOSIT_MULTIPLE))


def check(found):
    """Asserts what the page says."""
    for name, year in found.items():
        assert sum(year.before.values()) == sum(year.after.values()), name
        assert year.after["held"] == year.before["held"] == 0
        assert all(amount >= 0 for amount in year.after.values())
        assert year.jobs == YEARS * len(year.log) and year.tried["honest"] == year.accepted["honest"] == 0
        for kind in ("lazy", "cheat"):
            assert margin(year, kind) < margin(year, "honest") - 0.05, (name, kind)
        assert year.change("griefer") < 0
        # Nobody sleeps through a year better than it works.
        if not name.startswith("bets"):
            assert year.change("asleep") < 0 < year.change("verifier")
    for name in ("escrow", "lottery", "bets with a least", "forecast with a least"):
        year = found[name]
        assert year.tried["clever"] == 0 and margin(year, "swan") < margin(year, "honest") - 0.05, name
        assert abs(margin(year, "clever") - margin(year, "honest")) < 0.01, name
    for name in ("bets", "forecast"):
        year = found[name]
        assert year.tried["clever"] > 0 and margin(year, "clever") > margin(year, "honest") + 0.05, name
    assert margin(found["forecast"], "swan") > margin(found["forecast"], "honest")
    swans = [found[name].accepted["swan"] for name in ("escrow", "forecast with a least", "forecast")]
    assert swans[0] < swans[1] < swans[2]
    cost = {name: year.checked / year.work for name, year in found.items()}
    assert cost["bets"] < cost["forecast"] < cost["forecast with a least"] < cost["escrow"]


def assumptions():
    """What is assumed, in Markdown."""
    orders = ", ".join(f"{share} % of {size:,} ut ({Job(size).segments} segments)" for size, share in SIZES.items())
    trainers = ", ".join(f"{count} {NAMES[kind]}" for kind, count in TRAINERS.items())
    small = ", ".join(f"{percent(share, 0)} of the {NAMES[kind]}" for kind, share in SMALL.items())
    stays = ", ".join(f"{count} {NAMES[kind]}" for kind, count in (VERIFIERS | OTHERS).items())
    return (
        f"- {YEARS} years of {DAYS} days, with {JOBS} jobs a day, each for one replica: {orders}. A ut is paid with "
        f"1 TRY and burns {FEE / TRY:g}; computing it costs {COSTS / TRY:g}, which is no money of the chain. Jobs are "
        f"those of [the protocol's table](protocol.md#what-jobs-of-all-sizes-cost).\n"
        f"- {trainers}, drawn alike, with {MONEY['honest']:,} TRY each. Lazy trainers make up a tenth of the segments "
        f"of every other job, cheats all of every job, clever cheats all of a job where that brings more than "
        f"computing it, black swans all of a job of {max(SIZES):,} ut when their forecast is "
        f"{percent(STRIKES / WHOLE, 0)}. Cheats of all kinds come back as strangers when they were found, and go on "
        f"until they have no deposit. Small machines: {small}.\n"
        f"- {stays}. Who is asleep vouches for what it did not replay, and loses its stake where it hits a "
        f"[forced error](protocol.md#forced-errors). A checker looks at each bet and replays segments while that "
        f"pays by the record of the trainer, as if half of a false result were false; so does the holder. A gambler "
        f"takes a tenth of every tenth offer. A griefer challenges an honest result once a week, or takes an offer of "
        f"one blindly.\n"
        f"- Escrow has {SEATS} seats; the lottery p = 1/{N}; in a bet the trainer leaves three prices open to anybody, "
        f"which are shared as a deposit when they are lost. A forecast audits a stranger always, and others with the "
        f"chance of being wrong over {forecast.SURE:g}; the least is that of the section before, for the share of "
        f"verifiers that are asleep.\n"
    )
