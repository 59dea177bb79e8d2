"""The descriptors that a program gets from open, socket, dup and pipe, before and after torch and its first steps, are the lowest free ones,
with `oomph run` as without."""

# /// expect
# commands = "run"
# guards = "none"
# why = "POSIX open(2): the lowest-numbered descriptor not open; daemons rely on it (close(0), open). docs/run.md: the program runs as it would without oomph"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
TEXT = """
def numbers(where):
    opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)] + [os.dup(0), *os.pipe()]
    s = socket.socket(); opened.append(s.fileno())
    low = [n for n in opened if n < 64]
    print("NUMBERS", where, low, flush=True)
    for n in opened[:-1]: os.close(n)
    s.close()
"""

def scene():
    (WORK / "train.py").write_text("import os, socket\n" + TEXT + "numbers('first')\n" + STEPS + """
numbers("torch")
for i in range(5): step()
numbers("steps")
os.close(0)
print("NUMBERS zero", os.open("/dev/null", os.O_RDONLY), flush=True)
time.sleep(0.6); step()
numbers("late")
""")
    bare, run = Run(bare=True), None
    expect(bare.end() == 0, f"void: {bare.text()[-300:]}")
    run = Run(control=["sh", "-c", 'exec 3</dev/null; exec "$@"', "sh"])
    status = run.end()
    expect(status == 0, f"exit status {status}: {run.text()[-300:]}")
    of = lambda it: [l for l in it.text(1).splitlines() if l.startswith("NUMBERS")]
    expect(len(of(bare)) == 5, f"void: {bare.text()}")
    expect(of(bare) == of(run), f"without oomph {of(bare)}, with it {of(run)}")


main(scene)
