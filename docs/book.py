"""Builds the documentation site: copies all pages, writes the table of contents, checks every link, runs mdBook.

    python3 docs/book.py --check                             only the checks
    python3 docs/book.py --mdbook target/tools/bin/mdbook    the site, in target/book
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "target/book-source"
SITE = ROOT / "target/book"
# Parts of the book and their pages, by path in the repository. A folder stands for its README and its other pages.
PARTS = {
    "Start": ["docs/install.md"],
    "Commands": ["docs/check.md", "docs/many-gpus.md", "docs/fit.md", "docs/sweep.md", "docs/watch.md", "docs/tuners.md", "docs/explain.md", "docs/lint.md", "docs/editors.md", "docs/ci.md", "docs/tune.md", "docs/run.md", "docs/trackers.md", "docs/slurm.md", "docs/top.md", "docs/notebook.md", "docs/python.md", "docs/mcp.md", "docs/agents.md", "docs/effects.md", "docs/replaced.md", "docs/cli.md", "docs/schema"],
    "Causes, rules, remedies": ["docs/rules", "docs/lint", "docs/remedies"],
    "Background": [
        "docs/assumptions.md", "docs/ACCURACY.md", "docs/MEMORY_OUTSIDE_PYTORCH.md", "docs/COMPATIBILITY.md", "docs/SITUATIONS.md", "docs/SCRIPTS.md", "docs/atlas/README.md",
        "docs/limits.md", "docs/speed.md",
    ],
    "Development": ["ARCHITECTURE.md", "docs/decisions", "CONTRIBUTING.md", "docs/release.md", "SECURITY.md", "STYLE.md", "docs/style/sentences.md", "CHANGELOG.md"],
}
# Folders whose index is made here, with the title of the index.
INDEXED = {"docs/remedies": "Remedies"}
# Mentions of files and of notes in the source: `crates/trace/src/run.rs`, Note [Ranking].
FILE = re.compile(r"`((?:crates|python|tests|docs|benches|fuzz)/[a-z\d_./-]+)`")
# A source file by its name, or by the end of its path: `scratch.rs`, `cleanup/scratch.rs`. Pages for users name files of their own, and `torch/` is PyTorch's.
SOURCE_FILE = re.compile(r"`((?!torch/)(?:[\w-]+/)*[\w-]+\.rs|(?!torch/)(?:[\w-]+/)+[\w-]+\.py)`")
DEVELOPMENT = ("ARCHITECTURE.md", "docs/decisions/")
HEADING = re.compile(r"^(?://!?)?[ #]*Note \[([^\]]+)\]$", re.MULTILINE)
NOTE = re.compile(r"Note `?\[([^\]]+)\]")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CONFIGURATION = """\
[book]
title = "oomph"
language = "en"
src = "src"

[output.html]
default-theme = "light"
no-section-label = true
print = { enable = false }

[output.html.fold]
enable = true

[output.html.search]
limit-results = 20
"""


def main() -> int:
    """Writes the sources of the book, reports broken links, and builds the site."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mdbook", type=pathlib.Path, help="the mdBook command")
    parser.add_argument("--check", action="store_true", help="check pages and links, build nothing")
    arguments = parser.parse_args()
    shutil.rmtree(SOURCE, ignore_errors=True)
    pages = {path: destination(path) for path in ["README.md", *listed()]}
    problems = [*unlisted(pages), *unnamed()]
    notes, sources = list_notes(), list_sources()
    for path in pages:
        problems += [*copy(path, pages), *stale(path, notes, sources)]
    (SOURCE / "src/SUMMARY.md").write_text(summary(pages), encoding="utf-8")
    (SOURCE / "book.toml").write_text(CONFIGURATION, encoding="utf-8")
    shutil.copytree(ROOT / "docs/images", SOURCE / "src/images")
    print("\n".join(problems) or f"{len(pages)} pages, all links, files and notes exist")
    if problems or arguments.check:
        return bool(problems)
    shutil.rmtree(SITE, ignore_errors=True)
    command = arguments.mdbook.resolve() if arguments.mdbook else "mdbook"
    return subprocess.run([command, "build", SOURCE, "--dest-dir", SITE], check=False).returncode


def listed() -> list[str]:
    """All pages in the order of the book, folders opened."""
    return [page for part in PARTS.values() for entry in part for page in opened(entry)]


def opened(entry: str) -> list[str]:
    """The pages of an entry of `PARTS`: itself, or the pages of a folder: the index first, pages in capitals last."""
    if entry.endswith(".md"):
        return [entry]
    names = sorted((path.name for path in (ROOT / entry).glob("*.md")), key=lambda name: (name[0].isupper(), name))
    return [f"{entry}/{name}" for name in ["README.md", *(name for name in names if name != "README.md")]]


def unlisted(pages: dict[str, str]):
    """Each page of `docs` that no part of the book lists."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT).as_posix()
        if name not in pages:
            yield f"{name}: in no part of the book; add it to PARTS in docs/book.py"


def unnamed():
    """Each target of the Makefile that CONTRIBUTING.md does not name."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for target in list_targets((ROOT / "Makefile").read_text(encoding="utf-8")):
        if not re.search(rf"`make {re.escape(target)}[` ]", guide):
            yield f"CONTRIBUTING.md: `make {target}` is not named"


