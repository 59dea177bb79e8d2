"""A thousand damaged lines, the same in each run, with the errors of JSON-RPC 2.0."""

import json
import random

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
COUNT = 1000
# Above the longest message that the server reads (`MOST_BYTES` in crates/mcp/src/messages.rs).
HUGE = 5 << 20
# Above the depth that readers of JSON follow.
DEPTH = 100_000


def make_lines() -> list[tuple[bytes, int | None, object]]:
    """Each line with code and id of the error; `None` without an answer."""
    chance = random.Random(20261129)
    makers = [cut, scramble, bad_utf8, wrong_types, no_object, deep, unknown_method, wrong_params, foreign_notification, wrong_tool]
    lines = [chance.choice(makers)(chance, number) for number in range(COUNT - 2)]
    # Two lines are enough.
    lines.insert(300, (b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * HUGE + b'"}', INVALID_REQUEST, None))
    lines.insert(600, (b"[" * HUGE, INVALID_REQUEST, None))
    return lines


def good(number: int) -> str:
    """A whole message."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "gpus", "arguments": {}}})


def cut(chance: random.Random, number: int):
    """A message without its end."""
    text = good(number)
    return text[: chance.randrange(1, len(text) - 1)].encode(), PARSE_ERROR, None


def scramble(chance: random.Random, _number: int):
    """Random bytes behind a byte that begins no JSON."""
    noise = bytes(byte for byte in chance.randbytes(chance.randrange(1, 400)) if byte not in b"\r\n")
    return b"\x01" + noise, PARSE_ERROR, None


def bad_utf8(chance: random.Random, number: int):
    """A string with bytes outside of UTF-8."""
    return good(number).encode().replace(b"gpus", chance.choice([b"\xc3\x28", b"\xff", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])), PARSE_ERROR, None


def wrong_types(chance: random.Random, number: int):
    """An object, but no message."""
    name = f"t{number}"
    return chance.choice([
        (json.dumps({"jsonrpc": "2.0", "id": name, "method": 7}).encode(), INVALID_REQUEST, name),
        (json.dumps({"jsonrpc": "1.0", "id": name, "method": "ping"}).encode(), INVALID_REQUEST, name),
        (json.dumps({"jsonrpc": "2.0", "id": name}).encode(), INVALID_REQUEST, name),
        (json.dumps({"jsonrpc": "2.0", "id": [name], "method": "ping"}).encode(), INVALID_REQUEST, None),
        (json.dumps({"jsonrpc": "2.0", "id": 1e300, "method": "ping"}).encode(), INVALID_REQUEST, None),
        (json.dumps({"jsonrpc": "2.0", "id": None, "method": "ping"}).encode(), INVALID_REQUEST, None),
        (b"{}", INVALID_REQUEST, None),
    ])  # fmt: skip


def no_object(chance: random.Random, number: int):
    """JSON without an object; a batch has no meaning in this protocol."""
    return chance.choice(["7", "null", '"text"', "[]", f"[{good(number)}]", "true", "1e5"]).encode(), INVALID_REQUEST, None


def deep(chance: random.Random, _number: int):
    """Nesting."""
    return chance.choice([b"[" * DEPTH, b'{"a":' * DEPTH, b"[" * DEPTH + b"]" * DEPTH]), PARSE_ERROR, None


def unknown_method(chance: random.Random, number: int):
    """A request of another protocol, or for a missing capability."""
    name = f"u{number}"
    method = chance.choice(["resources/list", "textDocument/hover", "", "tools/calls", "x" * 1000, "logging/setLevel"])
    params = {"level": "info"} if method == "logging/setLevel" else {}
    return json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}).encode(), METHOD_NOT_FOUND, name


def wrong_params(chance: random.Random, number: int):
    """A call with parameters of wrong types."""
    name = f"p{number}"
    params = chance.choice([{"name": 7}, {"name": "gpus", "arguments": [1]}, {}, {"arguments": {}}, [], {"name": "gpus", "arguments": "x"}])
    # Parameters of this protocol are an object.
    code = INVALID_REQUEST if params == [] else INVALID_PARAMS
    return json.dumps({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}).encode(), code, name


def foreign_notification(chance: random.Random, _number: int):
    """A damaged notification: no answer is allowed."""
    message = chance.choice([
        {"jsonrpc": "2.0", "method": "notifications/nonsense"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7},
        {"jsonrpc": "1.0", "method": "x"},
        {"jsonrpc": "2.0", "id": 99, "result": {}},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "m"}},
    ])  # fmt: skip
    return json.dumps(message).encode(), None, None


def wrong_tool(chance: random.Random, number: int):
    """A call of an unknown tool."""
    name = f"w{number}"
    tool = chance.choice(["sweep", "", "check ", "../check"])
    return json.dumps({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": tool, "arguments": {}}}).encode(), INVALID_PARAMS, name
