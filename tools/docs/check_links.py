"""Checks what the documents of this repository point at.

    python3 tools/docs/check_links.py [--root DIR]

- Every page under docs/ is in docs/SUMMARY.md, once, and SUMMARY.md names no page that is missing.
- Every relative link in a Markdown file leads to a file or folder of the repository, and its anchor
  to a heading of that page.
- Every path of the repository that stands in code (between backticks, or in a fenced block) exists:
  a path that begins with a folder at the top, or with `./` or `../`, and outside of fenced blocks
  also the end of a path to a source file, such as `spec/model.rs`. `{a,b}` and `*` are understood.

A file belongs to the repository where git tracks it or would track it. Links to other places are
not followed, so no network is needed. Prints a line for each problem, and ends with 1 where there
is one. Only the standard library is used."""

import argparse
import fnmatch
import posixpath
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

SUMMARY = "docs/SUMMARY.md"

# A page in Markdown by another name, for language models.
FOR_MODELS = "llms.txt"

# A page about the past names files that are gone.
HISTORY = {"CHANGELOG.md"}

# Files that a reader makes, by a path that looks like one of the repository.
MADE_BY_READERS = {"docker/trainer.env", "ml-worker/examples/hepmass.csv.gz"}

# The end of a path names a file of ours only where no other program has such files.
SOURCES = {"rs", "py", "mjs", "js", "cu", "cuh", "cpp", "h", "hbs", "sh", "md"}

FENCE = re.compile(r"^\s*(```+|~~~+)\s*([\w+-]*)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s+<?(\S+?)>?(?:\s+\".*\")?\s*$", re.M)
TAG = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"([^\"]+)\"", re.I)
NAMED = re.compile(r"\b(?:id|name)=\"([^\"]+)\"")
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)
LINES = re.compile(r"^L\d+(-L\d+)?$")
PATH = re.compile(r"^\.{0,2}[\w@{}*,.-]+(/[\w@{}*,.-]+)+/?$")


class Repository:
    """The files of a repository, and the folders that hold them."""

    def __init__(self, root, files=None):
        self.root = Path(root)
        self.files = set(files if files is not None else listed(self.root))
        self.folders = {""}
        for file in self.files:
            parts = file.split("/")
            self.folders.update("/".join(parts[:n]) for n in range(1, len(parts)))
        self.top = {folder for folder in self.folders if folder and "/" not in folder}
        self.anchors_of = {}

    def text(self, file):
        return (self.root / file).read_text(encoding="utf-8")

    def has(self, path):
        """Whether there is such a file or folder; with braces and stars, whether each has one."""
        return all(self.has_one(one) for one in expanded(path.rstrip("/")))

    def has_one(self, path):
        if "*" not in path:
            return path in self.files or path in self.folders
        return any(
            fnmatch.fnmatchcase(candidate, path) and candidate.count("/") == path.count("/")
            for candidates in (self.files, self.folders)
            for candidate in candidates
        )

    def has_end(self, path):
        """Whether a file's path ends with this one."""
        end = "/" + path
        return any(("/" + file).endswith(end) for file in self.files)

    def anchors(self, file):
        if file not in self.anchors_of:
            self.anchors_of[file] = anchors(self.text(file))
        return self.anchors_of[file]


def listed(root):
    """The files that git tracks or would track, without those that are deleted here."""
    out = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout.decode()
    return [file for file in out.split("\0") if file and (root / file).is_file()]


def expanded(path):
    """`a/{b,c}` is `a/b` and `a/c`."""
    found = re.search(r"\{([^{}]*)\}", path)
    if not found:
        return [path]
    before, after = path[: found.start()], path[found.end() :]
    return [one for part in found[1].split(",") for one in expanded(before + part + after)]


def blocks(text):
    """The text with blanks in the place of its fenced blocks, and the blocks: line, language, lines."""
    prose, fenced, fence, block = [], [], None, None
    for number, line in enumerate(text.split("\n"), 1):
        found = FENCE.match(line)
        if fence is None and found:
            fence, block = found[1], (number, found[2].lower(), [])
            fenced.append(block)
            prose.append(" " * len(line))
        elif fence is not None:
            stripped = line.strip()
            if stripped and set(stripped) == {fence[0]} and len(stripped) >= len(fence):
                fence = None
            else:
                block[2].append(line)
            prose.append(" " * len(line))
        else:
            prose.append(line)
    return "\n".join(prose), fenced


def spans(prose):
    """The code between backticks, each with its line, and the prose with blanks in their place."""
    found, blank = [], []
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", prose):
        for span in SPAN.finditer(paragraph):
            found.append((line + paragraph.count("\n", 0, span.start()), span[2]))
        blank.append(SPAN.sub(lambda s: re.sub(r"[^\n]", " ", s[0]), paragraph))
        line += paragraph.count("\n")
    return found, "".join(blank)


def slug(heading):
    """The anchor that repository hosts and mdBook make of a heading."""
    heading = re.sub(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)]*\)", r"\1", heading)
    heading = re.sub(r"<[^>]+>", "", heading)
    kept = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s", "-", kept)


