"""Checks a book that mdBook built: every link within it leads to a file, and to an anchor there.

    python3 tools/docs/check_book.py DIR

Prints a line for each problem, and ends with 1 where there is one."""

import argparse
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# One page with all pages on it, for printing, and the list of pages for browsers without
# JavaScript: mdBook makes both of the pages that are checked.
MADE = {"print.html", "toc.html", "404.html"}


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(given[name] for name in ("id", "name") if given.get(name))
        if tag in ("a", "img", "script", "link"):
            self.links += [given[name] for name in ("href", "src") if given.get(name)]


def check(folder):
    """All problems, and how many pages and links were looked at."""
    files = sorted(path for path in folder.rglob("*.html") if path.name not in MADE)
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    problems, count = [], 0
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists():
                problems.append(f"{name}: {link} does not exist")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                problems.append(f"{name}: {link} is no anchor of that page")
    return problems, len(pages), count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("book", type=Path, help="the folder into which mdBook wrote")
    problems, pages, links = check(parser.parse_args().book)
    print("\n".join([*problems, f"{pages} pages of the book, {links} links: {len(problems)} wrong"]))
    sys.exit(1 if problems or not pages else 0)


if __name__ == "__main__":
    main()
