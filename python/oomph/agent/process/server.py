"""The fork server: an interpreter that has imported the program's packages, and forks a child for every run of the program.

Note [Fork server]
~~~~~~~~~~~~~~~~~~
Most of a dry run's time is the import of PyTorch and of the program's packages. `serve` runs inside `sitecustomize`, before Python has
opened the script: it imports, then waits. For every request it forks. The child returns from `serve`, and Python then starts the program as
usual: the same `__main__`, arguments and path as without a server. The parent never returns.

Requests come on standard input, answers go to standard output, one JSON object a line:

    {"id": 1, "env": {"OOMPH_RUN_DIR": "/…", …}, "unset": ["OOMPH_SERVE", …], "output": "/…/output.log", "command": null}
                                                                                 a request; `env` is set in the child, `unset` removed;
                                                                                 `command` is another command line of the same script
    {"kind": "ready"}                                                            once, when everything is imported
    {"kind": "started", "id": 1, "pid": 71}                                      the child was started
    {"kind": "ended", "id": 1, "status": 0}                                      it has ended, as `waitpid` says

Only installed packages are imported, never modules beside the script: those are code of the program, which may use CUDA. A process that has
used CUDA cannot be forked, and some packages use CUDA at import (torchao asks for the device's capability). So the server is itself a
child: if an import uses CUDA, the server ends with the names of its imports so far, and a second server imports only these. Any other use
of CUDA shows in the child, which reports `wire.CANNOT`: the program has to be started plainly.
"""

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Callable

from .. import hooks, wire
from . import files

# True in each child of the server.
is_child = False

# Names of modules, with the names that the program imports from each.
Modules = dict[str, tuple[str, ...]]

# Modules that PyTorch itself imports late, at an optimizer's first step: half of a small program's time.
_LATE = ("torch._dynamo", "torch.utils.checkpoint")
# PyTorch then asks NVML how many devices there are, which leaves CUDA alone (torch/cuda/__init__.py).
# The layer of `_end_at_cuda`, while there is one.
_end_layers: list = []
_NVML_CHECK = "PYTORCH_NVML_BASED_CUDA_CHECK"
# Answers of the phantom: the child has a file system of its own, or only lost the reach to other processes.
_LAYERS, _CONFINED = 1, 2


def serve(list_imports: Callable[[str], Modules], prepare: Callable[[], None]) -> None:
    """Imports what `list_imports` finds in the script, prepares, then answers requests; returns in every child, to run the program."""
    answers = os.dup(1)
    # The output of imports must not be taken for an answer.
    os.dup2(2, 1)
    with _counting_by_nvml():
        script = _script()
        _import_without_cuda(list_imports(script) if script else {})
    prepare()
    _say(answers, {"kind": "ready"})
    children: dict[int, int] = {}
    for request in _requests(children, answers):
        pid = os.fork()
        if pid == 0:
            os.close(answers)
            return _become(request)
        children[pid] = request["id"]
        _say(answers, {"kind": "started", "id": request["id"], "pid": pid})
    os._exit(0)


def _requests(children: dict[int, int], answers: int):
    """Every request in turn; meanwhile says which children have ended. Ends with standard input."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    before = signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    text = b""
    while True:
        readable, _, _ = select.select([0, wake], [], [])
        if wake in readable:
            os.read(wake, 4096)
            _reap(children, answers)
        if 0 not in readable:
            continue
        more = os.read(0, 1 << 16)
        if not more:
            return
        *lines, text = (text + more).split(b"\n")
        for line in lines:
            # A child starts with the state before the server.
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, before)
            yield json.loads(line)
            signal.signal(signal.SIGCHLD, lambda *_: None)
            signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
            _reap(children, answers)


def _reap(children: dict[int, int], answers: int) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        if pid in children:
            _say(answers, {"kind": "ended", "id": children.pop(pid), "status": os.waitstatus_to_exitcode(status)})


def _say(answers: int, answer: dict) -> None:
    os.write(answers, json.dumps(answer).encode() + b"\n")


def _become(request: dict) -> None:
    """Makes this child the process of the program."""
    global is_child
    is_child = True
    os.setpgid(0, 0)
    for name in request["unset"]:
        os.environ.pop(name, None)
    os.environ.update(request["env"])
    _take_arguments(request.get("command"))
    if wire.FILES in request["env"]:
        files.go_on(request["env"][wire.FILES])
    _enter_world()
    nothing = os.open(os.devnull, os.O_RDONLY)
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, number in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, number)
    os.close(nothing)
    os.close(output)
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda._is_in_bad_fork():
        os._exit(wire.CANNOT)


def _take_arguments(command: list[str] | None) -> None:
    """Sets the arguments of another command line, which differs from this process's behind the script alone."""
    if command is not None:
        before = len(sys.orig_argv) - (len(sys.argv) - 1)
        # The kernel has put the interpreter before an entry point, which stands first in its command line.
        is_entry_point = os.path.basename(command[0]) == os.path.basename(sys.orig_argv[before - 1])
        arguments = command[1 if is_entry_point else before :]
        sys.argv[1:] = arguments
        sys.orig_argv[:] = [*sys.orig_argv[:before], *arguments]


