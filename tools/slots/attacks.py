"""The numbers behind the attacks in docs/proof-of-hashrate.md: formulas, and simulations
where there is no formula. Power in ut/day, money in TRY, time in days."""

import math

import numpy as np

from exact import claim, even_shares, shares
from markdown import fraction, percent, table

# Figures of the runtime (runtime/src/configs/): change both together.
LEAST_VERIFIERS = 3  # pallets/task-market: terms.verifiers is odd and 3 to 15
BLOCKS_PER_DAY = 14_400  # market.rs, DAYS: at 6 s a block
MIN_BOND = 100.0  # session.rs, MinBond
KEY_DEPOSIT = 1.0  # session.rs, KeyDeposit
MAX_AUTHORITIES = 100  # session.rs
SEATS = 3  # least seats of a committee
# pallets/hashrate/src/power.rs.
HALF_LIFE = 7.0
TRAINING, DRILLING = 0.6, 0.4
FLOP_PER_UT = 4.32e11


def rented(rate, days):
    """Effective power, ut/day, of one who computes `rate` ut/day for `days` days and had
    none before."""
    return rate * (1 - 2 ** (-days / HALF_LIFE))


def at_once(effective):
    """The work, ut, that makes this much effective power when it is credited at once."""
    return effective * HALF_LIFE / math.log(2)


def joining(share):
    """Power, in units of all others' power, that is this share of the whole."""
    return share / (1 - share)


# Splitting


def split_gain(c, share, parts):
    """By what factor the claims grow of one who splits this share into equal parts."""
    return parts * float(claim(c, share / parts)) / float(claim(c, share))


def split_blocks(c, share, parts, others=20):
    """The share of the chain's blocks of one whose share is in `parts` identities, where
    `others` equal authorities have the rest and each block of a contested slot stays with
    equal probability."""
    w = shares([share / parts] * parts + [(1 - share) / others] * others)
    return float(even_shares(c, w)[:parts].sum())


# Withholding


def one_look(share, p):
    """The probability of an outcome that has the probability `p` by itself, for one who
    makes the deciding block with probability `share` and withholds it once where the outcome
    is another."""
    return p + share * (1 - p) * p


def looks(share, p):
    """The same where the block in its place may be the attacker's again, and so on:
    V = (1 - share) p + share (p + (1 - p) V)."""
    return p / (1 - share * (1 - p))


def withheld(share, p):
    """How many blocks are withheld on average for that: x = share (1 - p) (1 + x)."""
    return share * (1 - p) / (1 - share * (1 - p))


def majority(p, seats=SEATS):
    """The probability of more than half of the seats, each with probability `p`."""
    least = seats // 2 + 1
    return sum(
        math.comb(seats, k) * p**k * (1 - p) ** (seats - k) for k in range(least, seats + 1)
    )


def uncaught(faked, segments, drawn):
    """The probability that none of the faked segments is among the drawn ones."""
    return math.comb(segments - faked, drawn) / math.comb(segments, drawn)


def tail(share, most=12):
    """Element `j`: the probability that exactly the last `j` blocks of an epoch are the
    attacker's, `[most + 1]`."""
    return np.array([(1 - share) * share**j for j in range(most + 1)])


def grinding(c, share, epoch, seed=1, runs=4_000, most=10):
    """What withholding blocks at the end of an epoch brings: of `j` blocks at the end any
    subset can be withheld, which gives 2^j randomnesses of a later epoch to choose from, each
    with another number of slots that the attacker claims. The mean number of claims in an
    epoch, and the mean net gain: the additional claims less the blocks withheld, both in
    blocks. Claims of an epoch are normal around n p with variance n p (1 - p)."""
    rng = np.random.default_rng(seed)
    p = float(claim(c, share))
    mean, deviation = epoch * p, math.sqrt(epoch * p * (1 - p))
    gain = 0.0
    for j, probability in enumerate(tail(share, most)):
        if j == 0 or probability < 1e-6:
            continue
        cost = np.array([bin(subset).count("1") for subset in range(2**j)])
        batch = max(1, min(runs, 2**20 // 2**j))
        draws = rng.standard_normal((batch, 2**j)) * deviation - cost
        gain += probability * float(draws.max(axis=1).mean())
    return mean, gain


# Tables


def splitting_table(c_values=(0.1, 0.25, 1 / 3, 0.5)):
    columns = [
        "c",
        "share",
        "slots won, 1 identity",
        "slots won, 16",
        "slots won, 100",
        "claims, 16 for 1",
        "claims, most",
        "blocks kept, 1 identity",
        "blocks kept, 16",
        "blocks kept, 50",
    ]
    rows = []
    for c in c_values:
        for share in (0.1, 1 / 3, 0.5):
            won = [1 - (1 - float(claim(c, share / n))) ** n for n in (1, 16, 100)]
            most = -math.log1p(-c) * share / float(claim(c, share))
            gains = [f"x {split_gain(c, share, 16):.4f}", f"x {most:.4f}"]
            kept = [percent(split_blocks(c, share, n), 2) for n in (1, 16, 50)]
            slots = [percent(x, 3) for x in won]
            rows.append([fraction(c), percent(share), *slots, *gains, *kept])
    return table(columns, rows)


def renting_table():
    columns = [
        "rented for",
        "share of the rate that counts",
        "for 10 % of the power",
        "for 1/3",
        "for 1/2",
    ]
    periods = {
        "2 minutes": 2 / 1440,
        "1 hour": 1 / 24,
        "2 hours": 2 / 24,
        "1 day": 1.0,
        "1 week": 7.0,
        "4 weeks": 28.0,
    }
    rows = []
    for name, days in periods.items():
        counts = rented(1, days)
        rates = [f"{joining(share) / counts:,.2f} x" for share in (0.1, 1 / 3, 0.5)]
        rows.append([name, percent(counts, 3), *rates])
    return table(columns, rows)


def grinding_table(c=0.25):
    columns = ["share of power"]
    for epoch in (120, 2_400):
        columns += [f"epoch of {epoch:,} slots: claims", "gain by withholding"]
    rows = []
    for share in (0.1, 0.2, 0.3, 0.4):
        row = [f"{share:.0%}"]
        for epoch in (120, 2_400):
            mean, gain = grinding(c, share, epoch)
            row += [f"{mean:.1f}", f"{gain:+.2f} = {gain / mean:+.1%}"]
        rows.append(row)
    return table(columns, rows)


def ground(mean, keys):
    """By what factor an identity with a Poisson number of claims of this mean has more of them by
    the best of that many keys."""
    total, below, term = 0.0, 0.0, math.exp(-mean)
    for claims in range(int(mean + 40 * math.sqrt(mean) + 60)):
        below = min(below + term, 1.0)
        total += 1 - below**keys
        term *= mean / (claims + 1)
    return total / mean


def keys_table(c=0.25, epoch=2_400, budget=1_000):
    columns = [
        "share of power",
        "identities",
        "claims of each in an epoch",
        f"keys for each, {budget:,} in all",
        "slots won, keys of the last block count",
        "slots won, they do not",
    ]
    rows = []
    for share in (0.1, 0.3):
        for identities in (1, 50, 100):
            mean = epoch * float(claim(c, share / identities))
            keys = budget // identities
            gain = ground(mean, keys)
            rows.append(
                [f"{share:.0%}", str(identities), f"{mean:.1f}", f"{keys:,}", f"x {gain:.2f}", "x 1"]
            )
    return table(columns, rows)
