"""What is exact about BABE's lottery.

An authority with the share w of the weight claims a slot with probability 1 - (1 - c)^w,
independently of the others and of other slots (Babe's primary slots; sc-consensus-babe,
`calculate_primary_threshold`). All times here are in slots."""

import math

import numpy as np

# Distributions of power: name -> shares of the weight, largest first.
DISTRIBUTIONS = {
    "4 equal": [1, 1, 1, 1],
    "4:3:2:1": [4, 3, 2, 1],
    "100 equal": [1] * 100,
    "one half + 50": [50] + [1] * 50,
    "Zipf 100": [1 / rank for rank in range(1, 101)],
}


def shares(weights):
    """Weights as shares of their sum, `[n]`."""
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum()


def distribution(name):
    """The shares of a named distribution, `[n]`."""
    return shares(DISTRIBUTIONS[name])


def claim(c, share):
    """The probability that a share of the weight claims a slot."""
    return -np.expm1(np.asarray(share) * math.log1p(-c))


def alone(c, w):
    """For each authority, the probability that it is a slot's only winner, `[n]`."""
    return claim(c, w) * (1 - c) ** (1 - w)


def contested(c, w):
    """The probability that a slot has several winners."""
    return c - float(alone(c, w).sum())


def winners(c, w):
    """The mean number of winners of a slot."""
    return float(claim(c, w).sum())


def orphaned(c, w):
    """The share of blocks that are orphaned where every block arrives before the next slot:
    of the winners of a slot one block stays."""
    return 1 - c / winners(c, w)


def gap_quantile(c, q=0.99):
    """The least number of slots such that a share of at least `q` of the gaps between filled
    slots is at most that long. Gaps are geometric: P(gap > k) = (1 - c)^k."""
    return math.ceil(math.log1p(-q) / math.log1p(-c) - 1e-9)


def claim_shares(c, w):
    """Each authority's share of all claims, `[n]`."""
    p = claim(c, w)
    return p / p.sum()


def even_shares(c, w):
    """Each authority's share of the filled slots, `[n]`, where a slot with several winners goes
    to each of them with equal probability: E[1 / number of winners; i among them] / c. It is
    the integral over x from 0 to 1 of p_i times the product of (1 - p_j + p_j x) over the
    others, a polynomial of degree n - 1, by a Gauss-Legendre rule that is exact for it."""
    p = claim(c, w)
    x, weight = np.polynomial.legendre.leggauss(len(p) // 2 + 1)
    x, weight = (x + 1) / 2, weight / 2
    factors = 1 - p[:, None] * (1 - x)  # [n, nodes]
    others = factors.prod(axis=0) / factors
    return p * (others @ weight) / c
