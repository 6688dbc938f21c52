"""All payments are bets: what checking costs by escrow, by lottery, by bets that settle unasked and by a forecast, who
gains by cheating, and a year of it; the tables of docs/payments-as-bets.md.

    tools/bets-sim [cost|lottery|bets|forecast|year ...]  prints what the page says of these, or of all
    tools/bets-sim --write                                puts it into the page, and draws docs/plots/bets-*.svg
    tools/bets-sim --check docs/payments-as-bets.md       checks that the page has what is computed, and no other number
    tools/bets-sim --assert                               checks the claims as well, and runs the tests

Run it as /usr/bin/python3 -B tools/bets-sim."""

import argparse
import functools
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
# After the other paths: a module of this folder is found first.
sys.path.append(str(HERE.parent / "slots"))

import cost  # noqa: E402
import forecast  # noqa: E402
import lottery  # noqa: E402
import page  # noqa: E402
import rules  # noqa: E402
import svg  # noqa: E402
import test_bets_sim  # noqa: E402
import wagers  # noqa: E402
import year  # noqa: E402

DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "payments-as-bets.md"
SEED, JOBS = 1, 10_000


def log(seed):
    """The results of the first year of escrow, with what was known of their trainers."""
    return year.years(seed)["escrow"].log


def blocks(seed, jobs):
    """What is computed, by section: functions by the name of the block."""
    years = functools.partial(year.years, seed)
    return {
        "cost": {
            "cost": cost.cost_table,
            "cost-bets": cost.bets_table,
            "cost-facts": cost.facts,
        },
        "lottery": {
            "lottery-pay": lambda: lottery.pay_table(seed, jobs),
            "lottery-cheats": lottery.cheats_table,
            "lottery-multiples": lottery.multiples_table,
            "lottery-facts": lambda: lottery.facts(seed, jobs),
        },
        "bets": {
            "bets-rule": wagers.rule_table,
            "bets-offers": wagers.offers_table,
            "bets-pushing": wagers.pushing_table,
            "bets-facts": lambda: wagers.facts(seed),
        },
        "forecast": {
            "forecast-scores": lambda: forecast.scores_table(log(seed)),
            "forecast-savings": lambda: forecast.savings_table(log(seed)),
            "forecast-swans": forecast.swans_table,
            "forecast-floors": forecast.floors_table,
            "forecast-deposits": forecast.deposits_table,
            "forecast-facts": lambda: forecast.facts(log(seed)),
        },
        "year": {
            "year-assumptions": year.assumptions,
            "year-checking": lambda: year.checking_table(years()),
            "year-flows": lambda: year.flows_table(years()),
            "year-each": lambda: year.each_table(years()),
            "year-facts": lambda: year.facts(years()),
        },
    }


@functools.cache
def computed(seed, jobs):
    """All blocks of the page."""
    return {name: make() for section in blocks(seed, jobs).values() for name, make in section.items()}


def plots(seed):
    """The plots, by name."""
    entries = log(seed)
    plain = [entry for entry in entries if entry.kind != "swan"]
    lines = [("all alike", [(0, 0), (1, 1)])]
    lines += [("by the forecast", forecast.curve(plain)), ("with black swans", forecast.curve(entries))]
    lines += [("and a least", forecast.curve(entries, forecast.least_of))]
    return {
        "bets-found.svg": svg.chart(
            "What is made up of 532 segments, and found",
            "share that is made up",
            "probability",
            lottery.found_lines(),
            y_top=1.0,
        ),
        "bets-forecast.svg": svg.chart(
            "Audits by a forecast",
            "part of the cost of auditing all",
            "of what is false, by price",
            lines,
            x_top=1.0,
            y_top=1.0,
        ),
    }


def written(path, seed, jobs):
    """Asserts that the page has what is computed, and no other number."""
    wrong = page.compare(path.read_text(encoding="utf-8"), computed(seed, jobs))
    assert not wrong, f"{path}: {'; '.join(wrong)}: run tools/bets-sim --write"
    for name, plot in plots(seed).items():
        drawn = (DOCS / "plots" / name).read_text(encoding="utf-8")
        assert drawn == plot, f"docs/plots/{name}: run tools/bets-sim --write"


def run(checks):
    """Runs checks, prints TAP, and returns whether all hold."""
    failed = 0
    for name, check in checks.items():
        try:
            check()
            print(f"ok - {name}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok - {name}\n{traceback.format_exc()}", flush=True)
    print(f"# pass {len(checks) - failed}\n# fail {failed}")
    return failed == 0


def main():
    parser = argparse.ArgumentParser(
        prog="bets-sim", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="cost, lottery, bets, forecast, year")
    parser.add_argument("--seed", type=int, default=SEED, help="of all draws; the page has those of %(default)s")
    parser.add_argument("--jobs", type=int, default=JOBS, help="jobs of each lottery that are simulated")
    parser.add_argument("--write", action="store_true", help="put it into the page, and draw the plots")
    parser.add_argument("--check", metavar="PAGE", type=Path, help="check the page")
    parser.add_argument("--assert", dest="assertions", action="store_true", help="check the claims, the page too")
    options = parser.parse_args()
    of = blocks(options.seed, options.jobs)
    unknown = [name for name in options.sections if name not in of]
    if unknown:
        parser.error(f"there is no section {unknown[0]}: choose of {', '.join(of)}")
    if options.jobs < 100:
        parser.error("--jobs: 100 at least, or means say nothing")
    default = (options.seed, options.jobs) == (SEED, JOBS)
    if (options.write or options.check) and not default:
        parser.error("the page has the figures of the default seed and number of jobs")
    if options.assertions:
        seed, jobs = options.seed, options.jobs
        checks = {
            "rules are those of the chain": rules.check,
            "what checking costs": cost.check,
            "lottery": lambda: lottery.check(seed, jobs),
            "bets": lambda: wagers.check(seed),
            "forecast": lambda: forecast.check(log(seed)),
            "a year": lambda: year.check(year.years(seed)),
        }
        checks |= {name: test for name, test in test_bets_sim.tests()}
        if default:
            checks["the page and its plots"] = lambda: written(PAGE, seed, jobs)
        sys.exit(0 if run(checks) else 1)
    if options.check:
        if not options.check.is_file():
            parser.error(f"there is no page {options.check}")
        sys.exit(0 if run({str(options.check): lambda: written(options.check, SEED, JOBS)}) else 1)
    if options.write:
        PAGE.write_text(page.filled(PAGE.read_text(encoding="utf-8"), computed(SEED, JOBS)), encoding="utf-8")
        for name, plot in plots(SEED).items():
            (DOCS / "plots" / name).write_text(plot, encoding="utf-8")
        return
    for section in options.sections or of:
        for name, make in of[section].items():
            print(f"{name}\n\n{make()}")


if __name__ == "__main__":
    main()
