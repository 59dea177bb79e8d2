"""What a program can see of itself before it imports torch and after (sys.modules, environment, argv, path, cwd, umask, limits, nice,
affinity, oom_score_adj, threads, mappings of files, dumpable, parent's death signal), under `oomph run` and without."""

# /// expect
# commands = "run"
# guards = "none"
# why = 'docs/run.md: "The program runs as it would without oomph"; the list of harms: "90 modules more (nothing is to be imported before torch is)"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
STATE = """
import sys
first = sorted(sys.modules)
import os, resource, ctypes, json
def state(where):
    libc = ctypes.CDLL(None)
    signal_of_parent = ctypes.c_int(); libc.prctl(2, ctypes.byref(signal_of_parent), 0, 0, 0)
    mask = os.umask(0); os.umask(mask)
    lines = dict(l.split(":", 1) for l in open("/proc/self/status"))
    facts = dict(
        environment={k: v for k, v in os.environ.items()}, argv=sys.argv, orig_argv=sys.orig_argv, path=[p for p in sys.path if "oomph" not in p], cwd=os.getcwd(), umask=mask,
        limits=[resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")], nice=os.nice(0), affinity=sorted(os.sched_getaffinity(0)),
        score=open("/proc/self/oom_score_adj").read(), threads=lines["Threads"].strip(), dumpable=libc.prctl(3, 0, 0, 0, 0), death=signal_of_parent.value,
        traced=lines["TracerPid"].strip(), seccomp=lines["Seccomp"].strip(), privileges=lines["NoNewPrivs"].strip(),
        executable=sys.executable, flags=str(sys.flags), hooks=[h.__qualname__ for h in sys.path_hooks], excepthook=repr(sys.excepthook), tty=os.isatty(0), name=open("/proc/self/comm").read(), personality=libc.personality(0xffffffff), subreaper=libc.prctl(37, 0, 0, 0, 0) and 0)
    print("STATE", where, json.dumps(facts), flush=True)
print("MODULES", json.dumps(first), flush=True)
state("first")
"""


def scene():
    (WORK / "train.py").write_text(STATE + STEPS + "step(); step(); state('torch')\n")
    (WORK / "plain.py").write_text(STATE)
    bad = []
    for script in ("plain.py", "train.py"):
        runs = []
        for bare in (True, False):
            run = Run(script, bare=bare, control=["env", "MORE=1", "sh", "-c", 'umask 077; exec "$@"', "sh"])
            expect(run.end() == 0, f"{script}: {run.text()[-300:]}")
            runs.append(run.text(1).splitlines())
        expect(len(runs[0]) >= 2, f"void: {runs[0]}")
        for a, b in zip(*runs):
            if a.startswith("MODULES"):
                # the one module that oomph's own start needs is not counted
                a, b = ({m for m in json.loads(x.split(" ", 1)[1]) if "oomph" not in m and m != "sitecustomize"} for x in (a, b))
                if a != b:
                    bad.append(f"{script}: {len(b - a)} modules more before torch: {sorted(b - a)[:8]}, {len(a - b)} fewer")
                continue
            where = a.split()[1]
            a, b = (json.loads(x.split(" ", 2)[2]) for x in (a, b))
            for k in a:
                if k == "environment":
                    # what oomph tells its own part is its own business, if it is named after it
                    wrong = {n: (a[k].get(n), b[k].get(n)) for n in a[k].keys() | b[k].keys() if a[k].get(n) != b[k].get(n) and not n.startswith(("OOMPH", "PYTHONPATH", "LD_PRELOAD", "_"))}
                    wrong and bad.append(f"{script} {where}: environment {str(wrong)[:200]}")
                elif a[k] != b[k]:
                    bad.append(f"{script} {where}: {k} {str(a[k])[:120]} -> {str(b[k])[:120]}")
    expect(not bad, f"{len(bad)} differences: {'; '.join(bad)[:900]}")


main(scene)
