"""The page docs/payments-as-bets.md: what of it is computed stands between markers, and no other number does."""

import re

from markdown import fill

BLOCK = re.compile(r"<!-- ([a-z-]+) -->\n.*?<!-- /\1 -->\n?", re.DOTALL)
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
LINK = re.compile(r"\]\([^)]*\)")


def names(text):
    """The names of the blocks of a page, in their order."""
    return [found[1] for found in BLOCK.finditer(text)]


def strays(text):
    """Numbers of a page that no block has, which nobody would check: digits outside of blocks, code and links."""
    for pattern in (BLOCK, CODE, LINK):
        text = pattern.sub("", text)
    return re.findall(r"\S*\d\S*", text)


def compare(text, blocks):
    """What is wrong with a page that is to have these blocks."""
    wrong = [f"there is no block {name}" for name in blocks if name not in names(text)]
    wrong += [f"nothing computes the block {name}" for name in names(text) if name not in blocks]
    for name, block in blocks.items():
        if name in names(text) and fill(text, name, block) != text:
            wrong.append(f"the block {name} is not what is computed")
    return wrong + [f"nothing computes {word}" for word in strays(text)]


def filled(text, blocks):
    """The page with these blocks."""
    for name, block in blocks.items():
        text = fill(text, name, block)
    return text
