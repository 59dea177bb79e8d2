"""Sessions with the server: by the reference SDK, and over a raw pipe. Each has a folder for temporary files of its own, which also marks its processes."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PATIENCE_SECONDS = 180
PAUSE = 0.02
# The handshake of 2025, and the requests without one of 2026.
MODES = ("legacy", "auto")


class Place:
    """The served folder, and the folder for temporary files."""

    def __init__(self, oomph: Path) -> None:
        self.oomph = oomph
        here = Path.cwd()
        self.folder, self.temporary = here / "served folder", here / "tmp"
        self.folder.mkdir()
        self.temporary.mkdir()

    def words(self) -> list[str]:
        """The command line of a server."""
        return [str(self.oomph), "mcp", "--folder", str(self.folder), "--python", sys.executable]

    def environment(self) -> dict[str, str]:
        """The variables of the server beside the few that the SDK passes."""
        return {"TMPDIR": str(self.temporary)}

    def write(self, name: str, text: str) -> Path:
        """Writes a file of the served folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    @contextlib.asynccontextmanager
    async def connect(self, mode: str = "auto") -> AsyncIterator[Client]:
        """A session of the reference SDK."""
        first, *rest = self.words()
        server = StdioServerParameters(command=first, args=rest, env=self.environment())
        with (self.temporary.parent / "server.log").open("w+") as log:
            async with Client(stdio_client(server, errlog=log), mode=mode, read_timeout_seconds=PATIENCE_SECONDS) as client:
                yield client

    def run(self, body: Callable[[Client], Awaitable], mode: str = "auto"):
        """Runs a session, and returns the result of its body. Nothing is left behind."""

        async def whole():
            async with self.connect(mode) as client:
                return await body(client)

        result = asyncio.run(whole())
        self.expect_nothing_left()
        said = (self.temporary.parent / "server.log").read_text()
        assert not said, f"the server says without a reason: {said}"
        return result

    def open_pipe(self) -> "RawPipe":
        """A session over a raw pipe."""
        return RawPipe(subprocess.Popen(
            self.words(), env=os.environ | self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ))  # fmt: skip

    def list_processes(self) -> list[Path]:
        """The living processes of all sessions."""
        mark = f"TMPDIR={self.temporary}".encode()
        return [process for process in Path("/proc").iterdir() if process.name.isdigit() and mark in read(process / "environ").split(b"\0")]

    def uses_phantom(self) -> bool:
        """True if a dry run is in the middle of its program: it has opened the phantom's library and PyTorch's."""
        maps = [read(process / "maps") for process in self.list_processes()]
        return any(b"liboomph_phantom.so" in it and b"libtorch_cuda.so" in it for it in maps)

    def describe(self) -> str:
        """The command lines of the processes."""
        return str([read(process / "cmdline").replace(b"\0", b" ").decode(errors="replace") for process in self.list_processes()])

    def list_left(self) -> list[str]:
        """The temporary files of oomph. (PyTorch makes a folder of its own.)"""
        return sorted(path.name for path in self.temporary.iterdir() if path.name.startswith("oomph"))

    def expect_nothing_left(self) -> None:
        """No process and no temporary file is left."""
        until(lambda: not self.list_processes(), lambda: f"the end of {self.describe()}")
        assert not self.list_left(), self.list_left()


class RawPipe:
    """A server at the other end of a pipe."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process

    def send(self, *lines: bytes | dict) -> None:
        """Writes lines, or messages."""
        for line in lines:
            self.process.stdin.write(json.dumps(line).encode() if isinstance(line, dict) else line)
            self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        """The next message."""
        line = self.process.stdout.readline()
        assert line, f"the server has ended: {self.process.stderr.read().decode()}"
        return json.loads(line)

    def ask(self, method: str, number: int | str, **params) -> dict:
        """The answer to a request."""
        self.send(request(method, number, **params))
        while "method" in (message := self.receive()):
            pass
        return message

    def close(self) -> tuple[int, str]:
        """Closes the server's input. Returns the exit status and standard error."""
        self.process.stdin.close()
        said = self.process.stderr.read().decode()
        return self.process.wait(PATIENCE_SECONDS), said


def request(method: str, number: int | str, **params) -> dict:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def greet(pipe: RawPipe) -> dict:
    """The handshake; returns the server's answer."""
    answer = pipe.ask("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
    pipe.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return answer["result"]


def read(path: Path) -> bytes:
    """The content of a file of a process; empty if the process has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def call(place: Place, tool: str, mode: str = "auto", **arguments):
    """The result of a call, in a session of its own."""
    return place.run(lambda client: client.call_tool(tool, arguments), mode)


def until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    """Polls until a condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not within {PATIENCE_SECONDS} s: {what()}"
        time.sleep(PAUSE)


def text_of(result) -> str:
    """The text of a result."""
    return "\n".join(block.text for block in result.content)
