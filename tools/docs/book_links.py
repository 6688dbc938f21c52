"""A preprocessor of mdBook: links that lead out of the book become text.

The pages of docs/ also link to files beside that folder, such as docker/README.md. A repository
host follows these links; a book has no such page, so the book says the path instead. mdBook makes
index.html of a README.md but follows no link to it, so these links are led there.

mdBook runs this by docs/book.toml: it gives the book as JSON and takes it back."""

import json
import posixpath
import sys
from urllib.parse import unquote

from check_links import LINK, SCHEME, SUMMARY, blocks, spans

BOOK = "docs"


def outside(page, target):
    """The path of the repository that a link of this page (a path in the book) leads to, if it is
    no page or picture of the book."""
    path = unquote(target).partition("#")[0]
    if not path or SCHEME.match(target) or target.startswith("/"):
        return None
    file = posixpath.normpath(posixpath.join(BOOK, posixpath.dirname(page), path))
    in_book = file == BOOK or file.startswith(BOOK + "/")
    return None if in_book and file != SUMMARY else file


def inside(text, page):
    """The text of this page with links that the book can follow, and no others."""
    # Blanks stand in the place of code, so that every character keeps its position.
    plain = spans(blocks(text)[0])[1]
    out, at = [], 0
    for link in LINK.finditer(plain):
        path = outside(page, link[1])
        if path is None:
            to = link[1]
            if not SCHEME.match(to) and posixpath.basename(to.partition("#")[0]) == "README.md":
                out += [text[at : link.start(1)], to.replace("README.md", "index.md")]
                at = link.end(1)
            continue
        label = text[link.start() : link.start(1)].lstrip("!")[1:].rpartition("](")[0]
        out += [text[at : link.start()], label]
        if label.strip("`") != path:
            out.append(f" (`{path}`)")
        at = link.end()
    return "".join(out) + text[at:]


def walk(node):
    """Changes each chapter below, in place."""
    if isinstance(node, list):
        for one in node:
            walk(one)
    elif isinstance(node, dict):
        if isinstance(node.get("content"), str) and node.get("path"):
            node["content"] = inside(node["content"], node["path"])
        for one in node.values():
            walk(one)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    walk(book)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
