"""Runs on the phantom's GPUs: starts programs and commands as it is asked, a request and an answer in each line of JSON.

The end of the input ends all programs.
"""

import json
import os
import subprocess
import sys

PHANTOM = ("LD_PRELOAD", "LD_LIBRARY_PATH", "OOMPH_", "CUDA_")


def main() -> None:
    """Answers until the input ends."""
    programs: list[subprocess.Popen] = []
    try:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), programs)), flush=True)
    finally:
        for program in programs:
            program.kill()
        for program in programs:
            program.wait()


def answer(request: dict, programs: list[subprocess.Popen]) -> dict:
    """Does as asked."""
    if "start" in request:
        program = subprocess.Popen(request["start"], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        programs.append(program)
        # The program says when it holds its memory, and its own number: `oomph run` is in front of some.
        ready = program.stdout.readline().split()
        return {"pid": int(ready[1])} if ready[:1] == ["ready"] else {"error": f"{request['start']} ended"}
    if "run" in request:
        done = subprocess.run(request["run"], capture_output=True, text=True, env={**os.environ, **request["environment"]})
        return {"status": done.returncode, "output": done.stdout, "errors": done.stderr}
    return {"environment": {name: value for name, value in os.environ.items() if name.startswith(PHANTOM)}}


main()
