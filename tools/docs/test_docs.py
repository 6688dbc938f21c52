"""Tests of what checks the documents and makes a book of them, on pages that are made up.

    python3 tools/docs/test_docs.py

Prints TAP and ends with "# pass N" and "# fail N"."""

import subprocess
import tempfile
import traceback
from pathlib import Path

import book_links
import check_book
import check_links

GOOD = {
    "README.md": "# Top\n\nSee [the page](docs/page.md#a-heading) and `crate/src/lib.rs`.\n",
    "docs/SUMMARY.md": "# Book\n\n- [Page](page.md)\n- [Other](more/other.md)\n",
    "docs/page.md": "# Page\n\n## A heading\n\n[up](../README.md), [here](#a-heading)\n",
    "docs/more/other.md": "# Other\n\n[page](../page.md)\n",
    "crate/src/lib.rs": "// code\n",
    "crate/src/spec/model.rs": "// code\n",
    "crate/run": "#!/bin/sh\n",
}


def problems(changes):
    """What is wrong with the good repository with these files in place of its own; None removes."""
    files = {name: text for name, text in {**GOOD, **changes}.items() if text is not None}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        found = check_links.check(check_links.Repository(folder, files))[0]
    return [f"{page}:{line}: {what}" for page, line, what in found]


def page(text):
    """What is wrong with docs/page.md if it holds this."""
    return problems({"docs/page.md": "# Page\n\n## A heading\n\n" + text})


def assert_one(found, part):
    assert len(found) == 1 and part in found[0], found


def test_what_is_right_passes():
    assert problems({}) == []


def test_a_broken_link_is_named_with_its_line():
    assert page("first\n\n[x](gone.md)\n") == ["docs/page.md:7: gone.md does not exist"]


def test_broken_images_definitions_and_tags_are_found():
    assert_one(page("![x](gone.svg)"), "gone.svg")
    assert_one(page("[x][y]\n\n[y]: gone.md\n"), "gone.md")
    assert_one(page('<img src="gone.svg">'), "gone.svg")


def test_a_broken_anchor_is_found():
    assert_one(page("[x](#no-heading)"), "#no-heading")
    assert_one(page("[x](more/other.md#page)"), "no heading")
    assert page("[x](more/other.md#other)") == []


def test_a_link_out_of_the_repository_is_found():
    assert_one(page("[x](../../elsewhere.md)"), "out of the repository")
    assert_one(page("[x](/docs/page.md)"), "slash")


def test_other_places_are_not_followed():
    assert page("[x](https://example.org/gone) <mailto:a@example.org>") == []


def test_links_in_code_are_no_links():
    assert page("`[x](gone.md)`\n\n```sh\n[x](gone.md)\n```\n") == []


def test_a_link_may_have_code_and_brackets_in_its_text():
    assert_one(page("[`a` [b]](gone.md)"), "gone.md")


def test_anchors_are_those_of_the_hosts():
    text = "# One `two` (x = y, z)\n## [A link](x.md): dots...\n## Same\n## Same\n### under_score\n"
    expected = {"one-two-x--y-z", "a-link-dots", "same", "same-1", "under_score"}
    assert check_links.anchors(text) == expected


def test_headings_in_code_have_no_anchor():
    assert check_links.anchors("```sh\n# comment\n```\n# Real\n") == {"real"}


def test_a_path_in_code_must_exist():
    assert_one(page("`crate/src/gone.rs`"), "crate/src/gone.rs")
    assert_one(page("`crate/gone`"), "crate/gone")
    assert page("`crate/src/lib.rs`, `crate/src/`, `crate/run`") == []


def test_a_path_in_a_command_must_exist():
    assert_one(page("```sh\n./crate/gone --x\n```\n"), "./crate/gone")
    assert_one(page("`python3 crate/gone.py --root .`"), "crate/gone.py")
    assert page("```sh\n./crate/run elsewhere/file.rs\n```\n") == []


def test_the_end_of_a_path_is_enough_outside_of_commands():
    assert page("`spec/model.rs`") == []
    assert_one(page("`spec/gone.rs`"), "spec/gone.rs")
    assert_one(page("`other/model.rs`"), "other/model.rs")


def test_braces_and_stars_are_understood():
    assert page("`crate/{run,src}`, `crate/src/*.rs`, `crate/src/spec/mod*.rs`") == []
    assert_one(page("`crate/{run,gone}`"), "crate/{run,gone}")
    assert_one(page("`crate/src/*.py`"), "*.py")


def test_items_lines_and_punctuation_are_cut_off():
    assert page("`crate/src/lib.rs:12`, `crate/src/lib.rs::item`, (`crate/src/lib.rs`).") == []


def test_paths_of_others_are_let_alone():
    assert page("`checkpoints/x.safetensors`, `~/a/b.rs`, `/etc/x/y.toml`, `and/or`, `a/b.toml`") == []


