"""Programs with effects: a dry run leaves the world as it was, and the program sees its effects as real.

    python tests/effects/check.py --oomph target/release/oomph [--plain] [WORD ...]

The answer of every program was worked out by hand from its source.
The code was written with `work`; `blind` was made before the code as well, and is run afterwards.
EFFECTS_GUARD=functions forbids namespaces: the changes are undone from a journal. Without it a machine must allow them. A guard that the
machine cannot run is one skipped case, with the reason. EFFECTS_USER=nobody runs without privileges.
`--plain` runs the programs without oomph, and compares the numbers of their blocks with the real effects.
"""

import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent), str(HERE)]

import documents
import expect
import suite
from judge import GIB, STATUS, WORDS
from parts import world as worlds
from parts.handling import CASES
from parts.world import World

# The word of a verdict by the one in `fit --json`.
FIT_WORDS = {"fits": "fits", "fits-with-plan": "fits with plan", "does-not-fit": "does not fit"}
COUNTS = {"written": "files_written", "removed": "files_removed", "folders_made": "folders_made", "folders_removed": "folders_removed"}
SEEN = "SEEN AS REAL"
# The exit status of a scene that this machine does not allow.
SKIPPED = 77


def main() -> int:
    """Exit status 1 if a program changes the world, or notices that its effects are not real."""
    parser = suite.parser(__doc__)
    parser.add_argument("--plain", action="store_true", help="without oomph, on the CPU: checks the programs and their blocks")
    arguments = parser.parse_args()
    oomph = arguments.oomph.absolute()
    refusal = "" if arguments.plain else worlds.find_refusal(oomph)
    if refusal:
        arguments.words = []
        case = suite.Case(f"no case with the guard `{worlds.GUARD}`", partial(skip, refusal))
        return suite.run(f"effects {worlds.GUARD}", [case], arguments)
    cases = [program_case(oomph, path, arguments.plain) for path in programs()]
    if not arguments.plain:
        cases += [suite.Case(f"handling/{body.__name__}", partial(body, oomph), group="handling") for body in CASES]
        cases += [scene_case(oomph, path) for path in sorted(HERE.glob("scenes/*/*.py")) if not worlds.USER]
    return suite.run(f"effects {worlds.GUARD}", cases, arguments)


def skip(reason: str) -> None:
    """The machine cannot run the guard."""
    raise suite.Skip(reason)


def programs() -> list[Path]:
    """The programs of both halves."""
    found = sorted([*HERE.glob("work/*.py"), *HERE.glob("blind/*.py")])
    return [path for path in found if not path.name.endswith(".setup.py")]


def program_case(oomph: Path, path: Path, is_plain: bool) -> suite.Case:
    """The case of a program."""
    expected = expect.read(path)
    body = partial(check_plain, path) if is_plain else partial(judge, oomph, path)
    memory = expected.get("memory_gib", 2)
    reason = "" if is_plain else find_reason(expected)
    return suite.Case(f"{path.parent.name}/{path.stem}", body, memory=memory, is_long=memory > 2, group="programs", open=reason)


def find_reason(expected: dict) -> str:
    """The reason why a case is known to fail under the guard of this suite; empty for the others."""
    return expected.get("open") or (expected.get("open_functions", "") if worlds.GUARD == "functions" else "")


def scene_case(oomph: Path, path: Path) -> suite.Case:
    """The case of a script that tries to do harm (`scenes/kit.py`)."""
    reason = find_reason(expect.read(path))
    return suite.Case(f"scenes/{path.parent.name}/{path.stem}", partial(play, oomph, path), group="scenes", open=reason)


def play(oomph: Path, path: Path) -> str:
    """Runs a scene under the guard of this suite; returns the last line."""
    guards = expect.read(path)["guards"]
    is_functions = worlds.GUARD == "functions"
    if guards not in ("both", "functions" if is_functions else "namespace") and (guards != "none" or is_functions):
        raise suite.Skip(f"a scene for the guard {guards}")
    wrapper = [sys.executable, HERE / "without_namespaces.py"] if is_functions else []
    words = [sys.executable, path, oomph, sys.executable, *wrapper]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    last = (done.stdout.splitlines() or [done.stderr[-2000:]])[-1]
    if done.returncode == SKIPPED:
        raise suite.Skip(last)
    assert done.returncode == 0, last
    return last


