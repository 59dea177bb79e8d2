"""What the tests of `project` must come to, by arithmetic from the sizes in `project/test_memory.py`; also for the installed wheel."""

import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

PROJECT = Path(__file__).resolve().parent / "project"
MIB = 1 << 20
PATIENCE_SECONDS = 600
PASSED, FAILED, ERROR, SKIPPED = "passed", "failure", "error", "skipped"
# By test: what it comes to, texts of the report, and the reserved MiB of its peak. PyTorch reserves 20 MiB for a small block, and whole MiB
# of at least 2 for a large one.
OUTCOMES = {
    "test_without_the_marker": (PASSED, (), None),
    "test_below": (PASSED, (), 256),
    "test_above": (
        FAILED,
        ("gpu_memory: 256.00 MiB reserved at the peak, 1.00 MiB above the limit of 255MiB", "fits L4", "256.00 MiB  other, test_memory.py:12"),
        256,
    ),
    "test_allocated": (PASSED, (), 512),
    "test_larger_than_the_gpu": (FAILED, ("gpu_memory: the test does not fit L4", "30.00 GiB requested", "test_memory.py:12"), 30 << 10),
    "test_wrong": (FAILED, ("assert 2097152 == (3 * 1048576)", "test_memory.py:49: AssertionError"), 20),
    "test_with_fixtures[100]": (PASSED, (), 164),
    "test_with_fixtures[150]": (FAILED, ("214.00 MiB reserved at the peak, 14.00 MiB above the limit of 200MiB", "64.00 MiB  other, conftest.py:16"), 214),
    "test_limit_of_bananas": (ERROR, ("gpu_memory: limit='10 bananas' is not a size", "hint: @pytest.mark.gpu_memory(limit="), None),
    "test_unknown_gpu": (ERROR, ("gpu_memory: no GPU is known as `l5`", "hint: `oomph gpus` lists the known GPUs"), None),
    "test_misspelt": (ERROR, ("unexpected keyword argument 'limits'; expected limit=, gpu=, of= or timeout=",), None),
    "test_skips": (SKIPPED, ("no data",), None),
    "test_expected_failure": (SKIPPED, ("too large yet",), 200),
    "test_strictly_expected_failure": (SKIPPED, ("too large yet",), None),
    "test_without_gpu": (PASSED, (), 0),
    "test_that_leaves": (FAILED, ("SystemExit: 3",), None),
    "test_that_dies": (FAILED, ("the test's process ended before the test did", "exit status 7"), None),
    "test_that_forks": (PASSED, (), 20),
    "test_option": (PASSED, (), 20),
    "test_missing_module": (FAILED, ("No module named 'no_such_module'",), None),
}
# What a traceback of the plugin's own would show.
OWN = ("pytest_plugin.py", "pytest_child.py", "run_command", "INTERNALERROR")


def run_pytest(python: Path, folder: Path, *options: str, env: dict[str, str]) -> subprocess.CompletedProcess:
    """Runs pytest in a copy of the project, in a folder with a space in its name."""
    project = folder / "a project"
    if not project.exists():
        shutil.copytree(PROJECT, project)
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def check_outcomes(python: Path, folder: Path, *options: str, env: dict[str, str]) -> str:
    """Runs all tests of the project by two workers; raises `AssertionError` for each that comes to something else."""
    results = folder / "results.xml"
    done = run_pytest(python, folder, "-n2", "--rows=3", "--gpu-memory-report", f"--junitxml={results}", *options, env=env)
    assert done.returncode == 1 and results.exists(), f"status {done.returncode}\n{done.stdout}{done.stderr}"
    found = {case.get("name"): case for case in ET.parse(results).iter("testcase")}
    assert set(found) == set(OUTCOMES), f"{set(found) ^ set(OUTCOMES)} differ\n{done.stdout}"
    problems = [problem for name, case in found.items() for problem in compare(case, *OUTCOMES[name])]
    problems += [f"`{own}` is in the output" for own in OWN if own in done.stdout + done.stderr]
    row = "test_memory.py::test_allocated: 512.00 MiB reserved, 256.00 MiB allocated of 300MiB on NVIDIA L4"
    problems += [] if row in done.stdout else [f"`{row}` is not in the summary"]
    assert not problems, "\n".join([*problems, done.stdout, done.stderr])
    return f"{len(found)} tests"


def compare(case: ET.Element, outcome: str, texts: tuple[str, ...], reserved: int | None):
    """Yields each difference of a test from what it must come to."""
    name = case.get("name")
    parts = {child.tag: f"{child.get('message')}\n{child.text}" for child in case if child.tag in (FAILED, ERROR, SKIPPED)}
    if set(parts) != ({outcome} - {PASSED}):
        yield f"{name}: {parts}, expected {outcome}"
    for text in texts:
        if text not in "\n".join(parts.values()):
            yield f"{name}: `{text}` is not in {parts}"
    properties = {it.get("name"): it.get("value") for it in case.iter("property")}
    known = properties.get("gpu_memory_peak_reserved_bytes")
    if reserved is not None and known != str(reserved * MIB):
        yield f"{name}: {known} bytes reserved at the peak, expected {reserved} MiB"


def environment(**own: str) -> dict[str, str]:
    """This process's variables without those of pytest and of Python's path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON", "OOMPH_"))}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1"} | own
