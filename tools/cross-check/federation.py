"""The mean of federated rounds a second time, by exact fractions: checks the vectors of docs/federation.md.

	python3 tools/cross-check/federation.py
"""

import math
import struct
import sys
from fractions import Fraction
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/federation.md"
# The least exponent of a normal binary32, and the bits of its significand after the first.
LEAST_EXPONENT, PLACES = -126, 23


def bits_of(value):
	return f"{struct.unpack('<I', struct.pack('<f', value))[0]:08x}"


def value_of(bits):
	return struct.unpack("<f", struct.pack("<I", int(bits, 16)))[0]


def rounded(exact):
	"""The binary32 nearest to a fraction, ties to even."""
	if exact == 0:
		return 0.0
	size = abs(exact)
	exponent = size.numerator.bit_length() - size.denominator.bit_length()
	exponent -= Fraction(2) ** exponent > size
	last_place = Fraction(2) ** (max(exponent, LEAST_EXPONENT) - PLACES)
	count, rest = divmod(size, last_place)
	count += rest * 2 > last_place or (rest * 2 == last_place and count % 2 == 1)
	value = count * last_place
	return math.copysign(math.inf if value >= Fraction(2) ** 128 else float(value), exact)


def weights(rows):
	total = Fraction(rounded(Fraction(sum(rows))))
	return [rounded(Fraction(rounded(Fraction(n))) / total) for n in rows]


def fused(weight, value, addend):
	"""weight * value + addend, rounded once. Infinities and exact zeros follow the rules of IEEE 754."""
	if not (math.isfinite(value) and math.isfinite(addend)):
		return weight * value + addend
	exact = Fraction(weight) * Fraction(value) + Fraction(addend)
	return rounded(exact) if exact != 0 else weight * value + addend


def product(weight, value):
	if not math.isfinite(value):
		return weight * value
	return math.copysign(rounded(Fraction(weight) * Fraction(value)), value)


def mean(rows, values):
	pairs = list(zip(weights(rows), values))
	total = product(*pairs[0])
	for weight, value in pairs[1:]:
		total = fused(weight, value, total)
	return "7fc00000" if math.isnan(total) else bits_of(total)


def main():
	agree = differ = 0
	for line in PAGE.read_text().splitlines():
		if not line.startswith("| `mean` |"):
			continue
		rows, values, expected = (cell.strip().strip("`") for cell in line.split("|")[2:5])
		found = mean([int(n) for n in rows.split()], [value_of(bits) for bits in values.split()])
		if found == expected:
			agree += 1
		else:
			differ += 1
			print(f"the mean is {found}, and the page says {expected}: {line}")
	# A page without vectors would agree with anything.
	differ += agree < 8
	print(f"{agree} vectors agree, {differ} do not")
	sys.exit(differ > 0)


if __name__ == "__main__":
	main()
