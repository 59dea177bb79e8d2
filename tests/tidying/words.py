"""Words that STYLE.md replaces: the entries in backticks of the column "not" in its table of words."""

import pathlib
import re

from . import prose


def replaced(style: pathlib.Path) -> dict[str, re.Pattern]:
    """A pattern for each entry of the column; the first word also with the endings of a verb or a plural."""
    table = style.read_text(encoding="utf-8").split("\n## Words\n")[1].split("\n## ")[0]
    cells = [line.rsplit("|", 2)[1] for line in table.splitlines() if line.startswith("| ")]
    return {entry: pattern(entry) for cell in cells for entry in re.findall(r"`([a-z ]+)`", cell)}


def pattern(entry: str) -> re.Pattern:
    """The entry as whole words."""
    first, _, rest = entry.partition(" ")
    verb = rf"{first[:-1]}(e|es|ed|ing)" if first.endswith("e") else rf"{first}{first[-1]}?(s|ed|ing)?"
    return re.compile(rf"\b{verb}{' ' + rest if rest else ''}\b", re.IGNORECASE)


def in_comments(comments: list[prose.Comment], patterns: dict[str, re.Pattern]):
    """Each comment that contains an entry outside of code and quotes, with the entry."""
    for comment in comments:
        text = " ".join(text for _, text in prose.paragraphs(comment.line, comment.lines))
        plain = re.sub(r"\"[^\"]*\"", "", prose.without_code(text))
        yield from ((comment, entry) for entry, wanted in patterns.items() if wanted.search(plain))
