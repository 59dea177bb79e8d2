"""Runs the agent's unit tests (`python/tests`) in parallel, with the phantom that the binary carries.

    python tests/agent/check.py --oomph target/release/oomph [WORD ...]
"""

import os
import subprocess
import sys
import unittest
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import suite

PYTHON = suite.ROOT / "python"
# Of the tests, and one of each file.
SHARE = 0.3


def main() -> int:
    """Exit status 1 if a test fails."""
    arguments = suite.parser(__doc__).parse_args()
    # The binary unpacks its library here.
    command = [arguments.oomph, "phantom", "--gpu", "rtx-4090", "--", "printenv", "LD_LIBRARY_PATH"]
    paths = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    os.environ["OOMPH_TEST_PHANTOM"] = paths.strip().split(":")[0]
    os.chdir(suite.ROOT)
    found = unittest.defaultTestLoader.discover(str(PYTHON / "tests"), top_level_dir=str(PYTHON))
    cases = [suite.Case(name, partial(check, tests), group=name.partition(".")[0], share=SHARE) for name, tests in by_name(found).items()]
    return suite.run("agent", cases, arguments)


def by_name(found: unittest.TestSuite) -> dict[str, unittest.TestSuite]:
    """The tests by name; those of a class with a common set-up are one entry."""
    cases: dict[str, unittest.TestSuite] = {}
    for test in flattened(found):
        kind = type(test)
        is_shared = kind.setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__
        name = f"{kind.__module__}.{kind.__qualname__}" if is_shared else test.id()
        cases.setdefault(name.removeprefix("tests."), unittest.TestSuite()).addTest(test)
    return cases


def flattened(found):
    """The tests of a tree of suites."""
    for item in found:
        if isinstance(item, unittest.TestSuite):
            yield from flattened(item)
        else:
            yield item


def check(tests: unittest.TestSuite) -> str:
    """Runs tests; their output belongs to the case."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests)
    assert result.wasSuccessful(), f"{len(result.failures)} failures, {len(result.errors)} errors"
    if len(result.skipped) == result.testsRun:
        raise suite.Skip(result.skipped[0][1])
    return "" if result.testsRun == 1 else f"{result.testsRun} tests"


if __name__ == "__main__":
    sys.exit(main())
