"""The measures of comments that STYLE.md asks for: sentences that lean on pronouns, density of pronouns, opening words.

A sentence leans if a quarter of its words stand for nouns. Code blocks and words in backticks do not count as such words;
sentences of fewer than four words are left out. The density is the share of such words in all sentences of a file or a part.
"""

import collections
import dataclasses
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
# The doc comments of the command line's arguments, which users read as help pages: questions may open them.
HELP = "oomph help"
OPENINGS = set("what whether how which where those who when".split())
# A block of data in a comment: the settings that a test reads from its own programs.
DATA = re.compile(r"///|\w+ = ")


class Sentence:
    """A sentence of a comment: its place, its text, and the number of its pronouns."""

    def __init__(self, path: pathlib.Path, line: int, text: str):
        self.path, self.line, self.text = path, line, text
        self.words = re.findall(r"[A-Za-z']+", text)
        self.pronouns = sum(word.lower() in PRONOUNS for word in self.words)

    def leans(self) -> bool:
        """True if a reader has to look up too many of its words."""
        return self.pronouns / len(self.words) >= SHARE


@dataclasses.dataclass
class Comment:
    """A run of comment lines, or a docstring, with the number of its first line."""

    path: pathlib.Path
    line: int
    lines: list[str]

    def opens_badly(self) -> bool:
        """True if the first word asks a question instead of naming a thing or an act."""
        first = re.match(r"\W*([A-Za-z']+)", self.lines[0])
        return first is not None and "`" not in first[0] and first[1].lower() in OPENINGS

    def sentences(self) -> list[Sentence]:
        """The sentences that are long enough to be measured."""
        return [sentence for sentence in split(self.path, self.line, self.lines) if len(sentence.words) >= SHORTEST]


class Part:
    """The comments of a crate, of a crate's tests, of the agent, or of all tests besides."""

    def __init__(self, comments: list[Comment]):
        self.comments = comments
        self.sentences = [sentence for comment in comments for sentence in comment.sentences()]

    def leaning(self) -> float:
        """The share of sentences that lean."""
        return sum(sentence.leans() for sentence in self.sentences) / max(len(self.sentences), 1)

    def density(self) -> float:
        """The share of pronouns among the words."""
        return sum(s.pronouns for s in self.sentences) / max(sum(len(s.words) for s in self.sentences), 1)

    def opening(self) -> float:
        """The share of comments that open with a question word."""
        return len(self.openings()) / max(len(self.comments), 1)

    def openings(self) -> list[Comment]:
        """The comments that open with a word of `OPENINGS`."""
        return [comment for comment in self.comments if comment.opens_badly()]

    def files(self) -> dict[pathlib.Path, "Part"]:
        """The same, file by file."""
        found = collections.defaultdict(list)
        for comment in self.comments:
            found[comment.path].append(comment)
        return {path: Part(comments) for path, comments in found.items()}


def parts(root: pathlib.Path, names: list[str]) -> dict[str, Part]:
    """The comments in the files `names`, by part."""
    found = collections.defaultdict(list)
    for name in names:
        part = part_of(name)
        if part is not None:
            path = root / name
            blocks = rust_comments if name.endswith(".rs") else python_comments
            found[part] += [Comment(path, line, block) for line, block in blocks(path.read_text(encoding="utf-8"))]
    return {part: Part(comments) for part, comments in found.items()}


def part_of(name: str) -> str | None:
    """The crate of a source file, `CRATE tests`, `agent`, `agent tests`, `tests` or `HELP`; None for generated files and examples."""
    if re.match(r"crates/oomph/src/args\b", name):
        return HELP
    crate = re.fullmatch(r"crates/([a-z]+)/(src|tests)/(?!generated/).*\.rs", name)
    if crate:
        return crate[1] if crate[2] == "src" else f"{crate[1]} tests"
    for folder, part in (("python/oomph/", "agent"), ("python/tests/", "agent tests"), ("tests/", "tests")):
        if name.startswith(folder) and name.endswith(".py"):
            return part
    return None


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
    """Docstrings, and runs of comment lines."""
    block: list[str] = []
    before, last = tokenize.NEWLINE, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_alone = token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
        if block and not (is_alone and token.start[0] == last + 1) and token.type != tokenize.NL:
            yield last + 1 - len(block), block
            block = []
        if is_alone and not DATA.match(token.string.lstrip("# ")):
            block.append(token.string.removeprefix("#").removeprefix(" "))
            last = token.start[0]
        elif token.type == tokenize.COMMENT and not is_alone:
            yield token.start[0], [token.string.lstrip("# ")]
        elif token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            yield token.start[0], re.sub(r'^r?"{1,3}|"{1,3}$', "", token.string).splitlines() or [""]
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def split(path: pathlib.Path, start: int, block: list[str]):
    """The sentences of one comment; list items and table rows end a paragraph."""
    for number, paragraph in paragraphs(start, block):
        plain = re.sub(r"\[([^\]]*)\]", r"\1", without_code(paragraph))
        for text in re.split(r"(?<=[.!?;:])\s+(?=[A-Z(`])", plain):
            yield Sentence(path, number, text)


def without_code(text: str) -> str:
    """The text with a word in place of each piece of code, and of each name of a note."""
    return re.sub(r"`[^`]*`|Notes? `?\[[^\]]*\]`?", "CODE", text)


def paragraphs(start: int, block: list[str]):
    """The paragraphs of a comment without its code, each with the number of its first line."""
    in_code, lines, first = False, [], start
    for number, line in enumerate([*block, ""], start):
        if line.strip().startswith("```"):
            in_code = not in_code
            continue
        item = re.match(r"\s*([-*|#]+|\d+\.)\s*", line)
        if in_code or re.match(r"\s*~~~", line):
            continue
        if lines and (item or not line.strip()):
            yield first, " ".join(lines)
            lines = []
        if line.strip():
            first = first if lines else number
            lines.append(line[item.end():].strip() if item else line.strip())
