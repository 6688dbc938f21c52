#!/usr/bin/env python3
"""Trains short jobs with the worker and checks each run by cross_check.py; prints TAP.

	short_runs.py --bin TRAINYARD --dir FOLDER

The last checks are of the cross-check itself: it must find one bit that was changed.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys

import cross_check
from jobs import short_jobs

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def run(*arguments):
	"""cross_check.py with these arguments: its exit status, and what it printed."""
	printed = io.StringIO()
	with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
		status = cross_check.main(list(arguments))
	return status, printed.getvalue()


def unequal_rows(text):
	"""What the table says is not equal."""
	return re.findall(r"^(.*?)  .* NO$", text, re.MULTILINE)


def flip_bit(text, place):
	"""The text, with the lowest bit of the hexadecimal digit at this place flipped."""
	return text[:place] + f"{int(text[place], 16) ^ 1:x}" + text[place + 1 :]


class Checks:
	"""Counts checks and prints them as TAP."""

	def __init__(self):
		self.passed = self.failed = 0

	def add(self, name, good, text):
		"""Notes one check; `text` is shown where it failed."""
		self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
		print(f"{'ok' if good else 'not ok'} {self.passed + self.failed} - {name}", flush=True)
		if not good:
			print("".join(f"# {line}\n" for line in text.splitlines()), end="")

	def end(self):
		"""Prints the counts; returns the exit status."""
		print(f"1..{self.passed + self.failed}")
		print(f"# pass {self.passed}\n# fail {self.failed}")
		return 1 if self.failed else 0


def train(binary, folder, name, job):
	"""Trains a job under a seed of its own; returns the bundle's folder, or None, and the output."""
	base = os.path.join(folder, name.replace(" ", "-").replace(",", "").lower())
	shutil.rmtree(base, ignore_errors=True)
	with open(f"{base}.toml", "w", encoding="utf-8") as file:
		file.write(job)
	seed = hashlib.sha256(name.encode()).hexdigest()
	command = [binary, "train", f"{base}.toml", "--out", base, "--seed", seed]
	done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
	return base if done.returncode == 0 else None, done.stdout


def check_that_a_flipped_bit_shows(checks, bundle):
	"""Changes one bit of a bundle's manifest at a time: only what depends on it may be unequal."""
	path = os.path.join(bundle, "manifest.json")
	with open(path, encoding="utf-8") as file:
		manifest = json.load(file)
	checkpoint = manifest["checkpoints"][1]
	state, seed = checkpoint["state_hash"], manifest["seed"]

	def with_changes():
		with open(path, "w", encoding="utf-8") as file:
			json.dump(manifest, file)
		return run("bundle", bundle)

	for place in (2, len(state) - 1):
		checkpoint["state_hash"] = flip_bit(state, place)
		status, text = with_changes()
		good = status == 1 and unequal_rows(text) == [f"step {checkpoint['step']} state"]
		checks.add(f"a flipped bit in digit {place - 1} of a state hash is found", good, text)
	checkpoint["state_hash"] = state

	trace = checkpoint["trace"]
	checkpoint["trace"] = flip_bit(trace, 2)
	status, text = with_changes()
	good = status == 1 and unequal_rows(text) == [f"step {checkpoint['step']} trace"]
	checks.add("a flipped bit of a trace is found", good, text)
	checkpoint["trace"] = trace

	manifest["seed"] = flip_bit(seed, len(seed) - 1)
	status, text = with_changes()
	states = {f"step {c['step']} state" for c in manifest["checkpoints"]} | {"bundle root"}
	good = status == 1 and states <= set(unequal_rows(text))
	checks.add("under another seed every state is another one", good, text)
	manifest["seed"] = seed

	status, text = with_changes()
	checks.add("with the bits flipped back all is equal again", status == 0, text)


def check_that_a_wrong_vector_shows(checks, folder):
	"""Changes one bit of one vector."""
	with open(cross_check.PAGE, encoding="utf-8") as file:
		page = file.read()
	vector = re.search(r"^exp 3F800000 = [0-9A-F]{8}$", page, re.MULTILINE)
	wrong = os.path.join(folder, "wrong-vector.md")
	with open(wrong, "w", encoding="utf-8") as file:
		last = vector.end() - 1
		file.write(flip_bit(page, last))
	status, text = run("vectors", wrong)
	good = status == 1 and unequal_rows(text) == ["exp 3F800000"]
	checks.add("a flipped bit in a vector is found", good, text)


def main():
	"""The command line; returns the exit status."""
	parser = argparse.ArgumentParser(
		description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
	)
	parser.add_argument("--bin", required=True, help="the worker's binary")
	parser.add_argument("--dir", required=True, help="folder for data, jobs and bundles")
	arguments = parser.parse_args()
	folder = os.path.abspath(arguments.dir)
	os.makedirs(folder, exist_ok=True)
	names = "digits.csv", "alice.txt"
	files = [os.path.abspath(os.path.join(ROOT, "ml-worker/examples/data", name)) for name in names]

	checks = Checks()
	status, text = run("vectors")
	checks.add("every vector of docs/strict-arithmetic.md", status == 0, text)
	bundle = None

	def check(name, job):
		"""Trains a job and computes its run again; returns the bundle's folder, or None."""
		trained, text = train(arguments.bin, folder, name, job)
		if trained is None:
			checks.add(name, False, text)
			return None
		status, text = run("bundle", trained)
		checks.add(f"{name}: {text.splitlines()[-1]}", status == 0, text)
		return trained

	jobs = dict(short_jobs(*files, folder))
	for name, job in jobs.items():
		trained = check(name, job)
		bundle = bundle or trained
	if bundle:
		# The first job's model, trained further by another optimizer.
		model = os.path.join(bundle, "model.safetensors")
		check("Fine-tuning by AdamW", jobs["AdamW"] + f'[initial_model]\npath = "{model}"\n')
	check_that_a_wrong_vector_shows(checks, folder)
	if bundle:
		check_that_a_flipped_bit_shows(checks, bundle)
	return checks.end()


if __name__ == "__main__":
	sys.exit(main())
