"""Cases written by hand: kills, interrupts, options, several runs at once."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

import suite
from parts.others import Others
from parts.world import GUARD, HERE, World

SEEN = "SEEN AS REAL"
# The files of `kept.setup.py`.
BEFORE_KEPT = {"metrics.csv": "step,loss\n1,0.5\n", "old.txt": "old\n", "results/a.txt": "a\n"}
# Seconds after a kill in which the world must be as before.
CLEANED = 5


def check_words(*more: str) -> list[str]:
    """The words of a check to the program's end."""
    return ["check", "--json", "-v", "--steps", "0", "--gpu", "rtx-4090", "--python", sys.executable, *more]


def kill_in_the_middle(oomph: Path) -> str:
    """The world is as before, although oomph had no time to clean up."""
    return end_in_the_middle(oomph, lambda process: process.kill())


def interrupt_in_the_middle(oomph: Path) -> str:
    """The world is as before after Ctrl-C."""
    return end_in_the_middle(oomph, lambda process: os.killpg(process.pid, signal.SIGINT))


def terminate_in_the_middle(oomph: Path) -> str:
    """The world is as before after SIGTERM to oomph alone."""
    return end_in_the_middle(oomph, lambda process: process.terminate())


def end_in_the_middle(oomph: Path, end) -> str:
    """Ends oomph amid the program's effects; nothing of the program may be left."""
    with World(HERE / "parts" / "slow.py", own_temporary=True) as world:
        before = world.snapshot()
        process = world.start(world.command(oomph, *check_words("slow.py")))
        assert world.server.wait_for("/begun"), f"the program did not begin: {output(process)}"
        assert process.poll() is None, f"ended early: {output(process)}"
        during = world.differences(before)
        end(process)
        process.wait(60)
        ended = time.monotonic()
        while (problems := leavings(world, before)) and time.monotonic() < ended + CLEANED:
            time.sleep(0.1)
        seconds = time.monotonic() - ended
        assert not problems, "\n".join([f"after {CLEANED} s:", *problems, output(process)])
        # The other guard undoes changes that were made in place.
        assert not during or GUARD == "functions", "\n".join(["during the run:", *during])
        time.sleep(2)
        late = leavings(world, before)
        assert not late, "\n".join(["later:", *late])
    return f"clean after {seconds:.1f} s, status {process.returncode}"


def leavings(world: World, before: dict) -> list[str]:
    """Changes, temporary folders of oomph and processes that are left."""
    folders = [f"left: {path}" for path in world.folders["tmp"].iterdir() if path.name.startswith("oomph")]
    return [*world.differences(before), *folders, *(f"still runs: {command_line(pid)}" for pid in world.programs())]


def command_line(pid: int) -> str:
    """The words of a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return str(pid)


def output(process) -> str:
    """The end of both outputs so far, and the status."""
    process.poll()
    if process.returncode is None:
        process.kill()
    texts = process.communicate(30)
    return f"status {process.returncode}\n" + "\n".join(text.decode(errors="replace")[-3000:] for text in texts)


def keep_files(oomph: Path) -> str:
    """New files stay with `--keep-files`, and all others are as before."""
    with World(HERE / "parts" / "kept.py") as world:
        done = world.run_oomph(oomph, *check_words("--keep-files", "kept.py"))
        folder = world.folders["work"]
        found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.*") if path.suffix in (".txt", ".csv")}
        assert found == {**BEFORE_KEPT, "results/b.txt": "b\n"}, f"{found}\n{done.stderr[-3000:]}"
        assert done.returncode == 0 and SEEN in done.stderr.splitlines(), f"status {done.returncode}\n{done.stderr[-3000:]}"
        report = json.loads(done.stdout)
        assert report["effects"]["files_kept"] == 1, report["effects"]
        notes = " ".join(report["notes"])
        assert "metrics.csv and 2 more files were there already" in notes, notes
    return f"{report['effects']}"


def offline(oomph: Path) -> str:
    """No connection arrives with `--offline`, and the program's calls fail as without a network."""
    with World(HERE / "parts" / "offline.py") as world, Others(world) as others:
        before = world.snapshot()
        done = world.run_oomph(oomph, *check_words("--offline", "offline.py"))
        problems = world.differences(before)
        assert not problems, "\n".join([*problems, done.stderr[-3000:]])
        assert world.server.connections == 0, f"{world.server.connections} connections\n{done.stderr[-3000:]}"
        assert others.notes.read_text() == "", f"the program reached a local socket: {others.notes.read_text()}"
        assert SEEN in done.stderr.splitlines(), f"status {done.returncode}\n{done.stderr[-3000:]}"
        assert done.returncode == 0, f"status {done.returncode}\n{done.stderr[-3000:]}"
    return "refused"


