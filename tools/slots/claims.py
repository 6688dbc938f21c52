"""What a cheat gains that sells the claim on its pay before its result is found false: the least deposit, as a multiple
of M, at which no listed attack brings anything.

    PYTHONPATH=tools/slots python3 tools/slots/claims.py

As in `court.py`, M is the larger of a job's price and of what its power is worth, and computing costs all that it brings,
2 M. An attack saves `g` of it. Who is not found has that, and for the pay of 1 M the price of the claim. Who is found
has computed the rest for nothing, loses the deposit, and has the price of the claim all the same."""

import court
import numpy as np

PAY, ALL = 1, 2
PRICES = (None, 0.5, 0.9, 1.0)
# Jobs and committees; the largest multiple of all there are is that of `court.least_multiple`.
SEGMENTS, SEATS = (1, 2, 3, 6, 10, 22, 23, 30, 54, 100, 532, 1_000), (3, 7, 15)


def needed(attack, S, N, k, w, price):
    """The multiple at which an attack brings nothing where the claim is sold for this part of the pay."""
    if price is None:
        return court.needed(attack, S, N, k, w)
    p, g = attack(S, N, k, w)
    q = court.looks(w, p)
    kept = np.maximum(price + g - ALL, 0)
    return float(np.max((q * (g - (PAY - price)) + (1 - q) * kept) / (court.LOST * (1 - q))))


def least(w, price):
    """The least multiple that holds against each listed attack, for these jobs and committees."""
    return max(
        needed(attack, S, N, court.own_draws(N, S), w, price)
        for attack in court.LISTED
        for S in SEATS
        for N in SEGMENTS
    )


def rows():
    return [(price, [least(w, price) for w in court.SHARES]) for price in PRICES]


def table():
    """The table of docs/protocol.md, in Markdown."""
    head = ["the claim is sold for", "w = 0", *(f"{w:.0%}".replace("%", " %") for w in court.SHARES[1:])]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for price, cells in rows():
        name = "not sold" if price is None else f"{price:.0%} of the pay".replace("%", " %")
        lines.append("| " + " | ".join([name, *(f"{cell:.2f}" for cell in cells)]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
