#!/usr/bin/env python3
"""Opens what `trainyard model encode` wrote with Python's package safetensors, rounds the same tensors
in NumPy, and compares every bit; unpacks zstd with the program of that name where there is one. Prints
TAP.

	encoded_elsewhere.py --bin TRAINYARD --dir FOLDER
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import numpy as np

from short_runs import Checks

try:
	from safetensors.numpy import load_file, save_file
except ImportError:
	sys.exit(
		"Python's package safetensors is missing: run ./scripts/setup, which installs it into a "
		"folder of its own, or: pip install --user safetensors numpy"
	)


def model():
	"""Tensors of many magnitudes, and some of other types."""
	numbers = np.random.default_rng(20261127)
	rows = np.exp(numbers.standard_normal((300, 1)) * 3)
	weights = (numbers.standard_normal((300, 7, 11)) * rows[:, :, None]).astype(np.float32)
	weights[5] = 0
	return {
		"layer.weight": np.clip(weights, np.float32(-60_000), np.float32(60_000)),
		"layer.bias": (numbers.standard_normal(301) * 1e-6).astype(np.float32),
		"narrow": numbers.standard_normal((400, 3)).astype(np.float32),
		"steps": np.arange(5, dtype=np.int64),
		"half": np.linspace(-2, 2, 9).astype(np.float16),
		"mask": np.array([True, False, True]),
	}


def bits(values):
	return values.view(np.uint32)


def as_f16(values):
	return values.astype(np.float16).astype(np.float32)


def as_bf16(values):
	wide = bits(values).astype(np.uint64)
	return ((wide + 0x7FFF + (wide >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def scales_of(values):
	rows = values.reshape(len(values), -1)
	return (np.abs(rows).max(axis=1) / np.float32(127)).astype(np.float32)


def as_i8(values):
	if values.ndim < 2 or values[0].size < 16:
		return values
	scales = scales_of(values).reshape(-1, *[1] * (values.ndim - 1))
	with np.errstate(divide="ignore", invalid="ignore"):
		steps = np.where(scales == 0, 0, np.rint(values / scales))
	return np.clip(steps, -127, 127).astype(np.int8).astype(np.float32) * scales


RULES = {"f16": as_f16, "bf16": as_bf16, "i8": as_i8}


def encode(binary, encoding, source, out):
	"""Encodes a file, decodes it again, and returns the header and what came back."""
	back = out + ".back"
	written = subprocess.run(
		[binary, "model", "encode", source, "--as", encoding, "--out", out, "--json"],
		check=True,
		capture_output=True,
	)
	decode = [binary, "model", "decode", out, "--out", back, "--json"]
	subprocess.run(decode, check=True, capture_output=True)
	return json.loads(written.stdout)["header"], back


def check_rounding(checks, binary, folder, tensors, source):
	for encoding, rule in RULES.items():
		out = os.path.join(folder, f"{encoding}.safetensors")
		header, back = encode(binary, encoding, source, out)
		same = header["size"] == os.path.getsize(source)
		checks.add(f"{encoding}: the header has the length", same, str(header))
		decoded = load_file(back)
		same = set(decoded) == set(tensors)
		checks.add(f"{encoding}: decoding gives all tensors", same, str(set(decoded)))
		for name, values in tensors.items():
			is_float = values.dtype == np.float32
			wanted = rule(values) if is_float else values
			same = decoded[name].dtype == wanted.dtype and decoded[name].shape == wanted.shape
			same = same and decoded[name].tobytes() == wanted.tobytes()
			checks.add(f"{encoding}: {name} is what NumPy rounds it to", same, str(decoded[name]))
	stored = load_file(os.path.join(folder, "f16.safetensors"))
	weights = tensors["layer.weight"]
	same = (stored["layer.weight"] == weights.astype(np.float16)).all()
	checks.add("f16: the package safetensors reads it", same, str(stored["layer.weight"]))
	stored = load_file(os.path.join(folder, "i8.safetensors"))
	scales = stored["layer.weight.i8_scale"]
	same = stored["layer.weight"].dtype == np.int8 and (scales == scales_of(weights)).all()
	checks.add("i8: the package safetensors reads it, and its scales", same, str(scales))


def check_zstd(checks, binary, folder, source):
	out = os.path.join(folder, "packed.zst")
	_, back = encode(binary, "zstd", source, out)
	with open(source, "rb") as file:
		plain = file.read()
	with open(back, "rb") as file:
		checks.add("zstd: the very file comes back", file.read() == plain, back)
	program = shutil.which("zstd")
	if program:
		unpacked = subprocess.run([program, "-dc", out], check=True, capture_output=True).stdout
		checks.add("zstd: the program zstd unpacks it", unpacked == plain, out)


def main():
	"""The command line; returns the exit status."""
	parser = argparse.ArgumentParser(
		description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
	)
	parser.add_argument("--bin", required=True, help="the program trainyard")
	parser.add_argument("--dir", required=True, help="folder for files, which is emptied first")
	arguments = parser.parse_args()
	shutil.rmtree(arguments.dir, ignore_errors=True)
	os.makedirs(arguments.dir)
	source = os.path.join(arguments.dir, "model.safetensors")
	tensors = model()
	save_file(tensors, source, metadata={"format": "np"})
	checks = Checks()
	check_rounding(checks, arguments.bin, arguments.dir, tensors, source)
	check_zstd(checks, arguments.bin, arguments.dir, source)
	return checks.end()


if __name__ == "__main__":
	sys.exit(main())