def anchors(text):
    """All anchors of a page."""
    prose, _ = blocks(text)
    seen, found = {}, set(NAMED.findall(prose))
    for line in prose.split("\n"):
        heading = HEADING.match(line)
        if heading:
            name = slug(heading[1])
            times = seen.get(name, 0)
            seen[name] = times + 1
            found.add(f"{name}-{times}" if times else name)
    return found


def links(prose):
    """The targets of all links, each with its line."""
    for pattern in (LINK, DEFINITION, TAG):
        for found in pattern.finditer(prose):
            yield prose.count("\n", 0, found.start(1)) + 1, found[1]


def wrong_link(repository, page, target):
    """What is wrong with a link, if anything."""
    if SCHEME.match(target) or target.startswith("//"):
        return None
    if target.startswith("/"):
        return f"{target} begins with a slash, which each host reads in its own way"
    path, _, anchor = unquote(target).partition("#")
    file = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    file = "" if file == "." else file
    if file.startswith(".."):
        return f"{target} leads out of the repository"
    if file not in repository.files and file not in repository.folders:
        return f"{target} does not exist"
    if not anchor:
        return None
    if not file.endswith(".md"):
        return None if LINES.match(anchor) else f"{target}: only pages have anchors"
    if anchor not in repository.anchors(file):
        return f"{target}: {file} has no heading with this anchor"
    return None


def wrong_path(repository, page, word, fenced):
    """What is wrong with a word of code, if it is a path of the repository."""
    word = word.strip("\"'()[];:,!?").rstrip(".")
    word = re.split(r"::|#|:\d", word)[0]
    if not PATH.match(word) or "..." in word or word in MADE_BY_READERS:
        return None
    relative = word.startswith(("./", "../"))
    if relative:
        # A command is given from the top of the repository, or from the folder of its page.
        folder = posixpath.dirname(page)
        places = [posixpath.normpath(posixpath.join(at, word)) for at in ("", folder)]
        first = [place.split("/")[0] for place in places]
        if not any(name in repository.top for name in first):
            return None
        return None if any(map(repository.has, places)) else f"`{word}` does not exist"
    if word.split("/")[0] in repository.top:
        here = posixpath.join(posixpath.dirname(page), word)
        return None if repository.has(word) or repository.has(here) else f"`{word}` does not exist"
    if fenced or word.rsplit(".", 1)[-1] not in SOURCES:
        return None
    ends = [one for one in expanded(word) if "*" not in one]
    missing = [one for one in ends if not repository.has_end(one)]
    return f"`{missing[0]}` ends no path of the repository" if missing else None


def check_page(repository, page):
    """All problems of a page: line and text. Counts links and paths."""
    prose, fenced = blocks(repository.text(page))
    code, plain = spans(prose)
    problems, counts = [], [0, 0]
    for line, target in links(plain):
        counts[0] += 1
        problems.append((line, wrong_link(repository, page, target)))
    if posixpath.basename(page) not in HISTORY:
        words = [(line, word, False) for line, text in code for word in text.split()]
        for start, language, lines in fenced:
            if language != "mermaid":
                words += [
                    (start + n, word, True) for n, text in enumerate(lines, 1) for word in text.split()
                ]
        for line, word, inside in words:
            if "/" in word:
                counts[1] += 1
                problems.append((line, wrong_path(repository, page, word, inside)))
    return sorted({(line, what) for line, what in problems if what}), counts


def check_summary(repository):
    """Whether SUMMARY.md names each page of docs/ once."""
    if SUMMARY not in repository.files:
        return [(SUMMARY, 1, "there is no such file")]
    plain = spans(blocks(repository.text(SUMMARY))[0])[1]
    named, problems = {}, []
    for line, target in links(plain):
        page = posixpath.normpath(posixpath.join("docs", target.partition("#")[0]))
        if page in named:
            problems.append((SUMMARY, line, f"{target} stands in line {named[page]} already"))
        named.setdefault(page, line)
        if not page.startswith("docs/"):
            problems.append((SUMMARY, line, f"{target} lies outside of the book"))
    for file in sorted(repository.files):
        inside = file.startswith("docs/") and file.endswith(".md") and file != SUMMARY
        if inside and file not in named:
            problems.append((SUMMARY, 1, f"{file} is missing from it"))
    return problems


def check(repository):
    """All problems: file, line, text; and how many pages, links and paths were looked at."""
    problems, pages, counts = check_summary(repository), 0, [0, 0]
    for page in sorted(repository.files):
        if not page.endswith(".md") and page != FOR_MODELS:
            continue
        found, here = check_page(repository, page)
        problems += [(page, line, what) for line, what in found]
        pages, counts = pages + 1, [a + b for a, b in zip(counts, here)]
    return problems, pages, *counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    top = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=top, help="another repository than this one")
    problems, pages, linked, paths = check(Repository(parser.parse_args().root))
    for page, line, what in problems:
        print(f"{page}:{line}: {what}")
    print(f"{pages} pages, {linked} links, {paths} words of code with a slash: {len(problems)} wrong")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
