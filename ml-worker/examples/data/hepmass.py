#!/usr/bin/env python3
"""Writes data of the shape of HEPMASS, compressed by gzip: the same bytes for the same numbers of rows.

	hepmass.py ROWS FILE.csv.gz

The columns are those of the file as published (P. Baldi et al., UCI Machine Learning Repository,
2016): the label, 1 for signal and 0 for background, as a float; 27 features, f0 to f26; the mass of
the particle looked for. What the features mean is made up: their means differ by label and mass, so
that there is something to learn. Needs NumPy.
"""

import gzip
import sys

import numpy as np

FEATURES = 27
MASSES = (500, 750, 1000, 1250, 1500)
CHUNK = 10_000


def rows(draw, count):
	"""Labels, features and masses of that many rows, as binary32: `[count, 29]`."""
	label = draw.integers(0, 2, count)
	mass = draw.choice(MASSES, count)
	places = np.arange(FEATURES)
	shift = np.outer(label * (mass / 1000), np.cos(places * 1.7)) * 0.6
	features = draw.standard_normal((count, FEATURES)) + shift
	return np.column_stack([label, features, mass]).astype(np.float32)


def main():
	"""The command line."""
	if len(sys.argv) != 3 or not sys.argv[1].isdigit():
		sys.exit(__doc__)
	left, draw = int(sys.argv[1]), np.random.Generator(np.random.PCG64(2016))
	names = ",".join(["# label", *(f"f{i}" for i in range(FEATURES)), "mass"])
	# No time and no name in the header of gzip.
	with open(sys.argv[2], "wb") as out, gzip.GzipFile("", "wb", 6, out, mtime=0) as file:
		file.write(f"{names}\n".encode())
		while left > 0:
			count = min(left, CHUNK)
			np.savetxt(file, rows(draw, count), fmt="%.18e", delimiter=",")
			left -= count


if __name__ == "__main__":
	main()
