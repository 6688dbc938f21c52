#!/usr/bin/env python3
"""Computes epsilons by Google's dp-accounting: what the accountant of the engine is compared with.

The package is not installed by scripts/setup, because it brings SciPy. For this program:

    python3 -m venv VENV && VENV/bin/pip install dp-accounting==0.6.0
    VENV/bin/python tools/cross-check/privacy.py          # compares the file with what it computes; exit code 0: equal
    VENV/bin/python tools/cross-check/privacy.py --write  # writes the file
"""

import pathlib
import sys

FILE = pathlib.Path(__file__).parents[2] / "ml-worker/engine/src/private/epsilons.txt"
# Those of accountant.rs.
ORDERS = [*range(2, 129), *range(160, 1025, 32)]
# Rate, deviation of the noise, steps, delta.
CASES = [
	(0.01, 0.5, 1_000, 1e-5),
	(0.01, 1.0, 1_000, 1e-5),
	(0.01, 2.0, 1_000, 1e-5),
	(0.001, 0.7, 20_000, 1e-6),
	(0.1, 4.0, 500, 1e-5),
	(1.0, 5.0, 20, 1e-5),
	(0.004, 1.1, 14_062, 1e-5),
	(0.02, 10.0, 3, 1e-5),
]


def epsilon(rate, noise, steps, delta):
	from dp_accounting import dp_event
	from dp_accounting.rdp import rdp_privacy_accountant as rdp

	accountant = rdp.RdpAccountant(ORDERS)
	step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise))
	accountant.compose(step, steps)
	return float(accountant.get_epsilon(delta))


def lines():
	for case in CASES:
		yield " ".join(repr(x) for x in [*case, round(epsilon(*case), 9)])


def main():
	try:
		found = list(lines())
	except ImportError as error:
		print(f"{error}: pip install dp-accounting==0.6.0", file=sys.stderr)
		return 2
	text = FILE.read_text()
	comments = [line for line in text.splitlines() if line.startswith("#")]
	kept = [line for line in text.splitlines() if not line.startswith("#")]
	if "--write" in sys.argv[1:]:
		FILE.write_text("\n".join([*comments, *found]) + "\n")
		return 0
	for line in sorted(set(found) ^ set(kept)):
		print(("the file lacks " if line in found else "the file has ") + line)
	print(f"{len(set(found) & set(kept))} of {len(found)} epsilons are equal")
	return int(found != kept)


if __name__ == "__main__":
	sys.exit(main())
