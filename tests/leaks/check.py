"""Programs without an optimizer that fill the device from pass to pass, and look-alikes, whose memory is known by arithmetic.

    python tests/leaks/check.py --oomph target/release/oomph [--half work|blind] [WORD ...]

A program that grows is known by the lines of its loop and of the request that stays, by the bytes of a pass, and by the pass that fills the device.
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
    return suite.run("leaks", judge.cases(HERE, body, group, arguments.half), arguments)


def group(expected: dict) -> str:
    """Programs that grow, that fit, and that are too large."""
    return "grows" if expected["grows"] else expected["truth"]


if __name__ == "__main__":
    sys.exit(main())
