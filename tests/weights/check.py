"""Ways to load weights: a dry run without the weights has the figures of the same run with real files of zeros.

    python tests/weights/check.py --oomph target/debug/oomph [--half work|blind] [--real] [WORD ...]

README.md says what the constants of a program mean. `--real` runs the programs with real files alone, and so checks the programs.
"""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent), str(HERE)]

import documents
import hub_served
import libraries
import suite
import worlds

OFFLINE = ("--offline",)
HALVES = "work", "blind"
# Modules with more cases.
MORE = "hub", "configured", "addresses", "texts"
# A program loads in up to four ways, with real files too: up to a minute.
SHARE = 0.05
CONSTANTS = "FORMS", "WEIGHTS", "REPOSITORY", "NEEDS"
FIGURES = "allocated", "peak", "reserved"
PEAK = "allocated_bytes", "reserved_bytes", "device_bytes"
# The largest share of the weights that may be fetched from a server: headers, and small files whole.
FETCHED_SHARE = 0.1
# The host's peak may be so much above the peak with the real files.
HOST_BYTES = 256 << 20


def main() -> int:
    """Exit status 1 if a way has other figures without its weights."""
    parser = suite.parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half [default: both, and the cases of other modules]")
    parser.add_argument("--real", action="store_true", help="only with the real files")
    arguments = parser.parse_args()
    oomph = arguments.oomph.absolute()
    programs = [path for half in HALVES for path in sorted(HERE.glob(f"{half}/*.py")) if arguments.half in (None, half)]
    cases = [case_of(oomph, path, arguments.real) for path in programs]
    if arguments.half is None and not arguments.real:
        cases += [case for name in MORE for case in list_more(name, oomph)]
    return suite.run("weights", cases, arguments)


def list_more(name: str, oomph: Path) -> Iterator[suite.Case]:
    """The cases of a module of this folder."""
    for case in importlib.import_module(name).list_cases(oomph):
        yield replace(case, name=f"{name}/{case.name}", group=name, share=SHARE)


@dataclass(frozen=True)
class Way:
    """The constants of a program."""

    path: Path
    forms: tuple[str, ...]
    weights: tuple[str, ...]
    repository: str
    needs: tuple[str, ...]


def case_of(oomph: Path, path: Path, is_real: bool) -> suite.Case:
    """The case of a program."""
    way = read(path)
    return suite.Case(f"{path.parent.name}/{path.stem}", partial(judge, oomph, way, is_real), memory=4, group="" if is_real else "programs", share=SHARE)


def read(path: Path) -> Way:
    """Reads the constants without an import of the program."""
    found = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        name = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        if name in CONSTANTS:
            found[name] = ast.literal_eval(statement.value)
    unknown = set(found["FORMS"]) - set(FORMS)
    assert found["FORMS"] and not unknown, f"{path}: FORMS has {unknown or 'nothing'}, expected some of {', '.join(FORMS)}"
    return Way(path, found["FORMS"], found["WEIGHTS"], found.get("REPOSITORY", "corpus/model"), found.get("NEEDS", ()))


@dataclass(frozen=True)
class Seen:
    """A run that came to its verdict."""

    verdict: str
    # Of the report.
    peak: dict[str, int]
    # The printed figures, in order.
    figures: list[tuple[str, int]]
    host_bytes: int
    seconds: float


def see(done: subprocess.CompletedProcess) -> Seen:
    """The verdict and figures of a run, which must end with a verdict."""
    report = documents.parse(done.stdout)
    assert done.returncode in (0, 1) and report.get("peak"), describe(done)
    printed = [(name, int(number)) for name, number in re.findall(r"^(\w+) (\d+)$", done.stderr, re.MULTILINE)]
    figures = [pair for pair in printed if pair[0] in FIGURES]
    assert len(figures) >= len(FIGURES), f"no figures were printed\n{describe(done)}"
    peak = {name: report["peak"][name] for name in PEAK}
    host = max(number for name, number in printed if name == "host")
    return Seen(report["verdict"], peak, figures, host, report["seconds"])


def describe(done: subprocess.CompletedProcess) -> str:
    """The exit status and the output."""
    return f"exit status {done.returncode}\n{done.stdout[-1500:]}\nstandard error:\n{done.stderr[-3500:]}"


def judge(oomph: Path, way: Way, is_real: bool) -> str:
    """Compares each form with the real files; returns the seconds of all."""
    libraries.require(*way.needs)
    with worlds.enter(way.path, way.weights, way.repository) as world:
        real = run_real(oomph, way, world)
        assert real.verdict.startswith("fits"), f"with real files the verdict is {real.verdict}"
        times = [f"real {real.seconds:.1f} s"]
        if is_real:
            return f"{times[0]}, peak {real.peak['allocated_bytes'] >> 10} KiB"
        world.remove_weights()
        problems = []
        for form in way.forms:
            world.empty_home()
            try:
                times.append(f"{form} {FORMS[form](oomph, way, world, real):.1f} s")
            except AssertionError as failure:
                problems.append(f"{form}: {failure}")
        assert not problems, "\n".join(problems)
        return ", ".join(times)