def post_in_fit(oomph: Path) -> str:
    """A search of many runs announces itself once at most; every run finds the table as it was, else no plan is found."""
    with World(HERE / "parts" / "post_and_insert.py") as world:
        runs = search(oomph, world, "post_and_insert.py")
        assert world.server.posts <= 1, f"{world.server.posts} posts"
    return f"{runs} runs, {world.server.posts} posts"


def fetch_in_fit(oomph: Path) -> str:
    """The archive is fetched by the first run of a search, and found by the other runs, which have no network."""
    if GUARD == "functions":
        raise suite.Skip("later runs find no fetched files")
    with World(HERE / "parts" / "fetch_once.py") as world:
        runs = search(oomph, world, "fetch_once.py")
        assert world.server.connections == 1, f"{world.server.connections} connections"
    return f"{runs} runs, 1 connection"


def search(oomph: Path, world: World, program: str) -> int:
    """Runs `fit` on a GPU that is too small. A plan must be found, the files are as before; returns the number of runs."""
    before = world.snapshot()
    words = ["fit", "--json", "--no-cache", "--gpu", "rtx-4090", "--vram", "3GiB", "--python", sys.executable, program]
    done = world.run_oomph(oomph, *words)
    problems = world.differences(before)
    assert not problems, "\n".join([*problems, done.stderr[-3000:]])
    assert done.stdout, f"status {done.returncode}\n{done.stderr[-3000:]}"
    report = json.loads(done.stdout)
    assert report["verdict"] == "fits-with-plan", f"{report['verdict']}, {report['notes']}\n{done.stderr[-3000:]}"
    return report["runs"]


def two_at_once(oomph: Path) -> str:
    """Two checks in one folder see nothing of each other."""
    with World(HERE / "work" / "clean_output.py") as world:
        before = world.snapshot()
        processes = [world.start(world.command(oomph, *check_words("clean_output.py"))) for _ in range(2)]
        for process in processes:
            _, errors = process.communicate(900)
            assert SEEN in errors.decode().splitlines(), f"status {process.returncode}\n{errors.decode()[-3000:]}"
        problems = world.differences(before)
        assert not problems, "\n".join(problems)
    return "both saw their own"


def others_may_write(oomph: Path) -> str:
    """Files written by a different process during the run keep the written content."""
    with World(HERE / "parts" / "slow.py") as world:
        folder = world.folders["work"]
        before = world.snapshot()
        process = world.start(world.command(oomph, *check_words("slow.py")))
        assert world.server.wait_for("/begun"), f"the program did not begin: {output(process)}"
        (folder / "untouched.txt").write_text("written by others\n")
        (folder / "theirs.txt").write_text("theirs\n")
        with (folder / "metrics.csv").open("a") as file:
            file.write("2,0.4\n")
        _, errors = process.communicate(900)
        assert (folder / "metrics.csv").read_text() == "step,loss\n1,0.5\n2,0.4\n", (folder / "metrics.csv").read_text()
        assert (folder / "untouched.txt").read_text() == "written by others\n"
        assert (folder / "theirs.txt").read_text() == "theirs\n"
        theirs = ("work/metrics.csv:", "work/untouched.txt:", "work/theirs.txt", "work:")
        problems = [line for line in world.differences(before) if not line.split(": ", 1)[1].startswith(theirs) and not line.endswith(": work")]
        assert not problems, "\n".join([*problems, errors.decode()[-3000:]])
    return f"status {process.returncode}"


