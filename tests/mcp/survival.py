"""Long calls, damaged messages and recursion: what a server must survive."""

import asyncio
import json
import signal
import threading
from pathlib import Path

import anyio
import damage
from session import MODES, Place, call, greet, request, text_of, until

MIB = 1 << 20
ALLOCATES = "import sys, torch\nheld = [torch.empty(int(it) << 20, dtype=torch.uint8, device='cuda') for it in sys.argv[1:]]\n"
WAITS = "import time, torch\ntorch.zeros(3, device='cuda')\nopen('started', 'w').close()\ntime.sleep(600)\n"


# ---- long work ----


def progress(place: Place) -> str:
    """Progress rises, with the command's own words, in both versions of the protocol"""
    place.write("train.py", ALLOCATES)
    for mode in MODES:
        seen = []

        async def note(done, total, message, seen=seen):
            seen.append((done, total, message))

        async def ask(client, note=note):
            return await client.call_tool("check", {"script": "train.py", "args": ["64"], "gpu": "l4"}, progress_callback=note)

        result = place.run(ask, mode)
        assert not result.is_error and seen, (mode, text_of(result))
        numbers = [done for done, _, _ in seen]
        assert numbers == sorted(set(numbers)), numbers
        assert seen[0][2].startswith("oomph check runs, "), seen[0]
    return f"{len(seen)} notifications, {seen[-1][2]}"


def queue(place: Place) -> None:
    """Calls at once are served one after another, with an answer to each"""
    place.write("train.py", ALLOCATES)
    waited = []

    async def note(_done, _total, message):
        waited.append(message)

    async def ask(client):
        results = {}

        async def one(size):
            results[size] = await client.call_tool("check", {"script": "train.py", "args": [str(size)], "gpu": "l4"}, progress_callback=note)

        async with anyio.create_task_group() as group:
            for size in (32, 64, 96):
                group.start_soon(one, size)
            listed = await client.call_tool("gpus", {"name": "l4"})
            assert not listed.is_error and not results, "a look does not wait for programs"
        return results

    for size, result in place.run(ask).items():
        assert result.structured_content["need"]["allocated_bytes"] == size * MIB, text_of(result)
    assert any(message.startswith("waits for the end of another call") for message in waited), waited


def wait_for_program(place: Place) -> None:
    """Waits until a dry run is in the middle of its program."""
    until(place.uses_phantom, lambda: f"a program among {place.describe()}")


def cancel(place: Place) -> None:
    """A cancelled call ends its program at once, leaves nothing, and the next call works"""
    place.write("waits.py", WAITS)
    place.write("train.py", ALLOCATES)
    for mode in MODES:

        async def ask(client):
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "check", {"script": "waits.py", "gpu": "l4"})
                await asyncio.to_thread(wait_for_program, place)
                group.cancel_scope.cancel()
            await asyncio.to_thread(until, lambda: not place.uses_phantom(), lambda: "the end of the program")
            result = await client.call_tool("check", {"script": "train.py", "args": ["64"], "gpu": "l4"})
            assert not place.list_left(), f"left while the server lives: {place.list_left()}"
            return result

        result = place.run(ask, mode)
        assert result.structured_content["need"]["allocated_bytes"] == 64 * MIB, text_of(result)
    assert not (place.folder / "started").exists()


def close(place: Place) -> None:
    """A client that closes its side in the middle of calls leaves nothing, and the server ends with status 0"""
    place.write("waits.py", WAITS)
    pipe = place.open_pipe()
    greet(pipe)
    for number in (1, 2, 3):
        pipe.send(request("tools/call", number, name="check", arguments={"script": "waits.py", "gpu": "l4"}))
    wait_for_program(place)
    assert pipe.close() == (0, "")
    place.expect_nothing_left()


def kill(place: Place) -> None:
    """A server that is signalled or killed in the middle of a call leaves no process and no file"""
    place.write("waits.py", WAITS)
    for number, status in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGINT, 128 + signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)):
        pipe = place.open_pipe()
        greet(pipe)
        pipe.send(request("tools/call", 1, name="check", arguments={"script": "waits.py", "gpu": "l4"}))
        wait_for_program(place)
        pipe.process.send_signal(number)
        assert pipe.process.wait() == status, (number, pipe.process.returncode)
        until(lambda: not place.list_left(), lambda: f"the removal of {place.list_left()}")
        place.expect_nothing_left()