def judge(oomph: Path, path: Path) -> str:
    """Runs oomph on the program in a world of its own; returns the numbers of the report."""
    expected = read(path)
    with World(path) as world:
        before = world.snapshot()
        done = world.run_oomph(oomph, *command(expected), path.name)
        problems = [*world.differences(before), *world.late_differences(before, expected.get("wait", 0))]
        report = documents.parse(done.stdout)
        if not report:
            problems.append(f"no report, status {done.returncode}")
        else:
            problems += answers(expected, report, done)
            problems += numbers(expected, report.get("effects"), world.server)
        assert not problems, "\n".join([*problems, "standard error:", done.stderr[-4000:]])
    effects = report["effects"]
    return f"{report['verdict']}, {effects['guard']}: " + ", ".join(f"{effects[key]} {key}" for key in COUNTS.values())


def read(path: Path) -> dict:
    """The expectations of a program that this machine can run."""
    expected = expect.read(path)
    missing = [name for name in expected.get("needs", ()) if shutil.which(name) is None]
    if missing:
        raise suite.Skip(f"no {', '.join(missing)}")
    return expected


def command(expected: dict) -> list[str]:
    """The words before the program."""
    words = [expected["run"], "--json", "--gpu", "rtx-4090", "--python", sys.executable, "--vram", expected["vram"]]
    return [*words, "--no-cache"] if expected["run"] == "fit" else [*words, "-v", "--steps", "0"]


def answers(expected: dict, report: dict, done: subprocess.CompletedProcess):
    """Wrong verdicts and statuses, and a program that noticed oomph."""
    allowed = expected["verdict"]
    if expected["run"] == "fit":
        if FIT_WORDS[report["verdict"]] not in allowed:
            yield f"verdict {report['verdict']}, expected {allowed}"
        return
    word = WORDS[report["verdict"]]
    if word not in allowed or done.returncode != STATUS[word]:
        yield f"verdict {word} and exit status {done.returncode}, expected {allowed} ({report.get('reason')})"
    is_seen = SEEN in done.stderr.splitlines()
    if is_seen != expected.get("seen", True):
        yield f"the program printed `{SEEN}`: {is_seen}"
    need = (report.get("need") or {}).get("device_bytes", 0)
    if need < expected.get("reaches_gib", 0) * GIB:
        yield f"a need of {need} bytes: the run without a limit did not come to the request"


def numbers(expected: dict, effects: dict | None, server: worlds.Server):
    """Wrong numbers in `effects` of the report, and wrong counts at the server."""
    if "posts" in expected and server.posts > expected["posts"]:
        yield f"{server.posts} posts arrived, expected at most {expected['posts']}"
    if effects is None:
        yield "the report has no `effects`"
        return
    if effects["guard"] != worlds.GUARD:
        yield f"guard {effects['guard']}, expected {worlds.GUARD}"
    for key, name in COUNTS.items():
        if key in expected and effects[name] != expected[key]:
            yield f"{name} {effects[name]}, expected {expected[key]}"
    if "connections" in expected:
        hosts = [host for host in effects["hosts"] if host["port"] == server.port]
        count = sum(host["connections"] for host in hosts)
        if count != expected["connections"] or len(hosts) > 1 or any(host["name"] not in ("127.0.0.1", "localhost") for host in hosts):
            yield f"hosts {effects['hosts']}, expected {expected['connections']} connections to port {server.port}"


def check_plain(path: Path) -> str:
    """Runs the program alone on the CPU, and compares its block with its effects."""
    expected = read(path)
    with World(path) as world:
        before = world.snapshot()
        done = world.run([sys.executable, path.name])
        worlds.wait(expected.get("wait", 0))
        counts = worlds.counts(before, world.snapshot())
        problems = [f"{key} {counts[key]}, stated {expected[key]}" for key in COUNTS if key in expected and counts[key] != expected[key]]
        if (SEEN in done.stdout.splitlines()) != expected.get("seen", True):
            problems.append(f"status {done.returncode}, no `{SEEN}`")
        if "posts" in expected and world.server.posts != expected["posts"]:
            problems.append(f"{world.server.posts} posts, stated {expected['posts']}")
        if "connections" in expected and world.server.connections != expected["connections"]:
            problems.append(f"{world.server.connections} connections, stated {expected['connections']}")
        assert not problems, "\n".join([*problems, f"status {done.returncode}", done.stdout, done.stderr])
    return ", ".join(f"{number} {key}" for key, number in counts.items())


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.umask(0o022)
    sys.exit(main())
