"""A pytest plugin that writes each outcome down as it happens: a test that ends the process is the last that began.

    pytest -p outcomes …        with OUTCOMES=FILE, and with DONE=FILE for the tests to leave out, one id a line; with ONE=1 a single test runs

One JSON object a line: {"begin": ID} before a test, {"end": ID, "outcome": "passed" | "failed" | "skipped", "message": LINE} after it.
"""

import faulthandler
import json
import os

import pytest

# A longer test hangs, or computes on the CPU instead of a GPU.
SECONDS = int(os.environ.get("SECONDS_EACH", "120"))
TEST_FOLDER = os.environ.get("TEST_FOLDER", "")
_LENGTH = 300


def _write(**fields) -> None:
    with open(os.environ["OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def name_of(item: pytest.Item) -> str:
    """`test_cuda.py::TestCuda::test_x`, from the folder of PyTorch's tests on."""
    path = os.path.relpath(item.path, TEST_FOLDER)
    return "::".join([path, *item.nodeid.split("::")[1:]])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out finished tests. `check` may run the tests once more without a limit, for the need, which is not used here."""
    if os.environ.get("OOMPH_UNLIMITED") == "1":
        items.clear()
    done = os.environ.get("DONE")
    if done and os.path.exists(done):
        with open(done, encoding="utf-8") as file:
            names = set(file.read().splitlines())
        items[:] = [item for item in items if name_of(item) not in names]
    if os.environ.get("ONE"):
        del items[1:]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: object):
    """The time limit ends the process: a test that waits in C does not hear of a signal."""
    _write(begin=name_of(item))
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """The outcome of the call, or that of a failed set-up or of a skip."""
    report = (yield).get_result()
    if report.when == "call" or report.outcome != "passed":
        message = ""
        if call.excinfo is not None:
            text = str(call.excinfo.value).strip().splitlines()
            message = f"{call.excinfo.typename}: {text[0] if text else ''}"
        _write(end=name_of(item), outcome=report.outcome, message=message[:_LENGTH])