def _enter_world() -> None:
    """Moves this child, which has a single thread, into its world (Note [World] in crates/world/src/lib.rs); without layers its changes are journaled."""
    spec, journal = os.environ.pop(wire.WORLD, None), os.environ.get(wire.UNDO)
    if spec is None:
        return
    library = ctypes.CDLL(None)
    library.oomph_enter_world.argtypes = library.oomph_guard_changes.argtypes = [ctypes.c_char_p]
    entered = library.oomph_enter_world(os.fsencode(spec))
    if entered == _LAYERS:
        os.environ[wire.GUARD] = "namespace"
    is_journaled = journal is None or library.oomph_guard_changes(os.fsencode(journal)) == 0
    if entered not in (_LAYERS, _CONFINED) or not is_journaled:
        os._exit(wire.CANNOT)


def _script() -> str | None:
    """The script on the command line; `None` for `python -m` and `-c`."""
    words = sys.orig_argv[1:]
    while words and words[0].startswith("-"):
        if words[0] in ("-m", "-c"):
            return None
        words = words[2:] if words[0] in ("-X", "-W") else words[1:]
    return words[0] if words else None


@contextlib.contextmanager
def _counting_by_nvml():
    kept = os.environ.get(_NVML_CHECK)
    os.environ[_NVML_CHECK] = "1"
    yield
    del os.environ[_NVML_CHECK]
    if kept is not None:
        os.environ[_NVML_CHECK] = kept


def _import_without_cuda(named: Modules) -> None:
    """Imports in a child, which continues as the server."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _end_at_cuda(write)
        _import_all(named)
        _end_at_cuda(None)
        os.close(write)
        return
    os.close(write)
    names = _end_with(pid, read)
    if pid := os.fork():
        _end_with(pid, None)
    _import_names(names)


def _end_with(pid: int, read: int | None) -> list[str]:
    """Ends with the exit status of the server `pid`; returns only if the server's imports used CUDA, with the names imported before."""
    text = b""
    if read is not None:
        with os.fdopen(read, "rb") as file:
            text = file.read()
    _, status = os.waitpid(pid, 0)
    if not text:
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    return json.loads(text)


def _end_at_cuda(write: int | None) -> None:
    """Has the process write what is imported and end when CUDA is about to be initialised; with `None` no longer."""
    if write is None:
        hooks.without("torch.cuda:_lazy_init", _end_layers.pop())
        return

    def end(initialise) -> None:
        if not sys.modules["torch.cuda"].is_initialized():
            os.write(write, json.dumps(_whole_modules()).encode())
            os._exit(0)
        initialise()

    _end_layers.append(end)
    hooks.around("torch.cuda:_lazy_init", end)


def _whole_modules() -> list[str]:
    """The completely imported modules with completely imported packages, in order of import."""
    whole: dict[str, None] = {}
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        package = name.rpartition(".")[0]
        if spec is not None and not getattr(spec, "_initializing", False) and (not package or package in whole):
            whole[name] = None
    return list(whole)


def _import_names(names: list[str]) -> None:
    """Imports modules. The program raises the error of a module that cannot be imported."""
    for name in names:
        with contextlib.suppress(Exception, SystemExit):
            importlib.import_module(name)


def _import_all(named: Modules) -> None:
    """Imports PyTorch and the named modules."""
    for name, attributes in {"torch": (), **dict.fromkeys(_LATE, ()), **named}.items():
        with contextlib.suppress(Exception, SystemExit):
            # Some packages are lazy: the attribute is what imports.
            module = importlib.import_module(name)
            for attribute in attributes:
                getattr(module, attribute, None)
