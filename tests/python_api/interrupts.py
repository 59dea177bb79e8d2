"""Ctrl-C while `oomph.check`, and while a marked test, runs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import outcomes

PATIENCE_SECONDS = 120
PLUGIN = ("-p", "oomph.pytest_plugin")
PYTHON = Path(sys.executable)
WAITS = "import time, torch\ntorch.zeros(3, device='cuda')\ntime.sleep(600)\n"
ASKS = "import oomph, sys\ntry:\n    oomph.check('waits.py', gpu='l4')\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
WAITING_TEST = (
    "import pytest\n@pytest.mark.gpu_memory(gpu='l4')\ndef test_waits():\n    import pathlib, time, torch\n"
    "    torch.zeros(3, device='cuda')\n    time.sleep(600)\n"
)


def interrupt(site: Path) -> str:
    """Ctrl-C ends check and its program, and nothing is left"""
    Path("waits.py").write_text(WAITS)
    done = interrupt_program([PYTHON, "-c", ASKS], site, uses_phantom)
    assert done == (0, "interrupted\n"), done
    return "no process left"


def interrupt_pytest(site: Path) -> str:
    """Ctrl-C ends pytest and the process of a marked test"""
    Path("test_waits.py").write_text(WAITING_TEST)
    status, output = interrupt_program([PYTHON, "-m", "pytest", "-p", "no:cacheprovider", *PLUGIN, "test_waits.py"], site, uses_phantom)
    assert status == 2 and "KeyboardInterrupt" in output, output
    return "no process left"


def interrupt_program(command: list, site: Path, is_ready) -> tuple[int, str]:
    """Starts a program, sends Ctrl-C to its group when it is ready, and waits until none of its descendants is left."""
    env = outcomes.environment(PYTHONPATH=str(site))
    process = subprocess.Popen(list(map(str, command)), env=env, stdout=subprocess.PIPE, text=True, process_group=0, preexec_fn=heed_interrupts)
    until(lambda: is_ready(process.pid), "the program is ready")
    below = descendants(process.pid)
    assert below, "no process of its own"
    os.killpg(process.pid, signal.SIGINT)
    output = process.communicate(timeout=PATIENCE_SECONDS)[0]
    until(lambda: not any(is_alive(pid) for pid in below), f"the end of {below}")
    return process.returncode, output


def uses_phantom(pid: int) -> bool:
    """True if a descendant has opened the phantom's library and PyTorch's."""
    return any(has_mapped(it, "liboomph_phantom.so") and has_mapped(it, "libtorch_cuda.so") for it in descendants(pid))


def has_mapped(pid: int, library: str) -> bool:
    try:
        return library in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """The processes below a process."""
    try:
        children = [int(it) for task in Path(f"/proc/{pid}/task").iterdir() for it in (task / "children").read_text().split()]
    except OSError:
        return []
    return [*children, *(it for child in children for it in descendants(child))]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def until(condition, what: str) -> None:
    """Polls until a condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.02)


def heed_interrupts() -> None:
    """A process in the background of a shell ignores Ctrl-C, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
