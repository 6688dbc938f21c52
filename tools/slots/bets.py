"""What it costs and brings a cheat to push the odds of its own result, if odds lowered the number of
seats from three to two.

    PYTHONPATH=tools/slots python3 tools/slots/bets.py

Everything in units of M, the larger of a job's price and of what its power is worth. A false result
that nobody finds gains 2 M at most, one that is found loses a deposit of 3 M
(docs/protocol.md#late-proof). The job has 1,000 segments, and each seat draws 15 of them."""

from attacks import uncaught

SEGMENTS, DRAWS = 1_000, 15
GAIN, DEPOSIT = 2, 3
# What money earns elsewhere in a year, and for how long an offer stands: a window of 2,400 blocks.
INTEREST, HOURS, YEAR = 0.05, 4, 8_766
STAKES = (1, 10, 100)


def caught(faked, seats):
    """The probability that one of the seats draws a faked segment."""
    return 1 - uncaught(faked, SEGMENTS, DRAWS) ** seats


def brings(faked, fewer=2, seats=3):
    """What fewer seats bring a cheat, in M: it is caught less often, which is worth what it gains and
    what it does not lose."""
    return (caught(faked, seats) - caught(faked, fewer)) * (GAIN + DEPOSIT)


def waiting(stake):
    """What it costs to have a stake stand for one window, in M."""
    return stake * INTEREST * HOURS / YEAR


def breaks_even(faked, stake):
    """With which probability somebody who knows that the result is false must take all of a standing
    offer so that pushing the odds by it does not pay."""
    return max(brings(faked) - waiting(stake), 0) / stake


def rows():
    for faked in (1, 5, 20, 60):
        yield faked, caught(faked, 3), caught(faked, 2), brings(faked), [
            breaks_even(faked, stake) for stake in STAKES
        ]


def table():
    """The table of docs/bets.md, in Markdown."""
    head = ["false segments of 1,000", "found by 3 seats", "by 2", "brings, M", "costs by bets with itself"]
    head += [f"standing {stake} M: is taken with" for stake in STAKES]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for faked, three, two, gain, even in rows():
        cells = [str(faked), f"{three:.1%}", f"{two:.1%}", f"{gain:.3f}", "fees"]
        lines.append("| " + " | ".join(cells + [f"{p:.2%}" for p in even]) + " |")
    return "\n".join(lines).replace("%", " %")


if __name__ == "__main__":
    print(table())
