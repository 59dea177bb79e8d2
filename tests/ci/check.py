"""What CI systems read and run: the formats of `lint` and `check`, the GitHub Action, the hooks of pre-commit, and the snippets of docs/ci.md.

    target/services/bin/python tests/ci/check.py --oomph target/release/oomph [WORD ...]

Formats are checked by their own schemas and by libraries that read them. The steps of the action run in bash, with the files of
GitHub; pre-commit is the real one, in git repositories made here, and installs a wheel of the binary under test.
"""

import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent)]

import action
import formats
import hooks
import snippets

import suite


def main() -> int:
    """Exit status 1 if a case fails."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    parts = (formats, action, hooks, snippets)
    cases = [suite.Case(name, partial(body, oomph)) for part in parts for name, body in part.CASES.items()]
    return suite.run("ci", cases, arguments)


if __name__ == "__main__":
    sys.exit(main())
