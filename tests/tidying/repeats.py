"""Doc comments that only repeat the name below them, where `missing_docs` asks for none: "The address." on a private `address`."""

import pathlib
import re

ITEM = re.compile(r"\s*(pub\([\w: ]+\) )?((?:(?:const|async|unsafe|fn|struct|enum|trait|type|static) )*)(\w+)")
NOISE = {"the", "a", "an", "its", "this", "of"}


def found(path: pathlib.Path):
    """The lines of such comments in a Rust file, each with its text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(lines[:-1]):
        comment = re.match(r"\s*/// (.*)$", line)
        is_whole = comment and not any("///" in lines[near] for near in (place - 1, place + 1))
        below = next((at for at in range(place + 1, len(lines)) if not lines[at].lstrip().startswith("#[")), None)
        if is_whole and below is not None and is_private(lines, below) and repeats(comment[1], lines[below]):
            yield place + 1, comment[1]


def repeats(comment: str, below: str) -> bool:
    """True if the comment has at most two words beside articles, and the name below has each of them."""
    item = ITEM.match(below)
    named = {singular(word) for word in re.findall(r"[a-z0-9]+", comment.lower())} - NOISE
    return bool(item) and 0 < len(named) <= 2 and named <= words(item[3])


def is_private(lines: list[str], place: int) -> bool:
    """True for an item that no other crate can name: `pub(…)`, or without `pub` outside of public enums, traits and macros."""
    item = ITEM.match(lines[place])
    if not item or lines[place].lstrip().startswith("pub "):
        return False
    around = enclosing(lines, place)
    if item[1] or around is None:
        return True
    head = lines[around].strip()
    if item[2]:
        return head.startswith("impl") and " for " not in head
    if re.match(r"(pub(\([\w: ]+\))? )?struct ", head):
        return True
    return "!" not in head and not re.match(r"pub (enum|trait) ", head) and not head.startswith("impl") and is_private(lines, around)


def enclosing(lines: list[str], place: int) -> int | None:
    """The line that opens the block around a line."""
    depth = indent(lines[place])
    for at in range(place - 1, -1, -1):
        if lines[at].strip() and indent(lines[at]) < depth and not lines[at].lstrip().startswith(("//", "#[")):
            return at
    return None


def indent(line: str) -> int:
    """The number of blanks before the text."""
    return len(line) - len(line.lstrip())


def words(name: str) -> set[str]:
    """The words of a name in snake or camel case."""
    return {singular(word) for word in re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())}


def singular(word: str) -> str:
    """The word without the s of a plural or of a verb."""
    return word.removesuffix("s")
