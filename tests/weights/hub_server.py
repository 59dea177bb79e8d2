"""A server of the Hugging Face Hub's protocol, for tests: sparse checkpoints of any size, and faults.

`serve(folder)` serves each `OWNER/NAME` below a folder as a model with one commit, to the real `huggingface_hub` through `HF_ENDPOINT`, and
counts the bytes of the body of each answer. A file of 1 MiB or more is on another host, as with LFS: the answer is a redirect. A fault is
the name of a function below, by file name or for all files (`*`).
"""

import contextlib
import hashlib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LARGE_BYTES = 1 << 20
_CHUNK = b"\0" * (1 << 20)
_HTML = b"<!DOCTYPE html><html><body>Please log in to the network.</body></html>"


class Hub:
    """A running server."""

    def __init__(self, folder: Path, faults: dict[str, str]) -> None:
        self.folder, self.faults = folder, faults
        # Bytes sent by `OWNER/NAME/FILE`, and the requests as `METHOD PATH`.
        self.sent: Counter[str] = Counter()
        self.requests: list[str] = []
        # The paths that got a token, on the host of large files.
        self.leaks: list[str] = []
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        # A second name of this machine counts as another host.
        self.files = f"http://localhost:{self.port}/lfs"

    def start(self) -> None:
        """Serves in a thread of its own."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Closes the port."""
        self._server.shutdown()
        self._server.server_close()

    def forget(self) -> None:
        """Resets the counts."""
        self.sent.clear()
        self.requests.clear()

    def commit(self, repository: str) -> str:
        """The only commit."""
        return hashlib.sha1(repository.encode()).hexdigest()

    def list_files(self, repository: str) -> list[Path]:
        """The files of a model."""
        folder = self.folder / repository
        return sorted(path for path in folder.rglob("*") if path.is_file())

    def etag(self, path: Path) -> str:
        """Of the name and the size: the contents of large files are holes."""
        size = path.stat().st_size
        return hashlib.sha256(f"{path.relative_to(self.folder)} {size}".encode()).hexdigest()

    def find_fault(self, name: str) -> str | None:
        """The fault of a file, by its name."""
        return self.faults.get(name.rsplit("/", 1)[-1], self.faults.get("*"))