# ---- messages ----


def damaged(place: Place) -> str:
    """A thousand damaged lines get the errors of JSON-RPC, cost no memory, and a call afterwards works"""
    pipe = place.open_pipe()
    greet(pipe)
    lines = damage.make_lines()
    expected = {(code, json.dumps(number)): 0 for _, code, number in lines if code is not None}
    for _, code, number in lines:
        if code is not None:
            expected[(code, json.dumps(number))] += 1
    pipe.ask("ping", "before")
    before = resident_kib(pipe.process.pid)
    writer = threading.Thread(target=pipe.send, args=[line for line, _, _ in lines])
    writer.start()
    for _ in range(sum(expected.values())):
        answer = pipe.receive()
        expected[(answer["error"]["code"], json.dumps(answer["id"]))] -= 1
    writer.join()
    wrong = {key: count for key, count in expected.items() if count}
    assert not wrong, dict(list(wrong.items())[:10])
    answer = pipe.ask("tools/call", "after", name="gpus", arguments={"name": "4090"})
    assert answer["id"] == "after" and answer["result"]["structuredContent"]["gpus"], answer
    # A message of 4 MiB has its line, its value and a few chunks of a thread in between.
    grown = resident_kib(pipe.process.pid) - before
    assert grown < 64 << 10, f"{grown} KiB"
    assert pipe.close() == (0, "")
    place.expect_nothing_left()
    return f"{len(lines)} lines, {sum(1 for _, code, _ in lines if code is not None)} answers, {grown} KiB more"


def resident_kib(pid: int) -> int:
    """The memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def lifecycle(place: Place) -> None:
    """Messages before the handshake, doubled ids and too many requests are answered, and the session goes on"""
    place.write("waits.py", WAITS)
    pipe = place.open_pipe()
    pipe.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 4, "result": {}}, b"nonsense")
    assert pipe.receive()["error"]["code"] == damage.PARSE_ERROR
    assert pipe.ask("ping", "early")["result"] == {}
    info = greet(pipe)
    assert info["protocolVersion"] == "2025-06-18" and info["serverInfo"]["name"] == "oomph" and set(info["capabilities"]) == {"tools"}, info
    assert pipe.ask("initialize", 9, protocolVersion="1999-01-01", capabilities={}, clientInfo={"name": "t", "version": "1"})["result"]["protocolVersion"] >= "2025-06-18"
    held = {"name": "check", "arguments": {"script": "waits.py", "gpu": "l4"}}
    pipe.send(request("tools/call", "same", **held))
    wait_for_program(place)
    assert pipe.ask("ping", "same")["error"]["code"] == damage.INVALID_REQUEST
    pipe.send(*(request("tools/call", f"n{number}", **held) for number in range(63)))
    answer = pipe.ask("tools/call", "one more", **held)
    assert answer["error"]["code"] == -32000 and answer["id"] == "one more", answer
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "n5"}})
    assert pipe.ask("ping", "room")["result"] == {}
    assert pipe.close() == (0, "")
    place.expect_nothing_left()


# ---- recursion ----


def recurse(place: Place) -> str:
    """A program that starts oomph inside its own dry run gets one sentence, and no second dry run"""
    said = "this oomph runs inside a dry run"
    inside = (
        "import subprocess, sys, torch\ntorch.zeros(3, device='cuda')\n"
        "done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)\n"
        "raise RuntimeError(f'status {done.returncode}: ' + ' '.join((done.stderr + done.stdout).split()))\n"
    )
    place.write("inside.py", inside)
    oomph = str(place.oomph)
    for words in ([oomph, "mcp"], [oomph, "check", "inside.py"], [oomph, "fit", "--json", "inside.py"]):
        result = call(place, "check", script="inside.py", args=words, gpu="l4")
        assert said in text_of(result) and "status 2" in text_of(result), (words, text_of(result), result.structured_content)
    return said
