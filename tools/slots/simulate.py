"""Slots, blocks and views of the nodes, where delays make the exact formulas too kind.

Each authority is a node. At the beginning of a slot every winner builds on the best block
that it has: the chain with most primary blocks (BABE's weight), of those the longest, of
those the one that it had first. Its block is there for itself after `build`, and for
each other node after `build + network * u + load`, `u` drawn again for each block and node
from 1/2 to 3/2. All times are in slots. Nothing is finalized: forks are settled by the
fork choice alone."""

from dataclasses import dataclass

import numpy as np

from exact import claim

# Blocks that are compared for the best: far more than are under way at once.
WINDOW = 256
# Blocks at the end whose fate is not decided yet.
TAIL = 40
# Breaks ties between blocks that arrive at once.
JITTER = 1e-6


@dataclass
class Outcome:
    """What a simulation came to."""

    slots: int
    blocks: int  # all that were made
    chain: np.ndarray  # slots of the blocks of the chain, ascending
    authors: np.ndarray  # [n]: blocks of the chain by author
    filled: int  # slots with a block
    contested: int  # slots with several primary winners
    decided: int  # blocks made before the undecided end
    kept: int  # of those, in the chain
    deepest: int  # most blocks that the head of a node lost at once

    @property
    def interval(self):
        """Mean slots between blocks of the chain."""
        return float(np.diff(self.chain).mean())

    def gap_quantile(self, q=0.99):
        """The quantile of the slots between blocks of the chain."""
        return int(np.quantile(np.diff(self.chain), q, method="inverted_cdf"))

    @property
    def orphaned(self):
        """Share of the blocks that are not in the chain."""
        return 1 - self.kept / self.decided

    @property
    def shares(self):
        """Each author's share of the chain, `[n]`."""
        return self.authors / self.authors.sum()


def simulate(w, c, slots, seed, network=0.0, build=0.0, load=0.0, secondary=False):
    """Runs `slots` slots of authorities with the shares `w` of the weight.

    `secondary`: a slot that a node has not won is claimed by the authority whose turn it
    is (uniformly, whatever its weight), as with Babe's secondary slots; such a block counts
    nothing in the fork choice."""
    rng = np.random.default_rng(seed)
    n = len(w)
    p = claim(c, w)
    # A ring of the latest blocks.
    primary = np.zeros(WINDOW, dtype=np.int64)
    height = np.zeros(WINDOW, dtype=np.int64)
    arrival = np.full((WINDOW, n), np.inf)
    number = np.full(WINDOW, -1)
    number[0], arrival[0] = 0, -1.0  # genesis
    made, parents, authors = [-1], [0], [-1]
    last_best = np.zeros(n, dtype=np.int64)  # what an author built on or made last
    filled = contested = deepest = 0

    def depth(old, new):
        """How many blocks of the chain that ends in `old` are not in that of `new`."""
        mine = 0
        while old != new:
            if old > new:
                old, mine = parents[old], mine + 1
            else:
                new = parents[new]
        return mine

    for first in range(0, slots, 1024):
        rows = min(1024, slots - first)
        won = rng.random((rows, n)) < p
        turns = rng.integers(n, size=rows)
        for row in range(rows):
            slot = first + row
            makers = np.flatnonzero(won[row])
            contested += len(makers) > 1
            if secondary and not won[row, turns[row]]:
                makers = np.append(makers, turns[row])
            if len(makers) == 0:
                continue
            filled += 1
            new = []
            for maker in makers:
                seen = np.flatnonzero((arrival[:, maker] <= slot) & (number >= 0))
                rank = primary[seen] * (1 << 32) + height[seen]
                seen = seen[rank == rank.max()]
                best = seen[arrival[seen, maker].argmin()]
                parent = int(number[best])
                deepest = max(deepest, depth(int(last_best[maker]), parent))
                counts = bool(won[row, maker])
                new.append((maker, parent, primary[best] + counts, height[best] + 1))
            for maker, parent, weight, at in new:
                identity = len(made)
                place = identity % WINDOW
                old = arrival[place]
                assert number[place] < 0 or old.max() <= slot, "the window is too short"
                number[place], primary[place], height[place] = identity, weight, at
                way = network * rng.uniform(0.5, 1.5, n) + rng.uniform(0, JITTER, n)
                arrival[place] = slot + build + way + load
                arrival[place, maker] = slot + build
                made.append(slot)
                parents.append(parent)
                authors.append(int(maker))
                last_best[maker] = identity
    live = np.flatnonzero(number >= 0)
    rank = primary[live] * (1 << 32) + height[live]
    head = int(number[live[rank.argmax()]])
    chain = []
    while head:
        chain.append(head)
        head = parents[head]
    chain = np.array(chain[::-1])
    decided = max(len(made) - 1 - TAIL, 0)
    kept = int((chain <= decided).sum())
    by = np.bincount(np.array(authors)[chain], minlength=n)
    return Outcome(
        slots, len(made) - 1, np.array(made)[chain], by, filled, contested, decided, kept, deepest
    )
