"""A kernel of IPython on a phantom GPU, and the package as an installation has it."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180
# In place of the name of a phantom: the GPUs of this machine.
MACHINE = "this machine"
COLOURS = re.compile(r"\x1b\[[\d;]*m")


@contextlib.contextmanager
def install(oomph: Path) -> Iterator[Path]:
    """A folder with the package and, as `pip install --target` puts it, the command beside."""
    with tempfile.TemporaryDirectory(prefix="oomph-notebook-") as folder:
        shutil.copytree(ROOT / "python/oomph", Path(folder) / "oomph", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / "bin").mkdir()
        (Path(folder) / "bin/oomph").symlink_to(oomph)
        yield Path(folder)


def environment(package: Path) -> dict[str, str]:
    """The variables of a Python with the package, and with settings of IPython's own."""
    path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "IPYTHONDIR": str(package / "ipython"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}


@dataclass
class Done:
    """The output of a cell."""

    text: str
    page: str
    failed: bool


class Kernel:
    """A running kernel; it ends with the context."""

    def __init__(self, package: Path, gpu: str, python: str = sys.executable) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="oomph-kernel-")
        path = os.path.join(self._folder.name, "connection.json")
        # Sockets of the file system: ports are shared with all that runs beside.
        write_connection_file(path, transport="ipc", ip=os.path.join(self._folder.name, "socket"), key=b"key")
        phantom = [] if gpu == MACHINE else [package / "bin/oomph", "phantom", "--gpu", gpu, "--"]
        command = [*phantom, python, "-m", "ipykernel", "-f", path]
        self._errors = open(os.path.join(self._folder.name, "errors"), "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            list(map(str, command)), env=environment(package), cwd=self._folder.name, stdout=self._errors, stderr=self._errors, stdin=subprocess.DEVNULL
        )
        self._client = BlockingKernelClient(connection_file=path)
        self._client.load_connection_file()
        self._client.start_channels()

    def __enter__(self) -> "Kernel":
        deadline = time.monotonic() + PATIENCE
        while not self._is_ready():
            said = Path(self._errors.name).read_text(encoding="utf-8")
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise AssertionError(f"no kernel\n{said}")
        return self

    def _is_ready(self) -> bool:
        """Waits for the kernel; the client raises after a second without a heartbeat, and a start may take longer."""
        try:
            self._client.wait_for_ready(timeout=PATIENCE)
        except RuntimeError:
            return False
        return True

    def __exit__(self, *_error) -> None:
        self._client.stop_channels()
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._errors.close()
        self._folder.cleanup()

    def run(self, source: str, **options: bool) -> Done:
        """Runs a cell to its end."""
        texts: list[str] = []
        pages: list[str] = []

        def hear(message: dict) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                texts.append(content["text"])
            elif message["msg_type"] == "error":
                texts.append("\n".join([*content["traceback"], f"{content['ename']}: {content['evalue']}"]))
            elif message["msg_type"] in ("display_data", "execute_result"):
                texts.append(content["data"].get("text/plain", ""))
                pages.append(content["data"].get("text/html", ""))

        reply = self._client.execute_interactive(source, timeout=PATIENCE, output_hook=hear, allow_stdin=False, stop_on_error=False, **options)
        return Done(COLOURS.sub("", "".join(texts)), "".join(pages), reply["content"]["status"] == "error")

    def ask(self, expression: str) -> str:
        """The value of an expression, without a trace in the session."""
        reply = self._client.execute_interactive("", timeout=PATIENCE, silent=True, user_expressions={"it": expression}, output_hook=lambda _: None)
        found = reply["content"]["user_expressions"]["it"]
        assert found["status"] == "ok", found
        return found["data"]["text/plain"]

    def interrupt(self) -> None:
        """Interrupts the running cell, as the button of a notebook does."""
        self._process.send_signal(2)
