"""A server of files by ranges, which has faults at some names."""

import contextlib
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Served:
    """A running server: the folder of its files, and the bytes that it sent."""

    folder: Path
    address: str = ""
    sent_bytes: int = 0
    paths: list[str] = field(default_factory=list)


class _Handler(http.server.BaseHTTPRequestHandler):
    served: Served

    def do_GET(self) -> None:
        """Sends a file or a range of it; a path with the name of a fault is answered with the fault."""
        self.served.paths.append(self.path)
        name = self.path.strip("/")
        fault = FAULTS.get(name.partition(".")[0])
        if fault is not None:
            fault(self)
        elif (self.served.folder / name).is_file():
            self.send_file(self.served.folder / name)
        else:
            self.send_error(404)

    def send_file(self, path: Path, has_ranges: bool = True, cut: int = 0) -> None:
        """Sends a file; without ranges the whole file; the last `cut` bytes are left out."""
        size = path.stat().st_size
        wanted = re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if has_ranges else None
        start, end = (int(wanted[1]), min(int(wanted[2]) + 1, size)) if wanted else (0, size)
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        with path.open("rb") as file, contextlib.suppress(ConnectionError):
            file.seek(start)
            for offset in range(start, end - cut, 1 << 16):
                self.send(file.read(min(1 << 16, end - cut - offset)))

    def send(self, data: bytes) -> None:
        """Sends bytes, and counts them."""
        self.wfile.write(data)
        self.served.sent_bytes += len(data)

    def send_text(self, text: bytes) -> None:
        """Sends a page in place of a file."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.send(text)

    def send_loop(self) -> None:
        """Redirects to the same address."""
        self.send_response(302)
        self.send_header("Location", self.path)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_words) -> None:
        """Prints nothing."""


# By the name of the file: the server's answer.
FAULTS: dict[str, Callable[[_Handler], None]] = {
    "page": lambda handler: handler.send_text(b"<!DOCTYPE html><html><body>Sign in</body></html>" * 100),
    "empty": lambda handler: handler.send_text(b""),
    "short": lambda handler: handler.send_file(handler.served.folder / "zeros.pth", cut=9000),
    "loop": _Handler.send_loop,
    "unknown": lambda handler: handler.send_error(401),
    "forbidden": lambda handler: handler.send_error(403),
    "broken": lambda handler: handler.send_error(500),
    "whole": lambda handler: handler.send_file(handler.served.folder / "zeros.pth", has_ranges=False),
}


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[Served]:
    """A server of the files of a folder, in a thread."""
    served = Served(folder)
    handler = type("Handler", (_Handler,), {"served": served})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
