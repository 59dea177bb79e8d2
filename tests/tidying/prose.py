"""The share of comment sentences that lean on pronouns, for each crate and for the agent. STYLE.md says why.

A sentence leans if a quarter of its words stand for nouns. Code blocks and words in backticks do not count as such words;
sentences of fewer than four words are left out.
"""

import collections
import io
import pathlib
import re
import tokenize

PRONOUNS = set(
    "what which that it one ones so none such those these this they them its their whose whom who there nor neither"
    " both other others another else".split()
)
SHARE = 0.25
SHORTEST = 4


class Sentence:
    """A sentence of a comment: where it is, its text, and how many of its words are pronouns."""

    def __init__(self, path: pathlib.Path, line: int, text: str):
        self.path, self.line, self.text = path, line, text
        self.words = re.findall(r"[A-Za-z']+", text)
        self.pronouns = sum(word.lower() in PRONOUNS for word in self.words)

    def leans(self) -> bool:
        """Whether a reader has to look up too many of its words."""
        return self.pronouns / len(self.words) >= SHARE


def sentences(root: pathlib.Path, names: list[str]) -> dict[str, list[Sentence]]:
    """The sentences in the comments of `names`, by part: a crate, or `agent`."""
    found = collections.defaultdict(list)
    for name in names:
        part = part_of(name)
        if part is not None:
            path = root / name
            blocks = rust_comments if name.endswith(".rs") else python_comments
            for line, block in blocks(path.read_text(encoding="utf-8")):
                found[part] += [s for s in split(path, line, block) if len(s.words) >= SHORTEST]
    return found


def part_of(name: str) -> str | None:
    """The crate of a source file, or `agent`; None for tests and generated files."""
    crate = re.fullmatch(r"crates/([a-z]+)/src/(?!generated/).*\.rs", name)
    if crate:
        return crate[1]
    return "agent" if name.startswith("python/oomph/") and name.endswith(".py") else None


def rust_comments(text: str):
    """Runs of comment lines, each with the number of its first line."""
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        comment = re.match(r"\s*//[/!]? ?(.*)$", line)
        if comment:
            block.append(comment[1])
        elif block:
            yield number - len(block), block
            block = []


def python_comments(text: str):
    """Docstrings, and each comment by itself."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], [token.string.lstrip("# ")]
        elif token.type == tokenize.STRING and token.string.startswith(('"""', 'r"""')):
            yield token.start[0], token.string.strip('r"').splitlines()


def split(path: pathlib.Path, start: int, block: list[str]):
    """The sentences of one comment; list items and table rows end a paragraph."""
    for number, paragraph in paragraphs(start, block):
        plain = re.sub(r"\[([^\]]*)\]", r"\1", re.sub(r"`[^`]*`", "CODE", paragraph))
        for text in re.split(r"(?<=[.!?;:])\s+(?=[A-Z(`])", plain):
            yield Sentence(path, number, text)


def paragraphs(start: int, block: list[str]):
    """The paragraphs of a comment without its code, each with the number of its first line."""
    in_code, lines, first = False, [], start
    for number, line in enumerate([*block, ""], start):
        if line.strip().startswith("```"):
            in_code = not in_code
            continue
        item = re.match(r"\s*([-*|#]+|\d+\.)\s*", line)
        if in_code:
            continue
        if lines and (item or not line.strip()):
            yield first, " ".join(lines)
            lines = []
        if line.strip():
            first = first if lines else number
            lines.append(line[item.end():].strip() if item else line.strip())
