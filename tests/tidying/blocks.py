"""The known answers of programs: every block obeys the schema of tests/expect.py, and wrong blocks are refused with file and line."""

from collections.abc import Iterator
from pathlib import Path

import expect

# Kinds whose programs all have a block, and the folders of the programs.
PATTERNS = {
    "fits": "*/*.py", "lives": "*/*.py", "leaks": "*/*.py", "blame": "*/*.py", "caught": "*/*.py", "deaths": "*/*.py",
    "against": "pairs/*.py", "effects": "[bw]*/*.py", "effects/scenes": "*/*.py", "causes/cases": "*/program.py",
}  # fmt: skip
RIGHT = """# /// expect
# run = "against"
# vram = "4GiB"
# sentence = "no difference"
# ///
"""
# Wrong blocks: a right part, the wrong part in its place, and the complaint.
WRONG = (
    ("sentence", "phrase", "sample.py:4: unknown key `phrase` of against"),
    ('"no difference"', "7", "sample.py:4: `sentence` is 7, expected a text"),
    ("# ///\n", "import torch\n", "sample.py:5: expected `# ///`, the end of the block"),
    ("# ///\n", "", "sample.py:4: expected `# ///`, the end of the block"),
    ('"4GiB"', "4GiB", "sample.py:3: "),
    ('# vram = "4GiB"\n', "", "sample.py:1: no `vram`, expected a text"),
    ("# /// expect\n", "", "sample.py:1: no block"),
)


def problems(names: list[str]) -> Iterator[str]:
    """The problems of the blocks of programs, and of the reader itself."""
    root = expect.HERE.parent
    needed = {path for folder, pattern in PATTERNS.items() for path in (expect.HERE / folder).glob(pattern) if not path.name.endswith(".setup.py")}
    found = {root / name for name in names if expect.OPENING in (root / name).read_text(encoding="utf-8").splitlines()}
    for path in sorted(needed | found):
        yield from complaints(path.read_text(encoding="utf-8"), str(path.relative_to(root)), path)
    sample = expect.HERE / "against" / "sample.py"
    yield from complaints(RIGHT, "sample.py", sample)
    for right, wrong, expected in WRONG:
        refused = list(complaints(replace_last(RIGHT, right, wrong), "sample.py", sample))
        if not (refused and refused[0].startswith(expected)):
            yield f"tests/expect.py: `{wrong}` for `{right}` gives {refused}, expected `{expected}`"


def replace_last(text: str, right: str, wrong: str) -> str:
    """The text with another last occurrence of a part: the end of a block is part of its opening."""
    before, _, after = text.rpartition(right)
    return f"{before}{wrong}{after}"


def complaints(text: str, name: str, path: Path) -> Iterator[str]:
    """The problem of a block."""
    try:
        expect.parse(text, name, expect.kind_of(path))
    except expect.BlockError as error:
        yield str(error)
