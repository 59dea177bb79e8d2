"""Runs programs in forks of a process that has imported PyTorch: a run then takes a third of its time.

Note [Forked programs]
~~~~~~~~~~~~~~~~~~~~~~
The process is the agent's own fork server (Note [Fork server] in `python/oomph/agent/process/server.py`) over a phantom GPU. Its script is
`forked.py`, which runs the program of a job. Phantom and agent read their variables in the child, so each job may have another GPU. The
server talks to a single client; the cases of a suite are many processes. A broker is in between, with a socket that takes a job per
connection and answers with the job's exit status.

A program whose start is tested, or whose source the agent changes, cannot be a job: its script would be `forked.py`.
"""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
AGENT = HERE.parent / "python" / "oomph" / "agent" / "inject"
SCRIPT = HERE / "forked.py"
# The variable with the job, for `forked.py`.
JOB = "TESTS_FORKED_JOB"
# More seconds than any program takes, unless the machine is very busy.
PATIENCE = 900


class Forks:
    """A server and its broker; they end with the `with` block."""

    def __init__(self, oomph: Path, python: Path, environment: dict[str, str]) -> None:
        self.oomph = oomph
        self.python = python
        self.environment = environment
        self.folder = Path(tempfile.mkdtemp(prefix="oomph-forks-"))
        self.path = self.folder / "socket"
        self.pid = 0

    def __enter__(self) -> "Forks":
        sys.stdout.flush()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(self.path))
            listening.listen(64)
            self.pid = os.fork()
            if self.pid == 0:
                try:
                    asyncio.run(_Broker(self).serve(listening))
                finally:
                    os._exit(0)
        return self

    def __exit__(self, *_) -> None:
        # If the suite was cut short, the broker may have ended already.
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGTERM)
            usage = os.wait4(self.pid, 0)[2]
            print(f"the fork server took {usage.ru_utime + usage.ru_stime:.0f} s of CPU besides")
        self.path.unlink(missing_ok=True)
        self.folder.rmdir()

    def run(self, program: Path, *arguments: str, folder: Path, card: tuple = (), env: dict | None = None, stdout: Path, stderr: Path) -> int:
        """Runs a program in `folder` on the GPU that `card` describes (options of `oomph phantom`); its exit status."""
        words = {"program": str(program), "arguments": list(arguments), "folder": str(folder), "stdout": str(stdout), "stderr": str(stderr)}
        environment = variables(self.oomph, *map(str, card)) | (env or {}) | {JOB: json.dumps(words)}
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(PATIENCE)
            asking.connect(str(self.path))
            values = {name: str(value) for name, value in environment.items()}
            request = {"env": values, "unset": ["OOMPH_SERVE"], "output": str(stderr)}
            asking.sendall(json.dumps(request).encode() + b"\n")
            answer = asking.makefile().readline()
        assert answer, f"the fork server ended before {program.name} did"
        return json.loads(answer)["status"]


@cache
def variables(oomph: Path, *card: str) -> dict[str, str]:
    """The variables by which `oomph phantom` tells the phantom of a GPU."""
    done = subprocess.run([oomph, "phantom", *card, "--", "env", "-0"], check=True, capture_output=True, text=True)
    pairs = (entry.partition("=") for entry in done.stdout.split("\0") if entry.startswith("OOMPH_"))
    return {name: value for name, _, value in pairs if name != "OOMPH_CACHE_DIR"}


class _Broker:
    """Numbers the jobs, passes them to the server, and each answer to its connection."""

    def __init__(self, forks: Forks) -> None:
        self.forks = forks
        self.numbers = itertools.count(1)
        self.waiting: dict[int, asyncio.StreamWriter] = {}
        self.server: asyncio.subprocess.Process

    async def serve(self, listening: socket.socket) -> None:
        """Serves until SIGTERM."""
        # `oomph phantom` takes variables of oomph's own away.
        own = ("OOMPH_SERVE=1", f"PYTHONPATH={AGENT}", "PYTHONDONTWRITEBYTECODE=1")
        command = [self.forks.oomph, "phantom", "--gpu", "rtx-4090", "--", "env", *own, self.forks.python, SCRIPT]
        pipe = asyncio.subprocess.PIPE
        self.server = await asyncio.create_subprocess_exec(*map(str, command), stdin=pipe, stdout=pipe, env=self.forks.environment)
        # The server ends with its standard input, and this broker with the server.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.server.stdin.close)
        async with await asyncio.start_unix_server(self.take, sock=listening):
            async for line in self.server.stdout:
                answer = json.loads(line)
                if "status" in answer:
                    writer = self.waiting.pop(answer["id"])
                    writer.write(line)
                    writer.close()
        for writer in self.waiting.values():
            writer.close()
        await self.server.wait()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Takes the job of a connection."""
        number = next(self.numbers)
        self.waiting[number] = writer
        request = json.loads(await reader.readline()) | {"id": number}
        self.server.stdin.write(json.dumps(request).encode() + b"\n")
        await self.server.stdin.drain()
