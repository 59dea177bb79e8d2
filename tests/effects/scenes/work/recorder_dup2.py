"""Under `oomph run` a program puts a file of its own over every descriptor from 3 to 1023 with dup2, trains on, closes them, opens 300 others
and trains on."""

# /// expect
# commands = "run"
# guards = "none"
# why = "whatever we hold in the program's process can be taken from us; its own files have only its own bytes"
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
        for n in (3, 4, 5, 6, 10, 100):
            try: os.write(n, b'{"kind":"step"}\\n')
            except OSError: pass
threading.Thread(target=write, daemon=True).start()
"""

def scene():
    program("""
step()
own = os.open("own", os.O_RDWR | os.O_CREAT | os.O_APPEND)
for n in range(3, 1024):
    if n != own: os.dup2(own, n)
os.write(own, b"mine")
for i in range(60): step(); time.sleep(0.02)
os.closerange(3, 1024)
files = [os.open(f"own{i}", os.O_RDWR | os.O_CREAT) for i in range(300)]
for f in files: os.write(f, b"mine")
for i in range(60): step(); time.sleep(0.02)
say("END")
""")
    (OUT / "sitecustomize.py").write_text(JUNK)
    run = Run(control=["env", f"PYTHONPATH={OUT}"])
    status = run.end()
    expect(status == 0 and "END" in run.text(1), f"exit status {status}: {run.text()[-300:]}")
    bad = {f.name: f.read_bytes()[:60] for f in sorted(WORK.glob("own*")) if f.read_bytes() != b"mine"}
    expect(not bad, f"{len(bad)} of 301 own files hold what the program did not write: {dict(list(bad.items())[:3])}")


main(scene)
