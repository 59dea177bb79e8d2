"""The launcher's variables, and the rank of this process."""

import os
import sys
from dataclasses import dataclass

from .. import wire
from ..failure import say


@dataclass(frozen=True)
class Environment:
    """The variables, read once."""

    run_dir: str
    rank: int
    local_rank: int
    world_size: int
    # Stop after so many optimizer steps; 0 = run to the end.
    steps: int
    # The most steps after those; see `position.course`.
    more_steps: int
    # True to visit the whole life of the job: loops are shortened, and the program ends by itself.
    life: bool
    # The share of elements that a value-dependent shape is assumed to select.
    fraction: float
    # True to record the allocator's history; False for its counters only.
    history: bool
    # True to count operators, for an estimate of time.
    work: bool
    # True for the process that the launcher started (or the first descendant that uses torch).
    is_first: bool
    # The folder of the script.
    script_dir: str
    # True if changes of files are undone after the run.
    has_file_guard: bool = False


def read() -> Environment:
    """Reads the environment of a dry run; the first process also sets `OOMPH_AGENT_PID`."""
    is_first = os.environ.setdefault(wire.AGENT_PID, str(os.getpid())) == str(os.getpid())
    return read_in(os.environ[wire.RUN_DIR], is_first)


def read_in(run_dir: str, is_first: bool = True) -> Environment:
    """Reads the environment, and changes nothing there: in a real run it is the program's."""
    return Environment(
        run_dir=run_dir,
        # Lightning sets only the local rank in the processes that it starts.
        rank=_number("RANK", _number("LOCAL_RANK", 0)),
        local_rank=_number("LOCAL_RANK", 0),
        world_size=_number("WORLD_SIZE", 1),
        steps=_number(wire.STEPS, 0),
        more_steps=_number(wire.MORE_STEPS, 0),
        life=os.environ.get(wire.LIFE) == "1",
        fraction=_number(wire.FRACTION, 0.5),
        history=os.environ.get(wire.HISTORY) != "0",
        work=os.environ.get(wire.WORK) == "1",
        is_first=is_first,
        script_dir=_script_dir(),
        has_file_guard=wire.GUARD in os.environ,
    )


def _number(name: str, default):
    text = os.environ.get(name)
    if text is None:
        return default
    try:
        return type(default)(text)
    except ValueError:
        say(f"{name} is {text!r}, expected a number; taking {default}")
        return default


def _script_dir() -> str:
    script = getattr(sys.modules.get("__main__"), "__file__", None) or sys.argv[0]
    return os.path.dirname(os.path.abspath(script))