def test_a_page_that_the_summary_lacks_is_found():
    assert_one(problems({"docs/more/new.md": "# New\n"}), "docs/more/new.md")


def test_a_page_that_the_summary_names_in_vain_is_found():
    found = problems({"docs/SUMMARY.md": GOOD["docs/SUMMARY.md"] + "- [Gone](gone.md)\n"})
    assert_one(found, "gone.md does not exist")


def test_a_page_stands_in_the_summary_once():
    found = problems({"docs/SUMMARY.md": GOOD["docs/SUMMARY.md"] + "- [Again](page.md)\n"})
    assert_one(found, "already")


def test_the_summary_must_be_there():
    assert_one(problems({"docs/SUMMARY.md": None}), "no such file")


def test_history_may_name_what_is_gone_but_not_link_to_it():
    assert problems({"CHANGELOG.md": "`crate/src/gone.rs` was removed\n"}) == []
    assert_one(problems({"CHANGELOG.md": "[x](gone.md)\n"}), "gone.md")


def test_the_page_for_language_models_is_checked():
    assert_one(problems({"llms.txt": "# Top\n\n- [x](docs/gone.md): x\n"}), "llms.txt:3")


def test_the_command_fails_on_a_broken_link():
    """Through git, as it is run."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in GOOD.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q", folder], check=True)
        command = ["python3", "-B", str(Path(__file__).with_name("check_links.py")), "--root", folder]
        good = subprocess.run(command, capture_output=True, text=True)
        assert good.returncode == 0 and good.stdout.endswith(": 0 wrong\n"), good
        Path(folder, "docs/page.md").write_text("# Page\n\n## A heading\n\n[x](gone.md)\n")
        bad = subprocess.run(command, capture_output=True, text=True)
        assert bad.returncode == 1 and "docs/page.md:5: gone.md does not exist" in bad.stdout, bad


def test_links_out_of_the_book_become_text():
    text = "# Page\n\n[a](../crate/README.md#x), [`b`](../crate), [c](../README.md), ![d](../d.svg)\n"
    expected = "# Page\n\na (`crate/README.md`), `b` (`crate`), c (`README.md`), d (`d.svg`)\n"
    assert book_links.inside(text, "page.md") == expected
    assert book_links.inside("[`crate`](../crate)", "page.md") == "`crate`"
    assert book_links.inside("[a](../../crate/x.md)", "more/page.md") == "a (`crate/x.md`)"


def test_links_to_a_readme_lead_to_the_index():
    text = "[a](more/README.md#x) [b](README.md) [c](https://example.org/README.md)"
    expected = "[a](more/index.md#x) [b](index.md) [c](https://example.org/README.md)"
    assert book_links.inside(text, "page.md") == expected


def test_the_list_of_pages_is_no_page():
    assert book_links.inside("[all](SUMMARY.md)", "README.md") == "all (`docs/SUMMARY.md`)"


def test_links_within_the_book_and_code_stay():
    for text in (
        "[a](page.md#x) [b](#x) [c](https://example.org/../x) [d](more/other.md)",
        "`[a](../crate)`\n\n```text\n[a](../crate)\n```\n",
    ):
        assert book_links.inside(text, "page.md") == text, text
    assert book_links.inside("[a](../page.md)", "more/other.md") == "[a](../page.md)"


def test_chapters_are_found_at_any_depth():
    leaf = {"Chapter": {"path": "a/b.md", "content": "[x](../../crate)", "sub_items": []}}
    book = {"items": ["Separator", {"Chapter": {"path": None, "content": "", "sub_items": [leaf]}}]}
    book_links.walk(book)
    assert leaf["Chapter"]["content"] == "x (`crate`)", book


def pages_of_a_book(files):
    """What is wrong with this book."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check_book.check(Path(folder))[0]


def test_dead_links_of_a_built_book_are_found():
    index = '<h1 id="top">x</h1><a href="more/a.html#y">a</a> <a href="#top">t</a> <img src="p.svg">'
    good = {"index.html": index, "more/a.html": '<a id="y" href="../index.html">up</a>', "p.svg": ""}
    assert pages_of_a_book(good) == []
    assert_one(pages_of_a_book({**good, "more/a.html": '<a href="gone.html">x</a><p id="y">'}), "gone.html")
    assert_one(pages_of_a_book({**good, "more/a.html": "<p>"}), "#y")
    assert_one(pages_of_a_book({name: text for name, text in good.items() if name != "p.svg"}), "p.svg")


def main():
    tests = [(name, run) for name, run in sorted(globals().items()) if name.startswith("test_")]
    failed = 0
    for name, run in tests:
        try:
            run()
            print(f"ok - {name}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok - {name}\n{traceback.format_exc()}", flush=True)
    print(f"# pass {len(tests) - failed}\n# fail {failed}")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
