"""The process of one test with the marker `gpu_memory`: pytest inside, for this test alone. `pytest_plugin.py` starts it under `oomph check`.

It writes a line of JSON for each report, and ends with status 0 whatever comes of the test: the memory of a failed test is known too.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


class Results:
    """The open file of the parent. A forked child of the test may return into pytest, and writes nothing."""

    def __init__(self, descriptor: int) -> None:
        self._process = os.getpid()
        self._file = open(descriptor, "a", encoding="utf-8", closefd=False)

    def write(self, row: dict[str, Any]) -> None:
        """Writes a row, at once: the test may end its process."""
        if os.getpid() == self._process:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()


class Child:
    """Selects the test and writes its reports."""

    def __init__(self, job: dict[str, Any], results: Results) -> None:
        self._job = job
        self._results = results
        self._config: pytest.Config | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Takes the parent's options, also those of conftest files."""
        self._config = config
        for name, value in self._job["options"].items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keeps the test alone."""
        items[:] = [item for item in items if item.nodeid == self._job["nodeid"]]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Writes a report."""
        assert self._config is not None
        self._results.write(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def main(path: str) -> None:
    """Runs the test of a job."""
    with open(path, encoding="utf-8") as opened:
        job: dict[str, Any] = json.load(opened)
    results = Results(job["results"])
    results.write({"started": True})
    # The modules that the parent finds, in its order.
    sys.path[:] = job["path"]
    os.chdir(job["cwd"])
    import pytest

    pytest.main(job["args"], plugins=[Child(job, results)])
    # pytest leaves the error of a failed test here, as if it had ended the program.
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        vars(sys).pop(name, None)
    torch = sys.modules.get("torch")
    results.write({"uses_gpu": torch is not None and torch.cuda.is_initialized()})


if __name__ == "__main__":
    main(sys.argv[1])