def other_processes(oomph: Path) -> str:
    """A process, objects in memory and the machine are as before, and the report names the refusals."""
    with World(HERE / "parts" / "reaching.py") as world, Others(world) as others:
        before, files = others.state(), world.snapshot()
        done = world.run_oomph(oomph, *check_words("reaching.py"))
        assert SEEN in done.stderr.splitlines(), f"status {done.returncode}\n{done.stderr[-3000:]}"
        assert done.returncode == 0, f"status {done.returncode}\n{done.stderr[-3000:]}"
        assert others.state() == before, f"before {before}\nafter {others.state()}"
        problems = [*world.differences(files), *others.leavings()]
        assert not problems, "\n".join(problems)
        effects = json.loads(done.stdout)["effects"]
        acts = {refusal["act"] for refusal in effects["refused"]}
        assert {"signal", "query", "settings"} <= acts and effects["is_apart"] == others.has_scopes, effects
        refused = {refusal["target"] for refusal in effects["refused"] if refusal["act"] == "signal"}
        assert str(others.victim.pid) in refused, effects
    return f"{effects['guard']}: {len(effects['refused'])} refusals"


def inherited_descriptors(oomph: Path) -> str:
    """What the shell passed on and can be written is closed, and the rest is read from its place."""
    with World(HERE / "parts" / "inherits.py") as world, contextlib.ExitStack() as stack:
        folder = world.folders["out"]
        for name in ("log", "table", "input", "standard"):
            (folder / name).write_text("first line\nsecond line\n")
        before = world.snapshot()

        def keep(number: int) -> int:
            stack.callback(os.close, number)
            return number

        opened = {3: keep(os.open(folder / "log", os.O_WRONLY | os.O_APPEND)), 17: keep(os.open(folder / "table", os.O_RDWR))}
        opened |= {4: keep(os.open(folder, os.O_RDONLY)), 5: keep(os.open(folder / "input", os.O_RDONLY))}
        standard = keep(os.open(folder / "standard", os.O_RDWR))
        for number in (opened[5], standard):
            os.lseek(number, len("first line\n"), os.SEEK_SET)
        reading, writing = os.pipe()
        os.write(writing, b"of the pipe\n")
        os.close(writing)
        opened[6] = keep(reading)
        ours, theirs = socket.socketpair()
        opened[7] = theirs.fileno()
        stack.enter_context(ours), stack.enter_context(theirs)
        copies = {number: keep(fcntl.fcntl(source, fcntl.F_DUPFD, 100)) for number, source in opened.items()}

        def inherit() -> None:
            for number, copy in copies.items():
                os.dup2(copy, number)
            os.closerange(18, 4096)

        words = check_words("inherits.py")
        done = world.run_oomph(oomph, *words, stdin=standard, preexec_fn=inherit, close_fds=False)
        assert SEEN in done.stderr.splitlines(), f"status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        problems = world.differences(before)
        assert not problems, "\n".join([*problems, done.stderr[-3000:]])
        effects = json.loads(done.stdout)["effects"]
        assert {3, 4, 17} <= set(effects["closed_descriptors"]), effects
        assert not {5, 6} & set(effects["closed_descriptors"]), effects
    return f"{effects['guard']}: closed {effects['closed_descriptors']}"


LOGS = ("held.log", "rolled.log", "reopened.log", "shell.log", "tee.log")


