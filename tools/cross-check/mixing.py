"""Mixing of models a second time, in NumPy and by exact fractions: checks the vectors of docs/mixing.md.

	python3 tools/cross-check/mixing.py            # checks, and exits with 1 where something differs
	python3 tools/cross-check/mixing.py --write    # prints the tables with what this program computes
"""

import hashlib
import math
import struct
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

from federation import bits_of, fused, value_of

PAGE = Path(__file__).resolve().parents[2] / "docs/mixing.md"
BLOCK = 4096
F = np.float32


def fma(a, b, c):
	return F(fused(float(a), float(b), float(c)))


class Rule:
	"""How updates are compressed."""

	def __init__(self, picks, bits):
		self.picks, self.bits, self.levels = picks, bits, 1 << (bits - 1)

	def picked(self, length):
		return -(-length * self.picks // BLOCK)

	def low(self, length):
		return (length // self.picked(length)).bit_length() - 1

	def bytes(self, length):
		bits = self.picked(length) * (self.low(length) + self.bits + 1) + ((length - 1) >> self.low(length))
		return -(-(64 + bits) // 8)

	def spell(self, values):
		"""The bytes of a block, and what is left of its values."""
		length = len(values)
		count, low = self.picked(length), self.low(length)
		order = sorted(range(length), key=lambda place: (-abs(values[place]), place))
		places = sorted(order[:count])
		sizes = [abs(values[place]) for place in places]
		least, step = min(sizes), F((max(sizes) - min(sizes)) / F(self.levels))
		left, written, codes = values.copy(), [], []
		for place in places:
			size, negative = abs(values[place]), bool(np.signbit(values[place]))
			level = min(int(F(size - least) / step), self.levels - 1) if step > 0 else 0
			stands = fma(step, F(level) + F(0.5), least)
			left[place] = F(values[place] - (-stands if negative else stands))
			written.append(place)
			codes.append([negative, *(level >> bit & 1 for bit in range(self.bits - 1))])
		text = [int(bits_of(least), 16) >> bit & 1 for bit in range(32)]
		text += [int(bits_of(step), 16) >> bit & 1 for bit in range(32)]
		for place in written:
			text += [place >> bit & 1 for bit in range(low)]
		ones = [(place >> low) + number for number, place in enumerate(written)]
		high = [0] * (((length - 1) >> low) + count)
		for one in ones:
			high[one] = 1
		text += high + [bit for code in codes for bit in code]
		text += [0] * (-len(text) % 8)
		whole = bytes(sum(bit << at for at, bit in enumerate(text[first : first + 8])) for first in range(0, len(text), 8))
		return whole, left

	def read(self, length, whole):
		"""The values of a block by their places."""
		text = [byte >> bit & 1 for byte in whole for bit in range(8)]
		take = lambda first, bits: sum(bit << at for at, bit in enumerate(text[first : first + bits]))
		least, step = (value_of(f"{take(first, 32):08x}") for first in (0, 32))
		count, low = self.picked(length), self.low(length)
		first, high = 64 + count * low, ((length - 1) >> low) + count
		ones = [at for at in range(high) if text[first + at]]
		values = {}
		for number, one in enumerate(ones):
			place = (one - number) << low | take(64 + number * low, low)
			code = first + high + number * self.bits
			size = fma(step, F(take(code + 1, self.bits - 1)) + F(0.5), least)
			values[place] = -size if text[code] else size
		return values

	def update(self, tensors, values):
		"""The bytes of an update, and what is left."""
		whole, left, at = b"", [], 0
		for tensor in tensors:
			for first in range(0, tensor, BLOCK):
				length = min(BLOCK, tensor - first)
				block, rest = self.spell(values[at : at + length])
				whole, at = whole + block, at + length
				left.append(rest)
		return whole, np.concatenate(left)


def norm(values):
	"""The root of the strict dot product, in blocks of 512."""
	total = None
	for first in range(0, len(values), 512):
		chain = F(0)
		for value in values[first : first + 512]:
			chain = fma(value, value, chain)
		total = chain if total is None else F(total + chain)
	return np.sqrt(total)


def aggregate(clip, trim, late, length, updates):
	norms = [norm([update[place] for place in sorted(update)]) for update in updates]
	weights = [F(0.5**rounds) if rounds < 24 else F(0) for rounds in late]
	there = [peer for peer, weight in enumerate(weights) if weight > 0]
	if not there:
		return norms, None
	counted = sorted(norms[peer] for peer in there)
	bound = F(clip * counted[(len(counted) - 1) // 2]) if clip else None
	scale = lambda size: F(0) if np.isinf(size) else F(bound / size) if size > bound else F(1)
	scales = [scale(size) if clip else F(1) for size in norms]
	total = in_order(weights[peer] for peer in there)
	made = []
	for place in range(length):
		here = [(peer, F(updates[peer][place] * scales[peer])) for peer in there if place in updates[peer]]
		kept = sorted(sorted(here, key=lambda one: (one[1], one[0]))[trim : len(here) - trim])
		found = in_order(F(value * weights[peer]) for peer, value in kept)
		if trim and kept:
			all_of_them, theirs = (in_order(weights[peer] for peer, _ in some) for some in (here, kept))
			found = F(found * F(all_of_them / theirs))
		made.append(F(found / total))
	return norms, made


def in_order(numbers):
	"""The sum of numbers, added one by one to 0."""
	total = F(0)
	for number in numbers:
		total = F(total + number)
	return total


def outer(rate, momentum, values, velocity, gradient):
	moved, faster = [], []
	for at, (x, g) in enumerate(zip(values, gradient)):
		if momentum:
			v = fma(momentum, velocity[at], g)
			faster.append(v)
			g = fma(momentum, v, g)
		moved.append(fma(-rate, g, x))
	return moved, faster


def formula(length, seed):
	"""Numbers of many ties: (37 i + seed) mod 101, divided by 64, less 3/4."""
	return np.array([((37 * i + seed) % 101) / 64 - 0.75 for i in range(length)], F)


def numbers(cell):
	return [F(value_of(word)) for word in cell.split()]


def words(values):
	return " ".join("7fc00000" if math.isnan(value) else bits_of(value) for value in values)


def digest(data):
	return hashlib.blake2b(data, digest_size=32).hexdigest()


def compute(name, cells):
	"""What the last cells of a row should be, from those before."""
	if name == "block":
		rule = Rule(*map(int, cells[0].split()))
		whole, left = rule.spell(np.array(numbers(cells[1]), F))
		return [whole.hex(), words(left)]
	if name == "update":
		rule, tensors = Rule(*map(int, cells[0].split())), [int(n) for n in cells[1].split()]
		whole, left = rule.update(tensors, formula(sum(tensors), int(cells[2])))
		return [str(len(whole)), digest(whole), digest(left.astype("<f4").tobytes())]
	if name == "norm":
		rule, tensors = Rule(*map(int, cells[0].split())), [int(n) for n in cells[1].split()]
		whole, _ = rule.update(tensors, formula(sum(tensors), int(cells[2])))
		values, begin = [], 0
		for tensor in tensors:
			for first in range(0, tensor, BLOCK):
				length = min(BLOCK, tensor - first)
				block = rule.read(length, whole[begin : begin + rule.bytes(length)])
				values += [block[place] for place in sorted(block)]
				begin += rule.bytes(length)
		return [words([norm(values)])]
	if name == "average":
		own, remote = numbers(cells[0]), numbers(cells[1])
		mean = lambda x, y: fma(F(0.5), y, F(F(0.5) * x))
		return [words(mean(x, y) for x, y in zip(own, remote))]
	if name == "aggregate":
		picks, bits, length = map(int, cells[0].split())
		clip, trim = cells[1].split()
		late = [int(n) for n in cells[2].split()]
		updates = [Rule(picks, bits).read(length, bytes.fromhex(text)) for text in cells[3].split()]
		norms, made = aggregate(F(value_of(clip)) if clip != "-" else None, int(trim), late, length, updates)
		return [words(norms), words(made) if made else "-"]
	if name == "outer":
		rate, momentum = numbers(cells[0])
		moved, faster = outer(rate, momentum, numbers(cells[1]), numbers(cells[2]), numbers(cells[3]))
		return [words(moved), words(faster)]
	raise KeyError(name)


GIVEN = {"block": 2, "update": 3, "average": 2, "aggregate": 4, "norm": 3, "outer": 4}


def main():
	write = "--write" in sys.argv[1:]
	agree = differ = 0
	names = set()
	for line in PAGE.read_text().splitlines():
		cells = [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
		if not cells or cells[0] not in GIVEN or not line.startswith("| `"):
			continue
		name, given = cells[0], cells[1 : 1 + GIVEN[cells[0]]]
		found, expected = compute(name, given), cells[1 + GIVEN[name] :]
		names.add(name)
		if write:
			print("| " + " | ".join(f"`{cell}`" if cell else "" for cell in [name, *given, *found]) + " |")
		elif found == expected:
			agree += 1
		else:
			differ += 1
			print(f"computed: {found}, and the page says {expected}: {line}")
	# A page without vectors would agree with anything.
	differ += agree < 12 or names != set(GIVEN)
	if not write:
		print(f"{agree} vectors agree, {differ} do not")
		sys.exit(differ > 0)


if __name__ == "__main__":
	main()
