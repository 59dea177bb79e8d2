"""Under `oomph run` a program replaces os.close by one that counts, closes each descriptor that /proc/self/fd lists but 0 to 2, lowers
RLIMIT_NOFILE to 20 and opens files until none is left; then it maps what it opened."""

# /// expect
# commands = "run"
# guards = "none"
# why = "and \"what bad input gets\": lowers its own RLIMIT_NOFILE under the recorder's number, replaces os.close; it behaves as without oomph, its files have only its own bytes"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
JUNK = """
import os, threading, time
def write():
    while True:
        time.sleep(0.01)
        for n in range(3, 20):
            try: os.write(n, b'{"kind":"step"}\\n')
            except OSError: pass
threading.Thread(target=write, daemon=True).start()
"""
TEXT = """
import resource, mmap
for i in range(3): step()
closed, real = [], os.close
os.close = lambda n: (closed.append(n), real(n))[1]
mine = []
if "close" in sys.argv:
    for n in sorted(int(n) for n in os.listdir("/proc/self/fd")):
        try:
            if n > 2: real(n)
        except OSError: pass
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
while True:
    try: mine.append(os.open(f"own{len(mine)}", os.O_RDWR | os.O_CREAT))
    except OSError as error:
        say("NUMBER", error.errno); break
for f in mine: os.write(f, b"mine" * 1024)
for f in mine[-6:]: real(f)
mine = mine[:-6]
maps = [mmap.mmap(f, 4096) for f in mine[:3]] if mine else []
for i in range(60): step(); time.sleep(0.02)
say("OPENED", len(mine), "AFTER", [len(m[:]) for m in maps], "CALLED", closed)
os.close = real
for f in mine: os.close(f)
for i in range(3): step()
say("END")
"""

def scene():
    program(TEXT)
    (OUT / "sitecustomize.py").write_text(JUNK)
    for way in ("close", "keep"):
        bare = Run(bare=True, command=[PYTHON, "train.py", way])
        expect(bare.end() == 0 and "END" in bare.text(1), f"void: without oomph {way}: {bare.text()[-300:]}")
        for f in WORK.glob("own*"):
            f.unlink()
        run = Run(command=[PYTHON, "train.py", way], control=["env", f"PYTHONPATH={OUT}"])
        status = run.end()
        expect(status == 0 and "END" in run.text(1), f"{way}: exit status {status}: {run.text()[-300:]}")
        files = sorted(WORK.glob("own*"))
        expect(way != "close" or len(files) >= 10, f"void: {len(files)} files: {run.text()[-300:]}")
        bad = {f.name: f.read_bytes()[:60] for f in files if f.read_bytes() != b"mine" * 1024}
        expect(not bad, f"{way}: {len(bad)} of {len(files)} own files hold what the program did not write: {dict(list(bad.items())[:3])}")
        expect("CALLED []" in run.text(1), f"{way}: oomph called the program's own os.close: {run.text(1)[-200:]}")
        for f in files:
            f.unlink()


main(scene)
