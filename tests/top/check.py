"""`oomph top`: recorded machines, running programs on phantom GPUs, real terminals, and drivers that fail.

    python tests/top/check.py --oomph target/debug/oomph [WORD ...]

A phantom GPU stands for the real one; `recorded` has the answers of real machines. Screens are those of tmux.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

import documents
import failing_nvml
import suite
from machines import HERE, PATIENCE, machine, terminal, wait_for

# The most calls of read(2) and write(2) in one look, with 8 GPUs and 8 processes: the files of /proc, and the screen.
MOST_CALLS = 1000
MIB = 1 << 20


def main() -> int:
    """Exit status 1 if a figure is wrong, or oomph disturbs a program."""
    arguments = suite.parser(__doc__).parse_args()
    oomph = arguments.oomph.absolute()
    recorded = [path for half in ("work", "blind") for path in sorted((HERE / "recorded" / half).glob("*.xml"))]
    cases = [suite.Case(f"recorded {path.parent.name}/{path.stem}", partial(read_recorded, oomph, path)) for path in recorded]
    bodies = [watch_a_run, list_processes, name_faults, refuse, read_encodings, show_screens, follow_keys, close_pipe, end_by_signals, use_little]
    cases += [suite.Case(body.__doc__.splitlines()[0], partial(body, oomph)) for body in bodies]
    return suite.run("top", cases, arguments)


def run(oomph: Path, *words: str, prefix: tuple = (), check: bool = True, **options) -> subprocess.CompletedProcess:
    """Runs a command and returns its result."""
    command = [*map(str, prefix), str(oomph), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
    assert not check or done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}"
    return done


def read_recorded(oomph: Path, path: Path) -> str:
    """The figures of a machine, as a person reads them from its file."""
    expected = json.loads(path.with_suffix(".json").read_text())
    found = json.loads(run(oomph, "top", "--once", "--json", "--from", path).stdout)
    documents.hold("top", found)
    assert found["driver"] == expected["driver"], found["driver"]
    assert len(found["gpus"]) == len(expected["gpus"]), len(found["gpus"])
    for gpu, wanted in zip(found["gpus"], expected["gpus"]):
        keys = ("index", "name", "total_bytes", "used_bytes", "utilization_percent", "temperature_celsius")
        assert {key: gpu[key] for key in keys} == {key: wanted[key] for key in keys}, gpu
        mig = [(it["gpu_instance"], it["total_bytes"], it["used_bytes"]) for it in gpu["mig"]]
        assert mig == [(it["gpu_instance"], it["total_bytes"], it["used_bytes"]) for it in wanted["mig"]], mig
        listed = [row_of(it, it["command"]) for it in found["processes"] if it["gpu"] == gpu["index"]]
        assert sorted(listed, key=str) == sorted((row_of(it, it["command"] or None) for it in wanted["processes"]), key=str), listed
    for columns in (20, 60, 80, 200):
        text = run(oomph, "top", "--once", "--from", path, env={**os.environ, "COLUMNS": str(columns)}).stdout
        assert all(len(line) <= columns for line in text.splitlines()), f"{columns} columns:\n{text}"
    return f"{len(found['gpus'])} GPUs, {len(found['processes'])} processes"


def row_of(process: dict, command: str | None) -> tuple:
    """The figures of a process that both forms have."""
    return process["pid"], process["kind"], command, process["used_bytes"], process["gpu_instance"]


def watch_a_run(oomph: Path) -> str:
    """A program under `oomph run`: allocated, cache, growth, the wait for data"""
    with machine(oomph, "--gpu", "rtx-3060", "--vram", "4GiB") as one:
        one.start(oomph, "run", "--save", one.folder / "run", "--", sys.executable, HERE / "steps.py")
        plain = one.start(sys.executable, HERE / "holds.py", "256")
        report = one.look()
        rows = {row["pid"]: row for row in report["processes"]}
        held = rows.pop(plain)
        # A context of 2 MiB pages, and the tensor.
        assert held["recorded"] is None and held["used_bytes"] > 256 * MIB, held
        (row,) = rows.values()
        recorded = row["recorded"]
        # `steps.py`: 64 MiB of weights and as much of gradients, 8 MiB of each of 6 steps.
        assert recorded["allocated_bytes"] == (128 + 48) * MIB, recorded
        assert recorded["reserved_bytes"] - recorded["allocated_bytes"] == recorded["cached_bytes"], recorded
        assert recorded["steps"] == 6 and recorded["growth_per_step_bytes"] == 8 * MIB, recorded
        assert 0.3 < recorded["loader_wait_share"] <= 1, recorded
        assert recorded["seconds_to_error"] == recorded["steps_to_error"] * recorded["step_seconds"], recorded
        assert row["gpu"] == 0 and row["used_bytes"] > recorded["reserved_bytes"], row
        (growth, wait) = report["remarks"]
        assert growth.startswith(f"pid {row['pid']} grows by 8.00 MiB each step and runs out of memory in "), growth
        assert f"pid {row['pid']} waits for data" in wait and "`num_workers=0`" in wait, wait
        text = one.top(COLUMNS="60")
        assert all(len(line) <= 60 for line in text.splitlines()), text
        assert "176 MiB allocated" in text and "+8.00 MiB each step: full in" in text, text
    return f"{len(rows) + 1} processes"


def list_processes(oomph: Path) -> str:
    """Processes on four GPUs: numbers, users, commands, memory; one is killed between two looks"""
    with machine(oomph, "--gpu", "a100-40gb-sxm", "--gpus", "4") as one:
        pids = [one.start(sys.executable, HERE / "holds.py", str(100 * (number + 1)), str(number % 4)) for number in range(6)]
        report = one.look()
        rows = {row["pid"]: row for row in report["processes"]}
        assert sorted(rows) == sorted(pids), rows
        for number, pid in enumerate(pids):
            row = rows[pid]
            assert row["gpu"] == number % 4 and row["kind"] == "compute", row
            assert row["command"].endswith(f"holds.py {100 * (number + 1)} {number % 4}"), row
            assert row["used_bytes"] > 100 * (number + 1) * MIB, row
        used = [gpu["used_bytes"] for gpu in report["gpus"]]
        assert used == [sum(row["used_bytes"] for row in rows.values() if row["gpu"] == index) for index in range(4)], used
        os.kill(pids[0], signal.SIGKILL)
        wait_for(lambda: len(one.look()["processes"]) == 5)
    return "6 processes, 4 GPUs"


def name_faults(oomph: Path) -> str:
    """Drivers that fail: a lost GPU, no library, no driver, an old driver, no figures of memory"""
    for fault, words in [
        ("absent", "this machine has no NVIDIA driver"),
        ("no-driver", "the NVIDIA driver is not loaded"),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            in_front = failing_nvml.make(oomph, Path(folder), fault)
            done = run(oomph, "top", "--once", prefix=(oomph, "phantom", "--gpu", "t4", "--", *in_front), check=False)
        assert done.returncode == 2 and words in done.stderr and "hint: " in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) == 2 and not done.stdout, done.stderr
    options = ("--gpu", "t4", "--gpus", "2")
    for fault, check in [("lost:1", _one_is_lost), ("old", _all_is_known), ("no-memory", _memory_is_unknown), ("util:85", _is_busy)]:
        with tempfile.TemporaryDirectory() as folder, machine(oomph, *options, in_front=failing_nvml.make(oomph, Path(folder), fault)) as one:
            pid = one.start(sys.executable, HERE / "holds.py", "64")
            report = one.look()
            check(report, pid)
            text = one.top()
            assert text.startswith("GPU "), text
    return "6 faults"


def _one_is_lost(report: dict, pid: int) -> None:
    first, second = report["gpus"]
    assert first["problem"] is None and first["total_bytes"], first
    assert second["problem"] == "device fell off the bus or has otherwise become inacessible", second
    assert report["remarks"][0].startswith("GPU 1: device fell off the bus"), report["remarks"]
    assert [row["pid"] for row in report["processes"]] == [pid], report


def _all_is_known(report: dict, pid: int) -> None:
    # `memory_info` is of the second version alone: an old driver states no memory here.
    assert [row["pid"] for row in report["processes"]] == [pid], report


def _memory_is_unknown(report: dict, pid: int) -> None:
    assert [gpu["total_bytes"] for gpu in report["gpus"]] == [None, None], report
    assert [(row["pid"], row["used_bytes"]) for row in report["processes"]] == [(pid, None)], report


def _is_busy(report: dict, _pid: int) -> None:
    assert {gpu["utilization_percent"] for gpu in report["gpus"]} == {85}, report


def refuse(oomph: Path) -> str:
    """Bad input: files that are no such record, options without sense"""
    with tempfile.TemporaryDirectory(prefix="a folder ") as folder:
        texts = {"empty.xml": "", "page.html": "<html></html>", "cut.xml": "<nvidia_smi_log><gpu>", "log.txt": "no XML at all < &"}
        for name, text in texts.items():
            path = Path(folder) / name
            path.write_text(text)
            done = run(oomph, "top", "--once", "--from", path, check=False)
            assert done.returncode == 2 and str(path) in done.stderr and "nvidia-smi -q -x" in done.stderr, done.stderr
        for path, kind in (("/dev/zero", "a device"), ("/dev/urandom", "a device"), (folder, "a folder")):
            done = run(oomph, "top", "--once", "--from", path, check=False)
            assert done.returncode == 2 and f"`{path}` is {kind}, expected the output of `nvidia-smi -q -x`" in done.stderr, done.stderr
        with open("/dev/zero", "rb") as zeros:
            done = run(oomph, "top", "--once", "--from", "-", check=False, stdin=zeros)
            assert done.returncode == 2 and "`-` has more than 64.00 MiB" in done.stderr, done.stderr
        for words in (["--from", "/none"], ["--interval", "0"], ["--interval", "x"], ["--format", "xml"], ["more"]):
            done = run(oomph, "top", *words, check=False)
            assert done.returncode == 2 and not done.stdout, (words, done)
        for name in ("lost_gpu.txt", "driver_silent.txt"):
            done = run(oomph, "top", "--once", "--from", HERE / "recorded" / "work" / name, check=False)
            assert done.returncode == 2 and "Traceback" not in done.stderr and "panicked" not in done.stderr, done.stderr
    return f"{len(texts) + 11} inputs"


def read_encodings(oomph: Path) -> str:
    """A record in UTF-16, as PowerShell redirects it, with a byte order mark and without"""
    log = make_log(2, 3)
    expected = None
    with tempfile.TemporaryDirectory() as folder:
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
            path = Path(folder) / "smi.xml"
            path.write_bytes(log.encode(encoding))
            found = json.loads(run(oomph, "top", "--once", "--json", "--from", path).stdout)["gpus"]
            expected = expected or found
            assert found == expected and len(found) == 2, (encoding, found)
        path.write_bytes(b"\xfe\xff" + log.encode("utf-16-be"))
        assert json.loads(run(oomph, "top", "--once", "--json", "--from", path).stdout)["gpus"] == expected
    return "6 encodings"


def show_screens(oomph: Path) -> str:
    """Terminals of 20 x 5 to 200 x 60, with 1, 8, 64 and 500 processes"""
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 8, 64, 500):
            path = Path(folder) / f"{count}.xml"
            path.write_text(make_log(min(count, 8), count))
            for columns, rows in ((20, 5), (60, 20), (80, 24), (200, 60)):
                with terminal(columns, rows, oomph, "top", "--from", path) as one:
                    screen = one.wait("1000" if rows < 8 else "COMMAND")
                    assert all(len(line) <= columns for line in screen), screen
                    one.press("End")
                    one.wait(str(1000 + count - 1) if count > 1 else "1000")
                    one.press("q")
                    wait_for(lambda: not one.tmux("list-sessions"))
    return "16 screens"


def make_log(gpus: int, processes: int) -> str:
    """An answer of `nvidia-smi -q -x` with processes of 100 MiB, the last of the least number of MiB."""
    rows = [[] for _ in range(gpus)]
    for number in range(processes):
        used = 5000 - number
        process = f"<pid>{1000 + number}</pid><type>C</type><process_name>python train.py --seed {number}</process_name><used_memory>{used} MiB</used_memory>"
        rows[number * gpus // processes].append(f"<process_info>{process}</process_info>")
    each = "".join(
        f"<gpu><product_name>NVIDIA H100 80GB HBM3</product_name><fb_memory_usage><total>81559 MiB</total><used>40000 MiB</used></fb_memory_usage>"
        f"<utilization><gpu_util>50 %</gpu_util></utilization><processes>{''.join(listed)}</processes></gpu>"
        for listed in rows
    )
    return f"<nvidia_smi_log><driver_version>580.82.07</driver_version>{each}</nvidia_smi_log>"


def follow_keys(oomph: Path) -> str:
    """Keys: open, back, sort, filter, help, the command that would end a process, and nothing is ended"""
    with machine(oomph, "--gpu", "rtx-3060", "--vram", "4GiB") as one:
        one.start(oomph, "run", "--save", one.folder / "run", "--", sys.executable, HERE / "steps.py")
        plain = one.start(sys.executable, HERE / "holds.py", "64")
        environment = one.ask(environment_of_phantom=True)["environment"]
        command = f"'{oomph}' top --interval 0.2; echo ended; read"
        with terminal(80, 24, "bash", "-c", command, environment=environment) as screen:
            screen.wait("steps.py", "holds.py", "176 MiB allocated")
            screen.press("Enter")
            screen.wait("steps.py:", "64.00 MiB", "Esc back")
            screen.press("Escape")
            screen.wait("q quit")
            screen.press("h")
            screen.wait("select a process", "oomph ends no process")
            screen.press("q")
            screen.press("/")
            screen.press("holds")
            screen.wait("filter: holds")
            screen.press("Enter")
            wait_for(lambda: "steps.py" not in "\n".join(screen.screen()))
            screen.press("k")
            screen.wait(f"kill {plain}")
            screen.press("Escape")
            screen.wait("steps.py", "q quit")
            screen.press("M")
            screen.wait("sorted by memory")
            screen.press("q")
            # The command stays behind, for the user to run.
            screen.wait(f"kill {plain}", "ended")
        assert {row["pid"] for row in one.look()["processes"]} >= {plain}, "a process was ended"
    return "9 keys"


def close_pipe(oomph: Path) -> str:
    """A pipe that closes, a file, and no standard input are no errors"""
    log = HERE / "recorded" / "work" / "v100s_eight_gpus.xml"
    script = f"'{oomph}' top --from '{log}' | head -1; echo ${{PIPESTATUS[0]}}; '{oomph}' top --from '{log}' < /dev/null | wc -l; '{oomph}' top --from - < '{log}' | head -2"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    rows = done.stdout.splitlines()
    assert rows[0].startswith("GPU") and rows[1] == "0" and int(rows[2]) > 10 and rows[4].split()[0] == "0", (rows, done.stderr)
    assert not done.stderr, done.stderr
    return ""


def end_by_signals(oomph: Path) -> str:
    """SIGTERM, SIGHUP and Ctrl-C leave the terminal as it was"""
    log = HERE / "recorded" / "work" / "t4_two_processes.xml"
    for end in (signal.SIGTERM, signal.SIGHUP, "C-c"):
        with terminal(80, 24, "bash", "--norc") as one:
            one.press(f"'{oomph}' top --from '{log}'; echo ended=$?; stty -a | grep -o '[-]*echo '", "Enter")
            one.wait("Tesla T4", "q quit")
            if isinstance(end, str):
                one.press(end)
            else:
                (child,) = Path(f"/proc/{one.pid()}/task/{one.pid()}/children").read_text().split()
                os.kill(int(child), end)
            screen = one.wait("ended=")
            one.wait("\necho")
            assert not any("panicked" in line for line in screen), screen
    return "3 ways"


def use_little(oomph: Path) -> str:
    """At one look a second, with 8 processes of which one is recorded, top reads few files"""
    with machine(oomph, "--gpu", "rtx-3060", "--gpus", "8", "--vram", "4GiB") as one:
        one.start(oomph, "run", "--save", one.folder / "run", "--", sys.executable, HERE / "steps.py")
        for number in range(7):
            one.start(sys.executable, HERE / "holds.py", "64", str(number + 1))
        environment = one.ask(environment_of_phantom=True)["environment"]
        with terminal(80, 24, oomph, "top", environment=environment) as screen:
            screen.wait("COMMAND")
            before, started = count_calls(screen.pid()), time.monotonic()
            time.sleep(5)
            # A slow machine has fewer looks than seconds.
            calls = (count_calls(screen.pid()) - before) / (time.monotonic() - started + 1)
            assert calls <= MOST_CALLS, calls
    return f"{calls:.0f} calls a look"


def count_calls(pid: int) -> int:
    """The calls of read(2), write(2) and their kind by a process."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("syscr", "syscw")))


if __name__ == "__main__":
    sys.exit(main())
