"""A server in the program's own process, for a service that is far away: it notes each request that changes something, and finds nothing."""

import http.server
import threading

READING = ("GET", "HEAD", "OPTIONS")
changes: list[str] = []


class _Handler(http.server.BaseHTTPRequestHandler):
    def _answer(self) -> None:
        if self.command not in READING:
            changes.append(self.command)
        with open("requests.txt", "a") as file:
            file.write(f"{self.command} {self.path}\n")
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        self.send_error(404)

    do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, *_args) -> None:
        """Prints nothing."""


_server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
threading.Thread(target=_server.serve_forever, daemon=True).start()
port = _server.server_port
url = f"http://127.0.0.1:{port}"


def expect(what: str, found: object, wanted: object) -> None:
    """Ends the program with status 3 if a library returns something else."""
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def train() -> None:
    """One step on the device, after the last call of the library; no change may have come by then."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Linear(8, 8).to(device)
    model(torch.ones(1, 8, device=device)).sum().backward()
    torch.optim.SGD(model.parameters()).step()
    expect("changes at the server", changes, [])