def list_targets(makefile: str) -> list[str]:
    """The phony targets of a Makefile, variables replaced by their values."""
    text = makefile.replace("\\\n", " ")
    values = dict(re.findall(r"^(\w+) := (.+)$", text, re.MULTILINE))
    lines = re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    return re.sub(r"\$\((\w+)\)", lambda match: values.get(match[1], ""), " ".join(lines)).split()


def list_notes() -> set[str]:
    """The names of all notes in the source: a line of a comment that holds nothing else."""
    files = [path for folder in ("crates", "python", "tests") for end in ("rs", "py") for path in (ROOT / folder).rglob(f"*.{end}")]
    return {name for path in files for name in HEADING.findall(path.read_text(encoding="utf-8"))}


def stale(path: str, notes: set[str], sources: list[str]):
    """Each file and note that a page mentions and the repository lacks. The history of changes may name lost files, the guide invented ones."""
    if path in ("CHANGELOG.md", "CONTRIBUTING.md"):
        return
    text = text_of(path)
    for name in FILE.findall(text):
        if not (ROOT / name).exists():
            yield f"{path}: `{name}`: no such file"
    for name in SOURCE_FILE.findall(text) if path.startswith(DEVELOPMENT) else []:
        if not any(file.endswith(f"/{name}") or file == name for file in sources):
            yield f"{path}: `{name}`: no file's path ends so"
    for name in NOTE.findall(text):
        if name not in notes | {"Name", "X"}:
            yield f"{path}: Note [{name}]: no such note"


def list_sources() -> list[str]:
    """The paths of all source files."""
    return [path.relative_to(ROOT).as_posix() for folder in ("crates", "python", "tests", "docs", "benches", "fuzz") for path in (ROOT / folder).rglob("*.*")]


def destination(path: str) -> str:
    """The place of a page in the book; pages of the repository's root lie beside those of `docs`."""
    return path.removeprefix("docs/")


def text_of(path: str) -> str:
    """The text of a page, or the index of a folder that has none of its own."""
    folder = path.removesuffix("/README.md")
    if folder not in INDEXED or (ROOT / path).exists():
        return (ROOT / path).read_text(encoding="utf-8")
    rows = [f"- [{title(page)}]({pathlib.PurePosixPath(page).name}): {first_sentence(page)}" for page in opened(folder)[1:]]
    return f"# {INDEXED[folder]}\n\n" + "\n".join(rows) + "\n"


def title(path: str) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.+)$", text_of(path), re.MULTILINE)
    return found.group(1).strip() if found else pathlib.PurePosixPath(path).stem


def first_sentence(path: str) -> str:
    """The first sentence below the heading."""
    paragraphs = text_of(path).split("\n\n")
    body = next((paragraph for paragraph in paragraphs[1:] if not paragraph.startswith(("#", "|", "```"))), "")
    return " ".join(re.split(r"(?<=[.!?])\s", body, maxsplit=1)[0].split())


def copy(path: str, pages: dict[str, str]):
    """Writes a page into the book with its links pointing at the book's pages; yields each link that leads nowhere."""
    problems: list[str] = []

    def rewrite(match: re.Match) -> str:
        image, text, link = match.groups()
        target, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or (image and target.startswith("docs/images/")):
            return f"{image}[{text}]({link.removeprefix('docs/')})"
        found = resolve(path, target)
        if found in pages:
            if anchor and anchor not in anchors(found):
                problems.append(f"{path}: {link}: no such heading")
            relative = os.path.relpath(pages[found], pathlib.PurePosixPath(pages[path]).parent)
            return f"[{text}]({relative}{'#' + anchor if anchor else ''})"
        if not (ROOT / found).exists():
            problems.append(f"{path}: {link}: no such file")
        # A file of the repository is no page of the book: its name stays, without a link.
        return text

    place = SOURCE / "src" / pages[path]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(outside_code(text_of(path), lambda prose: LINK.sub(rewrite, prose)), encoding="utf-8")
    return problems


def resolve(path: str, target: str) -> str:
    """The path in the repository that a link on a page leads to; of a folder its index."""
    if not target:
        return path
    found = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return f"{found}/README.md" if (ROOT / found).is_dir() and ((ROOT / found / "README.md").exists() or found in INDEXED) else found


def anchors(path: str) -> set[str]:
    """The anchors of a page's headings, as mdBook and GitHub name them."""
    headings = re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def outside_code(text: str, change) -> str:
    """Applies `change` to all lines that no fence encloses."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def summary(pages: dict[str, str]) -> str:
    """mdBook's table of contents."""
    lines = ["# Summary", "", f"[{title('README.md')}](README.md)", ""]
    for part, entries in PARTS.items():
        lines += [f"# {part}", ""]
        for entry in entries:
            head, *rest = opened(entry)
            lines += [f"- [{title(head)}]({pages[head]})", *(f"  - [{title(page)}]({pages[page]})" for page in rest)]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
