#!/usr/bin/env python3
"""Computes the units of docs/drilling.md again in NumPy; it shares no code with the project.

Reproduces the page's test vectors: chains, calibrations and a trial.

Usage: drilling.py [PAGE]; exits with 0 where every vector agrees. Needs NumPy.
"""

import hashlib
import math
import pathlib
import re
import sys

import numpy as np

sys.dont_write_bytecode = True
from arithmetic import F32, cos_pi, exp, fma, log, matmul, nano, numbers, sqrt, tanh
from philox import noise
from replay import DATASET_FIELDS, TRAINING_FIELDS, Run
from states import merkle_root, state_hash

PAGE = "docs/drilling.md"
LANES, CYCLES, VARIABLES = 4096, 16, 10
T, T1 = numbers("3EFF7CEE 3F000004")


def blake(*parts):
	return hashlib.blake2b(b"".join(parts), digest_size=32).hexdigest()


def chain(seed, n, links):
	zeros = np.zeros((n, n), dtype=F32)
	x = noise(seed, 0, nano(10**9), zeros)
	deviation = nano(math.isqrt(9 * 10**18 // (4 * n)))
	for link in range(1, links + 1):
		w = noise(seed, link, deviation, zeros)
		x = tanh(matmul(x, w)).astype(F32)
	return blake(b"trainyard/drill/chain/v1", state_hash({"x": x}))


def turn(v, x, y):
	sine, cosine = cos_pi(v - F32(0.5)), cos_pi(v)
	below = (cos_pi(x + y) + cos_pi(x - y)) + F32(3)
	return ((F32(2) * sine) * cosine) / below


def cycle(lanes):
	e0, e1, e2, e3, x, y, a, b, c, z = lanes
	for _ in range(3):
		e0 = (((e0 + e1) + e2) - e3) * T
		e1 = (((e0 + e1) - e2) + e3) * T
		e2 = (((e0 - e1) + e2) + e3) * T
		e3 = (((-e0 + e1) + e2) + e3) / F32(2)
	x = turn(fma(F32(3), x, z), x, y)
	y = turn(fma(F32(3), y, e3), x, y)
	e0 = e0 + x
	c = c + y
	for _ in range(7):
		a, b = b, c
		a = T * (a + b)
		b = T1 * (a + b)
		c = (a + b) / F32(2)
	z = fma(x, x, np.abs(z)) / F32(2)
	for _ in range(3):
		z = sqrt(exp(log(z) / T1))
	return [e0, e1, e2, e3, x, y, a, b, c, z]


def calibration(seed, passes):
	x = np.zeros((VARIABLES, LANES), dtype=F32)
	for step in range(passes):
		lanes = list(noise(seed, step, nano(10**9 // 16), x))
		for _ in range(CYCLES):
			lanes = cycle(lanes)
		x = np.stack(lanes).astype(F32)
	state = state_hash({"x": x})
	return blake(b"trainyard/drill/calibration/v1", state, CYCLES.to_bytes(4, "little"))


class Table:
	"""The rows of the trial."""

	def __init__(self):
		(self.features, self.labels), validation = self.rows(40), self.rows(10)
		self.validation_features, self.validation_labels = validation

	@staticmethod
	def rows(count):
		row, j = np.arange(count)[:, None], np.arange(4)
		label = row % 2
		return label.astype(F32) + ((7 * row + 3 * j) % 11).astype(F32) / F32(11), label.ravel()


def trial(seed):
	dataset = {**dict.fromkeys(DATASET_FIELDS), "features": 4, "classes": 2}
	betas = {"beta1_nano": 900_000_000, "beta2_nano": 999_000_000, "epsilon_nano": 10}
	training = {
		**dict.fromkeys(TRAINING_FIELDS, 0),
		"steps": 60,
		"batch_size": 8,
		"checkpoint_interval": 60,
		"optimizer": {"adamw": betas},
		"learning_rate_nano": 20_000_000,
		"loss": "cross_entropy",
		"schedule": "constant",
		"input_noise_nano": 10_000_000,
		"early_stop": None,
	}
	model = {"mlp": {"hidden": [6], "activation": "tanh"}}
	spec = {"dataset": dataset, "model": model, "training": training, "initial_model": None}
	run = Run(spec, seed, Table())
	for step in range(60):
		run.step(step)
	run.evaluate(60)
	return blake(b"trainyard/drill/trial/v1", state_hash(run.state), merkle_root(run.trace))


def main():
	here = pathlib.Path(__file__).resolve()
	page = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2] / PAGE
	good = wrong = 0
	for unit, seed, expected in re.findall(r"^\| (.+?) \| `(..)` \| `(\w{64})` \|$", page.read_text(), re.M):
		seed, numbers = bytes([int(seed, 16)] * 32), [int(n) for n in re.findall(r"\d+", unit)]
		if unit.startswith("chain"):
			found = chain(seed, *numbers)
		elif unit.startswith("calibration"):
			found = calibration(seed, *numbers)
		else:
			found = trial(seed)
		good, wrong = good + (found == expected), wrong + (found != expected)
		print("ok   " if found == expected else "WRONG", unit, "=", found)
	print(f"{good} vectors agree, {wrong} do not")
	sys.exit(1 if wrong or not good else 0)


if __name__ == "__main__":
	main()
