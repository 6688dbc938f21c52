#!/usr/bin/env python3
"""Checks who imports whom against walls.ini, beside this file.

    python3 -B tools/walls/walls.py [ROOT]

Prints each import that no rule allows and exits with 1, or says how many crates and files it
looked at. Python 3.9 or newer and cargo; nothing is compiled and nothing fetched.
"""

import configparser
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().parent / "walls.ini"


class Walls:
	"""The rules of a list."""

	def __init__(self, text):
		parser = configparser.ConfigParser(delimiters="=", comment_prefixes="#", interpolation=None)
		parser.optionxform = str
		parser.read_string(text)
		groups = words_of(parser, "groups")
		outside = words_of(parser, "others groups")
		self.ours = {name: expand(words, groups) for name, words in words_of(parser, "ours").items()}
		self.others = {name: expand(words, outside) for name, words in words_of(parser, "others").items()}
		self.tests = [word for words in words_of(parser, "tests").values() for word in words]
		self.only = words_of(parser, "only")
		self.lines = [
			(name[len("lines:") :].strip(), dict(parser[name])) for name in parser.sections() if name.startswith("lines:")
		]


def words_of(parser, section):
	return {name: value.split() for name, value in parser[section].items()} if section in parser else {}


def expand(words, groups):
	"""The words with each @group replaced by what is in it; !@group by each of it with a !."""
	found = []
	for word in words:
		mark, _, group = word.rpartition("@")
		if not group or "@" not in word:
			found.append(word)
		elif group in groups:
			found += [mark + name for name in groups[group]]
		else:
			raise KeyError(f"there is no group {group}")
	return found


def allowed(name, patterns):
	"""Whether a pattern allows the name and none forbids it."""
	good = any(fnmatch.fnmatchcase(name, it) for it in patterns if not it.startswith("!"))
	return good and not any(fnmatch.fnmatchcase(name, it[1:]) for it in patterns if it.startswith("!"))


def crates_of(root):
	"""The workspace's crates as cargo reads them: name, and (dependency, kind) of each."""
	command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"]
	done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True)
	packages = json.loads(done.stdout)["packages"]
	return {
		package["name"]: [(it["name"], it["kind"] or "normal") for it in package["dependencies"]] for package in packages
	}


def check_crates(walls, crates):
	"""What is wrong with the crates' dependencies, a sentence each."""
	wrong = []
	listed = set(walls.ours) | set(walls.others)
	for name in sorted(listed - set(crates)):
		wrong.append(f"{name} is in the list, but not in the workspace")
	for name, dependencies in sorted(crates.items()):
		if name not in walls.ours or name not in walls.others:
			wrong.append(f"{name} is not in the list: add it to [ours] and to [others]")
			continue
		for other, kind in sorted(set(dependencies)):
			what = f"{name} imports {other}" + ("" if kind == "normal" else f" ({kind}-dependency)")
			if other in crates:
				# The features of one's own crate, switched on in its tests.
				if other != name and other not in walls.ours[name]:
					may = ", ".join(walls.ours[name]) or "none"
					wrong.append(f"{what}; of ours it may import {may}")
				continue
			patterns = walls.others[name] + (walls.tests if kind == "dev" else [])
			if not allowed(other, patterns):
				wrong.append(f"{what}; of others it may import: {' '.join(walls.others[name])}")
			for pattern, owners in walls.only.items():
				if fnmatch.fnmatchcase(other, pattern) and name not in owners:
					wrong.append(f"{what}; only {', '.join(owners)} may")
	return wrong


def without_comments(text):
	"""Text with its comments blanked, line by line; // after a colon is an address."""
	text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), text, flags=re.S)
	return re.sub(r"(?<!:)//[^\n]*", "", text)


def check_lines(walls, root):
	"""The lines that stand where they must not, a sentence each; and the number of files read."""
	wrong, read = [], 0
	for name, rule in walls.lines:
		excepted, pattern = rule["except"].split(), re.compile(rule["pattern"])
		files = [path for glob in rule["in"].split() for path in sorted(root.glob(glob))]
		if not files:
			wrong.append(f"[lines: {name}] looks at no file: {rule['in']}")
		for path in files:
			relative = path.relative_to(root)
			# Patterns of exceptions count from the folder in which those of the rule begin to vary.
			base = re.split(r"[^/]*[*?\[]", rule["in"].split()[0])[0]
			inner = os.path.relpath(path, root / base)
			if any(fnmatch.fnmatchcase(inner, it) for it in excepted):
				continue
			read += 1
			for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).split("\n"), 1):
				if pattern.search(line):
					wrong.append(f"{relative}:{number}: {line.strip()}\n    {rule['why']}")
	return wrong, read


def main():
	root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else LIST.parents[2]).resolve()
	walls = Walls(LIST.read_text(encoding="utf-8"))
	crates = crates_of(root)
	lines, files = check_lines(walls, root)
	wrong = check_crates(walls, crates) + lines
	for sentence in wrong:
		print(sentence)
	if wrong:
		print(f"\n{len(wrong)} wrong. The rules are in tools/walls/walls.ini.")
		return 1
	print(f"{len(crates)} crates and {files} files keep to the walls")
	return 0


if __name__ == "__main__":
	sys.exit(main())
