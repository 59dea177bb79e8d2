"""Input that no client should send, and the exit status of each end of a session."""

import json
import subprocess
from pathlib import Path

PATIENCE = 30
INITIALIZE = {"id": 1, "method": "initialize", "params": {"capabilities": {}}}
SHUTDOWN = {"id": 2, "method": "shutdown"}
EXIT = {"method": "exit"}
OPEN = {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///a.py", "languageId": "python", "version": 1, "text": "import torch\n"}}}
# Codes of JSON-RPC and of the protocol.
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, NOT_INITIALIZED = -32600, -32601, -32602, -32002


def frame(message: object) -> bytes:
    """A message of the base protocol; bytes stand for themselves."""
    if isinstance(message, bytes):
        return message
    body = json.dumps({"jsonrpc": "2.0"} | message if isinstance(message, dict) else message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def parse(printed: bytes) -> list[dict]:
    """The messages of the server; anything else on standard output fails."""
    messages = []
    while printed:
        header, _, rest = printed.partition(b"\r\n\r\n")
        name, _, length = header.partition(b": ")
        assert name == b"Content-Length", printed[:200]
        messages.append(json.loads(rest[: int(length)]))
        printed = rest[int(length) :]
    return messages


def talk(oomph: Path, folder: Path, *messages: object) -> tuple[int, list[dict], str]:
    """Sends messages and closes the input; returns the exit status, the messages of the server and its standard error."""
    done = subprocess.run([oomph, "lint", "--lsp"], input=b"".join(map(frame, messages)), capture_output=True, cwd=folder, timeout=PATIENCE)
    errors = done.stderr.decode()
    assert "panicked" not in errors, errors
    return done.returncode, parse(done.stdout), errors


def ends(oomph: Path, folder: Path) -> None:
    """The exit status is 0 after `shutdown` and `exit`, and 1 after every other end, as the protocol states."""
    cases = {
        "in order": ([INITIALIZE, SHUTDOWN, EXIT], 0),
        "exit without shutdown": ([INITIALIZE, EXIT], 1),
        "exit first": ([EXIT], 1),
        "shutdown without exit": ([INITIALIZE, SHUTDOWN], 1),
        "no message": ([], 1),
        "after initialize": ([INITIALIZE], 1),
        "inside of a header": ([INITIALIZE, b"Content-Le"], 1),
        "inside of a body": ([INITIALIZE, OPEN, b"Content-Length: 100\r\n\r\n{"], 1),
        "shutdown first": ([SHUTDOWN, EXIT], 1),
        "messages after exit": ([INITIALIZE, SHUTDOWN, EXIT, OPEN], 0),
    }
    for name, (messages, expected) in cases.items():
        status, _, errors = talk(oomph, folder, *messages)
        assert status == expected, f"{name}: expected exit status {expected}, found {status}\n{errors}"


def client_dies(oomph: Path, folder: Path) -> None:
    """A server whose client reads no more ends by itself."""
    with subprocess.Popen([oomph, "lint", "--lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as server:
        server.stdout.close()
        server.stdin.write(frame(INITIALIZE))
        server.stdin.flush()
        status, errors = server.wait(PATIENCE), server.stderr.read().decode()
    assert (status, errors) == (1, ""), f"expected exit status 1 and no words, found {status} {errors}"


def refusals(oomph: Path, folder: Path) -> None:
    """A wrong request gets an error of its code, and the session goes on."""
    hover = lambda number, params: {"id": number, "method": "textDocument/hover", "params": params}
    messages = [
        {"id": "early", "method": "textDocument/hover", "params": {}}, INITIALIZE, INITIALIZE | {"id": "again"}, hover(3, {}), hover(4, [1]), hover(5, None),
        {"id": 6, "method": "nonsense/method"}, {"id": 7, "method": "textDocument/codeAction", "params": {"range": 1}},
        hover(8, {"textDocument": {"uri": "file:///none.py"}, "position": {"line": 4294967295, "character": 4294967295}}),
        SHUTDOWN, hover(9, {}), EXIT,
    ]  # fmt: skip
    status, answers, errors = talk(oomph, folder, *messages)
    codes = {answer["id"]: answer["error"]["code"] if "error" in answer else None for answer in answers if "id" in answer}
    expected = {"early": NOT_INITIALIZED, 1: None, "again": INVALID_REQUEST, 3: INVALID_PARAMS, 4: INVALID_PARAMS, 5: INVALID_PARAMS, 6: METHOD_NOT_FOUND,
                7: INVALID_PARAMS, 8: None, 2: None, 9: INVALID_REQUEST}  # fmt: skip
    assert (status, codes) == (0, expected), f"expected {expected}, found {status} {codes}\n{errors}"


def notes(oomph: Path, folder: Path) -> None:
    """Texts that are no message, and notifications of a wrong form, are logged or ignored; the session goes on."""
    position = {"line": 4000000000, "character": 7}
    changes = [{"range": {"start": position, "end": {"line": 0, "character": 0}}, "text": "x"}, {"text": "import torch\nloss =\n"}]
    change = lambda **params: {"method": "textDocument/didChange", "params": params}
    body = b"\xff\xfe nonsense"
    messages = [
        INITIALIZE, b"Content-Length: %d\r\n\r\n%s" % (len(body), body), [1, 2], {"nonsense": True}, {"id": None, "method": "x"}, {"id": 1.5, "method": "x"},
        {"id": 77, "result": None}, {"method": "$/cancelRequest", "params": {"id": 1}}, {"method": "nonsense"}, {"method": "textDocument/didOpen"},
        {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "no uri", "languageId": "python", "version": 1, "text": ""}}},
        {"method": "textDocument/didClose", "params": {"textDocument": {"uri": "file:///never.py"}}},
        OPEN, change(textDocument={"uri": "file:///a.py", "version": 2}, contentChanges=changes), change(textDocument={}), change(),
        {"method": "workspace/didChangeWorkspaceFolders", "params": {"event": {"added": [{"uri": "x:y", "name": ""}], "removed": []}}},
        SHUTDOWN, EXIT,
    ]  # fmt: skip
    status, answers, errors = talk(oomph, folder, *messages)
    assert (status, errors) == (0, ""), f"expected exit status 0, found {status}\n{errors}"
    logged = [answer["params"]["message"] for answer in answers if answer.get("method") == "window/logMessage"]
    assert sum("not of JSON-RPC" in text for text in logged) == 3, logged
    assert sum("was not heeded" in text for text in logged) == 4, logged
    assert all("error" not in answer for answer in answers), answers


def headers(oomph: Path, folder: Path) -> None:
    """A header of a wrong form or of an absurd length ends the session with a sentence."""
    for header in (b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"Content-Length: 999999999999999999\r\n\r\n", b"\r\n\r\n", b"\x00" * 100_000):
        status, _, errors = talk(oomph, folder, INITIALIZE, header)
        assert status == 1 and errors.startswith("the session ends: "), f"{header[:40]}: {status} {errors}"


def options(oomph: Path, folder: Path) -> None:
    """Options that name files or print are refused beside `--lsp`."""
    others = (["train.py"], ["--fix"], ["--diff"], ["--watch"], ["--prove"], ["--json"], ["--format", "json"], ["--write-baseline", "x"], ["--stdin-filename", "x"])
    for words in others:
        done = subprocess.run([oomph, "lint", "--lsp", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, timeout=PATIENCE)
        assert done.returncode == 2 and "cannot be used with" in done.stderr, f"{words}: {done.returncode} {done.stderr}"


CASES = {
    "exit statuses": ends,
    "a client that dies": client_dies,
    "wrong requests": refusals,
    "wrong notifications": notes,
    "wrong headers": headers,
    "options": options,
}