def others_write_the_same_files(oomph: Path) -> str:
    """No line of another process is lost, whatever the program does with the same file; a file that both changed is named in the report."""
    with World(HERE / "parts" / "shared_logs.py") as world:
        folder = world.folders["work"]
        process = world.start(world.command(oomph, *check_words("shared_logs.py")))
        assert world.server.wait_for("/begun"), f"the program did not begin: {output(process)}"
        for name in ("rewritten.json", "removed.txt"):
            (folder / name).write_text("others\n")
        lines = [f"others {number}\n" for number in range(40)]
        with (folder / "held.log").open("a") as held:
            for line in lines:
                held.write(line)
                held.flush()
                for name in (*LOGS[1:], "made.log"):
                    with (folder / name).open("a") as file:
                        file.write(line)
                wait_for_growth(folder / "reopened.log", process)
        output_text, errors = process.communicate(900)
        assert SEEN in errors.decode().splitlines(), f"status {process.returncode}\n{errors.decode()[-3000:]}"
        problems = [problem for name in (*LOGS, "made.log") for problem in lost(folder, name, lines)]
        for name in ("rewritten.json", "removed.txt"):
            if (found := (folder / name).read_text()) != "others\n":
                problems.append(f"{name}: {found!r}")
        if (found := (folder / "started.txt").read_text()) != "{}\n":
            problems.append(f"started.txt: {found!r}")
        effects = json.loads(output_text)["effects"]
        problems += unsaid(folder, effects)
        assert not problems, "\n".join([*problems, json.dumps(effects["uncovered"], indent=1), *sorted(os.listdir(folder))])
    return f"{len(lines)} lines in each of {len(LOGS)} logs, {len(effects['uncovered'])} paths named"


def wait_for_growth(path: Path, process) -> None:
    """Waits until the program has written once more; a world of its own shows nothing of that."""
    if GUARD == "functions":
        size, end = path.stat().st_size, time.monotonic() + 60
        while path.stat().st_size == size and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)


def lost(folder: Path, name: str, lines: list[str]):
    """Lost lines of others in a log, which may have been rotated, and lines of the program that are left."""
    found = (folder / name).read_text() if (folder / name).exists() else ""
    everywhere = "".join(path.read_text() for path in folder.glob(f"{name}*"))
    missing = [line for line in lines if line not in everywhere]
    if missing:
        yield f"{name}: lost {len(missing)} of {len(lines)}"
    if name != "made.log" and "earlier\n" not in everywhere:
        yield f"{name}: the earlier line is lost"
    if "program" in found and name in ("held.log", "reopened.log", "made.log"):
        yield f"{name}: {found.count('program')} lines of the program are left"


def unsaid(folder: Path, effects: dict):
    """Originals that were not put back, and are not named."""
    named = {entry["path"].rpartition("/")[2]: entry["reason"] for entry in effects["uncovered"]}
    if effects["guard"] == "functions":
        for name in ("rewritten.json", "removed.txt"):
            beside = folder / f"{name}.before-1"
            if not beside.exists() or beside.read_text() != "{}\n" or str(beside) not in named.get(name, ""):
                yield f"{name}: no original beside it, or none that is named"


def only_downloads_stay(oomph: Path) -> str:
    """Of the files in caches, those that came through a socket unchanged stay."""
    with World(HERE / "parts" / "own_and_fetched.py") as world:
        done = world.run_oomph(oomph, *check_words("own_and_fetched.py"))
        assert SEEN in done.stderr.splitlines(), f"status {done.returncode}\n{done.stderr[-3000:]}"
        caches = world.folders["home"] / ".cache"
        found = sorted(str(path.relative_to(caches)) for path in caches.rglob("*") if path.is_symlink() or path.is_file())
        hub = ["answer.json", "fetched.zip", "fetched_link", "renamed.zip", "unpacked/weights/config.json", "unpacked/weights/layer.bin"]
        assert found == [f"torch/hub/{name}" for name in hub], f"{found}\n{done.stderr[-3000:]}"
        layer = (caches / "torch/hub/unpacked/weights/layer.bin").read_bytes()
        assert layer == bytes(range(256)) * 256
        kept = json.loads(done.stdout)["effects"]["downloads_kept"]
        assert kept == len(hub), f"{kept} downloads are reported"
    return f"{kept} downloads"


CASES = [
    kill_in_the_middle,
    other_processes,
    inherited_descriptors,
    interrupt_in_the_middle,
    terminate_in_the_middle,
    keep_files,
    offline,
    post_in_fit,
    fetch_in_fit,
    two_at_once,
    others_may_write,
    others_write_the_same_files,
    only_downloads_stay,
]
