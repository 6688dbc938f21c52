#!/usr/bin/env python3
"""Each kind of forbidden import is found, and what is allowed is not.

    python3 -B tools/walls/test_walls.py
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import walls as subject

# A house of four crates, as large as the rules need.
RULES = """
[groups]
pallets = pallet-one pallet-two
[ours]
ground =
engine = ground
pallet-one = ground
pallet-two = ground
[others]
ground = libm
engine = * !clap !tokio*
pallet-one = @chain
pallet-two = @chain
[others groups]
chain = frame-* serde
[tests]
everywhere = proptest
[only]
candle-nn = engine
"""
GOOD = {
	"ground": [("libm", "normal"), ("proptest", "dev")],
	"engine": [("ground", "normal"), ("candle-nn", "normal")],
	"pallet-one": [("ground", "normal"), ("frame-support", "normal")],
	"pallet-two": [("ground", "normal"), ("serde", "build")],
}


def found_with(**changed):
	"""What is wrong where these crates have these dependencies besides."""
	crates = {name: list(dependencies) for name, dependencies in GOOD.items()}
	for name, dependencies in changed.items():
		crates.setdefault(name.replace("_", "-"), []).extend(dependencies)
	return subject.check_crates(subject.Walls(RULES), crates)


def found_lines(files, rule):
	"""What is wrong with the lines of these files under the rule."""
	walls = subject.Walls(f"[lines: it]\nwhy = so it is\n{rule}")
	with tempfile.TemporaryDirectory() as folder:
		root = pathlib.Path(folder)
		for name, text in files.items():
			(root / name).parent.mkdir(parents=True, exist_ok=True)
			(root / name).write_text(text, encoding="utf-8")
		return subject.check_lines(walls, root)[0]


def test_a_house_that_keeps_to_the_rules_is_right():
	assert found_with() == []


def test_an_import_of_a_higher_floor_is_found():
	(one,) = found_with(ground=[("engine", "normal")])
	assert one == "ground imports engine; of ours it may import none", one


def test_a_pallet_that_imports_another_one_in_its_tests_is_found():
	(one,) = found_with(pallet_one=[("pallet-two", "dev")])
	assert one == "pallet-one imports pallet-two (dev-dependency); of ours it may import ground", one


def test_a_crate_may_switch_on_features_of_itself_in_its_tests():
	assert found_with(engine=[("engine", "dev")]) == []


def test_a_forbidden_crate_of_others_is_found():
	(one,) = found_with(engine=[("tokio-util", "normal")])
	assert one.startswith("engine imports tokio-util; of others it may import"), one
	(one,) = found_with(engine=[("clap", "dev")])
	assert one.startswith("engine imports clap (dev-dependency)"), one


def test_a_crate_of_others_that_no_pattern_allows_is_found():
	(one,) = found_with(pallet_two=[("rayon", "build")])
	assert one.startswith("pallet-two imports rayon (build-dependency)"), one


def test_what_only_tests_may_import_is_found_elsewhere():
	(one,) = found_with(ground=[("proptest", "normal")])
	assert one.startswith("ground imports proptest;"), one


def test_what_belongs_to_one_crate_is_found_in_others():
	walls = subject.Walls(RULES.replace("ground = libm", "ground = *"))
	crates = dict(GOOD, ground=[("candle-nn", "normal")])
	assert subject.check_crates(walls, crates) == ["ground imports candle-nn; only engine may"]


def test_a_crate_that_is_not_listed_is_found():
	assert found_with(newcomer=[]) == ["newcomer is not in the list: add it to [ours] and to [others]"]


def test_a_crate_that_is_gone_is_found():
	crates = {name: dependencies for name, dependencies in GOOD.items() if name != "pallet-two"}
	found = subject.check_crates(subject.Walls(RULES), crates)
	assert found == ["pallet-two is in the list, but not in the workspace"], found


def test_a_group_that_is_not_there_is_an_error():
	try:
		subject.Walls("[ours]\nground = @nothing\n")
	except KeyError:
		return
	raise AssertionError("it was accepted")


def test_a_forbidden_line_is_found_with_its_number():
	rule = "in = p/src/**/*.rs\nexcept = life.rs tests/**\npattern = \\.state\\s*=[^=]\n"
	line = "job.state = done;\n"
	good = {"p/src/life.rs": line, "p/src/tests/a.rs": line, "p/src/b.rs": "if job.state == done { } // job.state = x\n"}
	assert found_lines(good, rule) == []
	found = found_lines({**good, "p/src/deep/b.rs": "/* two\nlines */\n" + line}, rule)
	assert found == ["p/src/deep/b.rs:3: job.state = done;\n    so it is"], found


def test_a_rule_that_looks_at_nothing_is_found():
	(one,) = found_lines({"a.rs": ""}, "in = gone/**/*.rs\nexcept =\npattern = x\n")
	assert one.startswith("[lines: it] looks at no file"), one


def test_dependencies_are_those_that_cargo_reads():
	"""Renamed, optional, of a target, of tests: in a workspace of its own."""
	with tempfile.TemporaryDirectory() as folder:
		root = pathlib.Path(folder)
		(root / "Cargo.toml").write_text('[workspace]\nresolver = "2"\nmembers = ["one", "two"]\n')
		head = '[package]\nname = "{}"\nversion = "1.0.0"\nedition = "2021"\n'
		(root / "one").mkdir()
		(root / "one/Cargo.toml").write_text(
			head.format("one")
			+ '[dependencies]\nalias = { package = "two", path = "../two" }\n'
			+ 'tokio = { version = "1", optional = true }\n'
			+ '[dev-dependencies]\nproptest = "1"\n'
			+ '[target."cfg(unix)".dependencies]\nlibc = "0.2"\n'
		)
		(root / "two").mkdir()
		(root / "two/Cargo.toml").write_text(head.format("two"))
		for name in "one", "two":
			(root / name / "src").mkdir()
			(root / name / "src/lib.rs").write_text("")
		crates = subject.crates_of(root)
	assert sorted(crates["one"]) == [
		("libc", "normal"),
		("proptest", "dev"),
		("tokio", "normal"),
		("two", "normal"),
	], crates
	assert crates["two"] == []


def test_the_list_itself_can_be_read():
	walls = subject.Walls(subject.LIST.read_text(encoding="utf-8"))
	assert set(walls.ours) == set(walls.others)
	for pallet in [name for name in walls.ours if name.startswith("pallet-")]:
		assert not [other for other in walls.ours[pallet] if other.startswith("pallet-")], pallet


def main():
	tests = [(name, it) for name, it in globals().items() if name.startswith("test_")]
	failed = 0
	for name, test in tests:
		try:
			test()
			print(f"ok - {name}")
		except Exception as error:
			failed += 1
			print(f"not ok - {name}: {type(error).__name__} {error}")
	print(f"# pass {len(tests) - failed}\n# fail {failed}")
	sys.exit(1 if failed else 0)


if __name__ == "__main__":
	main()
