"""Becomes the program of a job of `forks.py`, with its arguments, folder, output and `__main__`."""

import json
import os
import sys
import types

# The fork server imports the packages that its script imports.
import torch  # noqa: F401
import torch.utils.data  # noqa: F401


def become(job: dict) -> types.ModuleType:
    """Turns this process into the program's, up to its first statement."""
    program = job["program"]
    os.chdir(job["folder"])
    for number, name in ((1, job["stdout"]), (2, job["stderr"])):
        output = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(output, number)
        os.close(output)
    sys.argv[:] = [program, *job["arguments"]]
    sys.path[0] = os.path.dirname(program)
    main = types.ModuleType("__main__")
    main.__file__ = program
    sys.modules["__main__"] = main
    return main


_main = become(json.loads(os.environ.pop("TESTS_FORKED_JOB")))
with open(_main.__file__, encoding="utf-8") as _file:
    _code = compile(_file.read(), _main.__file__, "exec")
exec(_code, _main.__dict__)
