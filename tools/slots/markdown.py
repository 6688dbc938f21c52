"""Tables in Markdown."""

import re


def table(columns, rows):
    """A table with these headings; each row is a list of as many texts."""
    assert all(len(row) == len(columns) for row in rows), (columns, rows)
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def fraction(c):
    """A value of c as it is written."""
    for n, d in ((1, 8), (1, 6), (1, 4), (1, 3), (1, 2)):
        if abs(c - n / d) < 1e-9:
            return f"{n}/{d}"
    return f"{c:.2f}"


def percent(x, digits=1):
    """A share as a percentage."""
    return f"{100 * x:.{digits}f} %"


def fill(text, name, table):
    """`text` with the table between the markers `<!-- name -->` and `<!-- /name -->`."""
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    if start not in text or end not in text:
        raise ValueError(f"there are no markers for the table {name}")
    pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
    return pattern.sub(lambda _: start + table + end, text)
