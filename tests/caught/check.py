"""Programs that run out of memory and catch the error: the verdict, the line of the request, and the program's reaction.

    python tests/caught/check.py --oomph target/release/oomph [WORD ...]

The answer of every program was worked out by hand from its source. The code was written with `work`; `blind` was written by somebody else and
run afterwards.
"""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent))

import judge
import suite


def main() -> int:
    """Exit status 1 if a program is not judged as its block says."""
    arguments = suite.parser(__doc__).parse_args()
    return suite.run("caught", judge.cases(HERE, partial(judge_caught, arguments.oomph.absolute()), group), arguments)


def group(expected: dict) -> str:
    """Programs that do not fit, that fit, and that search for a size that does."""
    return "search" if expected.get("search") else expected["verdict"][0]


def judge_caught(oomph: Path, path: Path) -> str:
    """Compares the report on a program with its block; returns the first sentence."""
    seen = judge.ask(oomph, path)
    return judge.conclude(seen, contradictions(seen))


def contradictions(seen: judge.Seen) -> Iterator[str]:
    """A report that says `fits` beside figures that do not."""
    rules = [finding["rule"] for finding in seen.report.get("findings", [])]
    if seen.word in ("fits", "fits so far") and (seen.report["spare_bytes"] < 0 or "need-exceeds-device" in rules):
        yield f"fits, with {seen.report['spare_bytes']} to spare and {rules}"


if __name__ == "__main__":
    sys.exit(main())