def run_real(oomph: Path, way: Way, world: worlds.World) -> Seen:
    """The run with the real files, in the place that the first form leaves empty."""
    first = way.forms[0]
    if first in ("folder", "absent"):
        return see(world.check(oomph, OFFLINE, str(world.source)))
    if first in ("hub", "cache"):
        world.fill_hub_cache(with_weights=True)
        return see(world.check(oomph, OFFLINE, way.repository, HF_HUB_OFFLINE="1"))
    world.fill_torch_cache()
    # Nothing is asked at this address.
    return see(world.check(oomph, OFFLINE, f"http://127.0.0.1:9/files/{name_of(world)}"))


def name_of(world: worlds.World) -> str:
    """The file of a way that loads one file."""
    (path,) = world.weight_paths(world.served)
    return str(path.relative_to(world.served))


def run_folder(oomph: Path, way: Way, world: worlds.World, real: Seen) -> float:
    """A folder with all but the weights."""
    return compare(real, see(world.check(oomph, OFFLINE, str(world.source))), world)


def run_hub(oomph: Path, way: Way, world: worlds.World, real: Seen) -> float:
    """A name on the hub, with an empty cache."""
    with hub_served.serve(world.folder / "hub") as served:
        seconds = compare(real, see(world.check(oomph, (), way.repository, served.endpoint)), world)
    check_fetched(served, world)
    return seconds


def run_cache(oomph: Path, way: Way, world: worlds.World, real: Seen) -> float:
    """A name whose cached files are all but the weights, without a network."""
    world.fill_hub_cache(with_weights=False)
    return compare(real, see(world.check(oomph, OFFLINE, way.repository)), world)


def run_address(oomph: Path, way: Way, world: worlds.World, real: Seen) -> float:
    """An address of a file, with an empty cache."""
    with hub_served.serve(world.folder / "hub") as served:
        address = f"{served.endpoint}/files/{name_of(world)}"
        seconds = compare(real, see(world.check(oomph, (), address)), world)
    check_fetched(served, world)
    return seconds


def run_closed(oomph: Path, way: Way, world: worlds.World, real: Seen) -> float:
    """The weights of a library by name, with an empty cache and without a network."""
    return compare(real, see(world.check(oomph, OFFLINE, "http://127.0.0.1:9/")), world)


def run_absent(oomph: Path, way: Way, world: worlds.World, real: Seen) -> float:
    """A file that the program itself opens: an error that names the file."""
    done = world.check(oomph, OFFLINE, str(world.source))
    (path,) = world.weight_paths(world.served)
    assert done.returncode == 2, f"expected status 2\n{describe(done)}"
    # The message of oomph comes last; the program's own traceback is above.
    message = done.stderr[done.stderr.rfind("\nerror") :]
    assert path.name in message, f"expected an error that names {path.name}\n{describe(done)}"
    return real.seconds


FORMS = {"folder": run_folder, "hub": run_hub, "cache": run_cache, "address": run_address, "closed": run_closed, "absent": run_absent}


def compare(real: Seen, seen: Seen, world: worlds.World) -> float:
    """Fails for each figure that is not as with the real files; returns the seconds."""
    problems = list(differences(real, seen))
    problems += [f"{path.relative_to(world.home)} lies in a cache" for path in world.cached_weights()]
    assert not problems, "\n  ".join(["", *problems])
    return seen.seconds


def differences(real: Seen, seen: Seen) -> Iterator[str]:
    """Each figure that is not as with the real files."""
    if seen.verdict != real.verdict:
        yield f"verdict {seen.verdict}, expected {real.verdict}"
    if seen.peak != real.peak:
        yield f"peak {seen.peak}, expected {real.peak}"
    if seen.figures != real.figures:
        yield f"printed {seen.figures}, expected {real.figures}"
    if seen.host_bytes > real.host_bytes + HOST_BYTES:
        yield f"{seen.host_bytes} bytes of host memory, {real.host_bytes} with the real files"


def check_fetched(served: hub_served.Served, world: worlds.World) -> None:
    """Fails if more than headers of the weights was fetched."""
    names = {path.name for path in world.weight_paths(world.served)}
    sent = sum(count for name, count in served.sent_bytes.items() if name.rpartition("/")[2] in names)
    most = int(world.weight_bytes() * FETCHED_SHARE)
    assert sent <= most, f"{sent} bytes of the weights were fetched, at most {most}: {served.requests[-20:]}"


if __name__ == "__main__":
    sys.exit(main())
