"""A small model hub on this machine: the part of the hub's protocol that `huggingface_hub` 1.33 needs to read repositories."""

import contextlib
import hashlib
import http.server
import json
import re
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

COMMIT = "c0ffee" + "0" * 34
_FILE = re.compile(r"/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")
_LISTING = re.compile(r"/api/models/(?P<repository>[^/]+/[^/]+)(/(?P<view>revision|tree)/(?P<revision>[^/]+)(/(?P<under>.+))?)?/?")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@dataclass
class Served:
    """A running hub."""

    endpoint: str
    # Bytes of bodies, by `repository/file`.
    sent_bytes: Counter = field(default_factory=Counter)
    # Each request: method, path and status.
    requests: list[str] = field(default_factory=list)


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[Served]:
    """Serves the repositories `folder/org/name`; other paths, `/files/…`, are plain files of `folder/files`."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.folder = folder
    server.served = Served(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def etag_of(path: Path) -> str:
    """The tag of a file's content, also the name of its blob in a cache."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._fail(404, "EntryNotFound")

    def log_message(self, *_) -> None:
        """Requests are in `Served.requests`."""

    def _answer(self) -> None:
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if match := _FILE.fullmatch(path):
            self._send_file(match["repository"], match["revision"], match["file"])
        elif match := _LISTING.fullmatch(path):
            self._send_listing(match)
        elif path.startswith("/files/"):
            self._send_part(self.server.folder / path[1:], path[1:])
        else:
            self._fail(404, "EntryNotFound")

    def _send_file(self, repository: str, revision: str, file: str) -> None:
        if self._is_known(repository, revision):
            self._send_part(self.server.folder / repository / file, f"{repository}/{file}")

    def _is_known(self, repository: str, revision: str | None) -> bool:
        """Sends an error and returns False for an unknown repository or revision."""
        if not (self.server.folder / repository).is_dir():
            self._fail(404, "RepoNotFound")
        elif revision not in (None, "main", COMMIT):
            self._fail(404, "RevisionNotFound")
        else:
            return True
        return False

    def _send_part(self, path: Path, name: str) -> None:
        """Sends a file, or the requested range of it."""
        if not path.is_file():
            return self._fail(404, "EntryNotFound")
        size = path.stat().st_size
        start, end, status = self._range(size)
        headers = {"ETag": f'"{etag_of(path)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        with path.open("rb") as file:
            file.seek(start)
            self._send(status, headers, file.read(end - start), name)

    def _range(self, size: int) -> tuple[int, int, int]:
        """The first byte, the end and the status of the answer."""
        match = _RANGE.fullmatch(self.headers.get("Range", ""))
        if not match or not any(match.groups()):
            return 0, size, 200
        if not match[1]:
            return max(0, size - int(match[2])), size, 206
        return int(match[1]), min(size, int(match[2]) + 1) if match[2] else size, 206

    def _send_listing(self, match: re.Match) -> None:
        if not self._is_known(match["repository"], match["revision"]):
            return
        folder = self.server.folder / match["repository"]
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if match["view"] != "tree":
            siblings = [{"rfilename": str(path.relative_to(folder)), "size": path.stat().st_size} for path in files]
            body = {"id": match["repository"], "sha": COMMIT, "private": False, "gated": False, "tags": [], "siblings": siblings}
        elif match["under"] and not (folder / match["under"]).is_dir():
            return self._fail(404, "EntryNotFound")
        else:
            body = [_entry(folder, path) for path in files if path.is_relative_to(folder / (match["under"] or "."))]
        self._send(200, {"Content-Type": "application/json", "X-Repo-Commit": COMMIT}, json.dumps(body).encode(), "listing")

    def _fail(self, status: int, code: str) -> None:
        headers = {"X-Error-Code": code, "X-Error-Message": f"{code} at {self.path}", "X-Repo-Commit": COMMIT}
        self._send(status, headers, b"", "errors")

    def _send(self, status: int, headers: dict[str, str], body: bytes, name: str) -> None:
        self.server.served.requests.append(f"{self.command} {self.path} {self.headers.get('Range', '')} {status}")
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        # The client may end the connection once the wanted bytes are there.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)
            self.server.served.sent_bytes[name] += len(body)


def _entry(folder: Path, path: Path) -> dict:
    size, etag = path.stat().st_size, etag_of(path)
    return {"type": "file", "oid": etag[:40], "size": size, "path": str(path.relative_to(folder)), "lfs": {"oid": etag, "size": size, "pointerSize": 130}}
