"""Programs that run out of memory for a known reason, and similar programs that fit: is the reason the first finding?

    python tests/blame/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

README.md has the causes. Of a program that fits, no finding may say the cause of its twin.
"""

import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import judge
import suite


def main() -> int:
    """Exit status 1 if a report is not as the block of its program says."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=judge.HALVES, help="only this half [default: both]")
    arguments = parser.parse_args()
    body = partial(judge.judge, arguments.oomph.absolute())
    return suite.run("blame", judge.cases(HERE, body, group, arguments.half), arguments)


def group(expected: dict) -> str:
    """The causes, and the programs that fit."""
    return "fits" if expected["truth"] == "fits" else expected["cause"]


if __name__ == "__main__":
    sys.exit(main())