@contextlib.contextmanager
def serve(folder: Path, **faults: str) -> Iterator[Hub]:
    """A running server; a fault by file name (`config_json` for `config.json`), `all_files` for each."""
    named = {"*" if name == "all_files" else name.replace("__", "-").replace("_json", ".json").replace("_safetensors", ".safetensors"): fault for name, fault in faults.items()}
    hub = Hub(folder, named)
    hub.start()
    try:
        yield hub
    finally:
        hub.stop()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        """As GET, without a body."""
        self._answer(has_body=False)

    def do_GET(self) -> None:
        """A file, or the list of files."""
        self._answer(has_body=True)

    def do_POST(self) -> None:
        """Nothing that a dry run sends is expected."""
        self._send(403, b"{}", has_body=True)

    def _answer(self, has_body: bool) -> None:
        path = self.path.partition("?")[0]
        with self.hub.lock:
            self.hub.requests.append(f"{self.command} {path}")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if match := re.fullmatch(r"/api/models/([^/]+/[^/]+?)(?:/(revision|tree)/([^/]+))?", path):
                self._answer_api(match[1], match[2], has_body)
            elif match := re.fullmatch(r"/lfs/([^/]+/[^/]+)/(.+)", path):
                self._answer_lfs(match[1], match[2], has_body)
            elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
                self._answer_file(match[1], match[3], has_body)
            else:
                self._send(404, b"{}", has_body)

    def _answer_api(self, repository: str, kind: str | None, has_body: bool) -> None:
        if self._refuse(repository, "api", has_body):
            return
        files, commit = self.hub.list_files(repository), self.hub.commit(repository)
        names = [str(path.relative_to(self.hub.folder / repository)) for path in files]
        if kind == "tree":
            answer = [_describe(self.hub, path, name) for path, name in zip(files, names)]
        else:
            answer = {"id": repository, "modelId": repository, "sha": commit, "private": False, "siblings": [{"rfilename": name} for name in names], "tags": [], "downloads": 0}
        self._send(200, json.dumps(answer).encode(), has_body, {"Content-Type": "application/json", "X-Repo-Commit": commit})

    def _answer_file(self, repository: str, name: str, has_body: bool) -> None:
        path = self.hub.folder / repository / name
        if self._refuse(repository, name, has_body):
            return
        commit = {"X-Repo-Commit": self.hub.commit(repository)}
        fault = self.hub.find_fault(name)
        if not path.is_file():
            self._send(404, b"Entry not found", has_body, {**commit, "X-Error-Code": "EntryNotFound"})
        elif fault == "no_headers":
            self._send(200, _HTML, has_body, {"Content-Type": "text/html"})
        elif fault == "loop":
            self._send(302, b"", has_body, {**commit, "Location": self.path})
        elif path.stat().st_size < LARGE_BYTES and fault != "large":
            self._send_file(path, repository, name, has_body, {**commit, "ETag": f'"{self.hub.etag(path)}"'})
        else:
            linked = {"X-Linked-Size": str(path.stat().st_size), "X-Linked-ETag": f'"{self.hub.etag(path)}"'}
            self._send(302, b"", has_body, {**commit, **linked, "Location": f"{self.hub.files}/{repository}/{name}"})

    def _answer_lfs(self, repository: str, name: str, has_body: bool) -> None:
        if self.headers.get("Authorization"):
            self.hub.leaks.append(self.path)
        path = self.hub.folder / repository / name
        if self.hub.find_fault(name) == "lfs_loop":
            self._send(302, b"", has_body, {"Location": self.path})
        else:
            self._send_file(path, repository, name, has_body, {"ETag": f'"{self.hub.etag(path)}"'})

    def _refuse(self, repository: str, name: str, has_body: bool) -> bool:
        """Answers for a model that is not there, private or gated."""
        fault = self.hub.find_fault(name)
        if not (self.hub.folder / repository).is_dir():
            self._send(404 if self.headers.get("Authorization") else 401, b'{"error": "Repository not found"}', has_body, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif fault in ("gated_401", "gated_403"):
            message = f"Access to model {repository} is restricted. You must have access to it and be authenticated to access it. Please log in."
            self._send(int(fault[-3:]), message.encode(), has_body, {"X-Error-Code": "GatedRepo", "X-Error-Message": message})
        elif fault == "unavailable":
            self._send(503, b"Service Unavailable", has_body)
        else:
            return False
        return True

    def _send_file(self, path: Path, repository: str, name: str, has_body: bool, fields: dict[str, str]) -> None:
        size, fault = path.stat().st_size, self.hub.find_fault(name)
        if fault == "html":
            self._send(200, _HTML + b" " * (size - len(_HTML) if size < LARGE_BYTES else 0), has_body, fields, name=f"{repository}/{name}")
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last, status = 0, size - 1, 200
        if wanted and fault != "no_ranges":
            first, last, status = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1), 206
            fields = {**fields, "Content-Range": f"bytes {first}-{last}/{size}"}
        self.send_response(status)
        for field, value in {**fields, "Content-Length": str(last + 1 - first), "Accept-Ranges": "bytes"}.items():
            self.send_header(field, value)
        self.end_headers()
        if has_body:
            self._copy(path, f"{repository}/{name}", first, last + 1, is_cut=fault == "cut")

    def _copy(self, path: Path, name: str, first: int, end: int, is_cut: bool) -> None:
        with path.open("rb") as file:
            file.seek(first)
            while first < end:
                data = file.read(min(1 << 16, end - first))
                if is_cut:
                    data = data[: max(1, len(data) // 4)]
                self.wfile.write(data)
                first += len(data)
                with self.hub.lock:
                    self.hub.sent[name] += len(data)
                if is_cut:
                    self.wfile.flush()
                    self.close_connection = True
                    return

    def _send(self, status: int, body: bytes, has_body: bool, fields: dict[str, str] | None = None, name: str | None = None) -> None:
        self.send_response(status)
        for field, value in {"Content-Length": str(len(body)), **(fields or {})}.items():
            self.send_header(field, value)
        self.end_headers()
        if has_body:
            self.wfile.write(body)
            if name is not None:
                with self.hub.lock:
                    self.hub.sent[name] += len(body)


def _describe(hub: Hub, path: Path, name: str) -> dict:
    """A row of the list of files (`RepoFile`, huggingface_hub 1.33)."""
    size, etag = path.stat().st_size, hub.etag(path)
    row = {"type": "file", "path": name, "size": size, "oid": etag[:40]}
    return row if size < LARGE_BYTES else {**row, "lfs": {"oid": etag, "size": size, "pointerSize": 135}}


def main() -> None:
    """Serves a folder until Ctrl-C: `python hub_server.py FOLDER`."""
    import sys

    hub = Hub(Path(sys.argv[1]), dict(word.split("=") for word in sys.argv[2:]))
    print(hub.endpoint, flush=True)
    hub._server.serve_forever()


if __name__ == "__main__":
    main()
