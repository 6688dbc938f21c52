#!/usr/bin/env python3
"""Checks Trainyard's strict arithmetic by a second program that shares no code with the first.

It was written from docs/strict-arithmetic.md, docs/job-toml.md and docs/bundle.md alone, and needs
Python 3.9 and NumPy 1.21 or newer.

	cross_check.py vectors [PAGE]            every vector of docs/strict-arithmetic.md
	cross_check.py bundle DIR [--data CSV]   computes a bundle's run again and compares all it says

Exit status: 0 all equal, 1 something differs, 2 it cannot be checked.
"""

import argparse
import json
import os
import sys

try:
	import numpy as np
except ImportError:
	sys.exit("error: Python has no NumPy; install it: apt-get install python3-numpy, or pip install numpy")

import arithmetic
from arithmetic import CannotCheck
from replay import compare
from vectors import check_vectors

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/strict-arithmetic.md")


def print_table(rows, heading):
	"""Prints (what, expected, computed) rows as they come; returns how many there were, and differ."""
	widths = [max(len(heading), 26), 64, 64]
	line = "  ".join(f"{{:{width}}}" for width in widths) + "  {}"
	count = unequal = 0
	for row in rows:
		if count == 0:
			print(line.format(heading, "expected", "computed", "equal"))
		equal = row[1] == row[2]
		print(line.format(*row, "yes" if equal else "NO"), flush=True)
		count += 1
		unequal += not equal
	return count, unequal


def main(arguments=None):
	"""The command line, given or the process's own; returns the exit status."""
	parser = argparse.ArgumentParser(
		description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
	)
	commands = parser.add_subparsers(dest="command", required=True)
	vectors = commands.add_parser("vectors", help="check every vector of docs/strict-arithmetic.md")
	vectors.add_argument("page", nargs="?", default=PAGE, help="the page; the project's own by default")
	bundle = commands.add_parser("bundle", help="compute the run of a bundle again")
	bundle.add_argument("dir", help="folder that `trainyard train` wrote")
	bundle.add_argument("--data", help="the data; DIR/dataset.csv by default")
	arguments = parser.parse_args(arguments)

	# Overflow to infinity and NaN are results like others here.
	np.seterr(all="ignore")
	try:
		arithmetic.check_machine()
		if arguments.command == "vectors":
			with open(arguments.page, encoding="utf-8") as file:
				rows = check_vectors(file.read())
			count, unequal = print_table(rows, "vector")
		else:
			data = arguments.data or os.path.join(arguments.dir, "dataset.csv")
			count, unequal = print_table(compare(arguments.dir, data), "checkpoint")
	except (CannotCheck, OSError, json.JSONDecodeError) as error:
		print(f"error: cannot check: {error}", file=sys.stderr)
		return 2
	except KeyError as error:
		print(f"error: cannot check: the bundle lacks the field {error}", file=sys.stderr)
		return 2
	print(f"{count - unequal} equal, {unequal} differ")
	return 1 if unequal else 0


if __name__ == "__main__":
	sys.exit(main())
