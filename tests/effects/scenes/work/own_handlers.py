"""Signals as the program sees them under `oomph run` and without: SigBlk, SigIgn and SigCgt of /proc/self/status before torch, after it and
after steps; its own handlers for USR1, USR2, SIGRTMIN, PROF and ALRM each run once."""

# /// expect
# commands = "run"
# guards = "none"
# why = 'and the smaller ones: `oomph run` starts a program "with signals 32 and 33 ignored"; docs/run.md: signals reach it, nothing of it is replaced'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
MASKS = """
def masks(where):
    lines = [l.split() for l in open("/proc/self/status") if l.startswith(("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd"))]
    print("MASKS", where, lines, flush=True)
"""

def scene():
    (WORK / "train.py").write_text(MASKS + "masks('first')\n" + STEPS + """
masks("torch")
step(); masks("step")
counts = {}
def count(number, frame): counts[number] = counts.get(number, 0) + 1
for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN, signal.SIGRTMIN + 5, signal.SIGPROF, signal.SIGALRM, signal.SIGCHLD, signal.SIGURG):
    signal.signal(s, count)
    if s != signal.SIGCHLD: os.kill(os.getpid(), s)
os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
for i in range(20): step(); time.sleep(0.05)
masks("own")
print("COUNTS", sorted(counts.items()), flush=True)
""")
    bare = Run(bare=True)
    expect(bare.end() == 0, f"void: {bare.text()[-300:]}")
    run = Run(control=["sh", "-c", 'trap "" USR1; exec "$@"', "sh"])
    expect(run.end() == 0, f"{run.text()[-300:]}")
    a, b = bare.text(1).splitlines(), run.text(1).splitlines()
    expect(len(a) == 5, f"void: {a}")
    wrong = [f"without {x[:330]} with {y[:330]}" for x, y in zip(a, b) if x != y]
    expect(len(a) == len(b) and not wrong, f"{len(wrong)} of 5 lines differ: {' | '.join(wrong)[:700]}")


main(scene)
