"""Section 4 of docs/strict-arithmetic.md: random numbers, initial weights, the order of the rows."""

import hashlib
import math

import numpy as np

from arithmetic import F32, fma, inverse_normal, sqrt

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
INCREMENTS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
# Of the network that orders the rows.
ROUNDS_OF_ORDER = 8
WORD = np.uint64(0xFFFFFFFF)
WORD_BITS = np.uint64(32)


def blake2_256(content):
	"""BLAKE2b with 32 bytes of output and no key."""
	return hashlib.blake2b(content, digest_size=32).digest()


def philox(counter, key):
	"""Philox4x32-10: four words for every counter.

	`counter` is four words, each an array or an integer; the result is of shape [4, ...].
	"""
	c = [np.asarray(word, dtype=np.uint64) for word in np.broadcast_arrays(*counter)]
	k = list(key)
	for _ in range(ROUNDS):
		products = [c[0] * np.uint64(MULTIPLIERS[0]), c[2] * np.uint64(MULTIPLIERS[1])]
		high = [product >> WORD_BITS for product in products]
		low = [product & WORD for product in products]
		c = [high[1] ^ c[1] ^ np.uint64(k[0]), low[1], high[0] ^ c[3] ^ np.uint64(k[1]), low[0]]
		k = [(word + increment) % 2**32 for word, increment in zip(k, INCREMENTS)]
	return np.stack(c)


class Stream:
	"""A named stream of random numbers that belongs to a seed (32 bytes)."""

	def __init__(self, seed, name):
		digest = blake2_256(b"trainyard/philox/v1" + seed + name.encode())
		self.key = [int.from_bytes(digest[i : i + 4], "little") for i in (0, 4)]

	def words(self, step, count, first=0):
		"""The first `count` words of the blocks from number `first` on, at a step."""
		index = np.arange(-(-count // 4), dtype=np.uint64) + np.uint64(first)
		blocks = philox((index & WORD, index >> WORD_BITS, step, 0), self.key)
		return blocks.T.reshape(-1)[:count]

	def below(self, step, index, bound):
		"""Bounded draw number `index` at a step: an integer in 0..bound."""
		block = philox((index // 2 % 2**32, index // 2**33, step, 0), self.key)
		low, high = (int(word) for word in (block[:2] if index % 2 == 0 else block[2:]))
		return (low + (high << 32)) * bound >> 64

	def draws(self, step, first, count, bound):
		"""`count` bounded draws from number `first` on, which is even; `bound` is at most 2^16."""
		words = self.words(step, 2 * count, first // 2)
		low, high = (half.astype(np.uint64) * np.uint64(bound) for half in (words[::2], words[1::2]))
		return ((high + (low >> WORD_BITS)) >> WORD_BITS).astype(np.int64)


def symmetric(words):
	"""The symmetric variate in (-1, 1) of each word."""
	n = (np.asarray(words, dtype=np.uint64) >> np.uint64(8)).astype(np.int64)
	return ((2 * n + 1 - 2**24) / np.float64(2**24)).astype(F32)


def scale(fan_in):
	"""s = sqrt(2 / (5 inputs)) of a layer with that many inputs."""
	return F32(sqrt(F32(2) / F32(5 * fan_in)))


def drawn(seed, number, shape, inputs):
	"""The initial values of the drawn tensor with this number: a mixture of two normal distributions."""
	words = Stream(seed, "init").words(number, int(np.prod(shape)))
	s = scale(inputs)
	shift = F32(2) * s
	signed = np.where((words & np.uint64(1)) == 0, shift, -shift)
	return fma(s, inverse_normal(symmetric(words)), signed).reshape(shape)


def noise(seed, step, deviation, x):
	"""x with normal noise of this standard deviation, as a training step adds it to its batch."""
	words = Stream(seed, "noise").words(step, x.size)
	return fma(deviation, inverse_normal(symmetric(words)).reshape(x.shape), x)


def permuted(stream, epoch, a, b, values):
	"""What one pass of the network makes of each value below a b."""
	x, y = np.divmod(values, b)
	for number in range(0, ROUNDS_OF_ORDER, 2):
		x = (x + stream.draws(epoch, number << 32, b, a)[y]) % a
		y = (y + stream.draws(epoch, (number + 1) << 32, a, b)[x]) % b
	return x * b + y


def rows_at(seed, epoch, rows, positions):
	"""The training rows at these positions of an epoch's order: a Feistel network, walked."""
	if rows == 0:
		return np.arange(0)
	a = math.isqrt(rows - 1) + 1
	a += a % 2
	b = -(-rows // a)
	stream = Stream(seed, "shuffle")
	order = permuted(stream, epoch, a, b, np.asarray(positions))
	while (order >= rows).any():
		beyond = order >= rows
		order[beyond] = permuted(stream, epoch, a, b, order[beyond])
	return order


def epoch_order(seed, epoch, rows):
	"""The order of the training rows in an epoch."""
	return rows_at(seed, epoch, rows, np.arange(rows))


def batch_rows(seed, step, rows, batch_size, orders):
	"""The training rows of a step's batch. `orders` caches the order of the present epoch."""
	steps = rows // batch_size
	epoch = step // steps
	if epoch not in orders:
		orders.clear()
		orders[epoch] = epoch_order(seed, epoch, rows)
	place = step % steps * batch_size
	return orders[epoch][place : place + batch_size]
