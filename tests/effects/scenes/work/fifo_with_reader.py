"""The dry run's program writes commands to a FIFO that a real process reads, in its own folder and by a relative path, and removes another
FIFO."""

# /// expect
# commands = "check"
# guards = "both"
# why = "\"a dry run reaches other processes\", which cannot be undone; docs/effects.md has nobody at the other end outside the current folder, the home and the temporary folder. Inside them it counts as held only if the report's line says so"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    for name in ("commands", "second"):
        os.mkfifo(WORK / name)
    second = other("""
f = os.open(sys.argv[1] + "/commands", os.O_RDWR)
print("ready", flush=True)
while True: print("GOT", os.read(f, 100), flush=True)
""", WORK)
    program("""
step()
def send():
    f = os.open("commands", os.O_WRONLY | os.O_NONBLOCK); return os.write(f, b"shutdown\\n")
attempt("send", send)
attempt("shell", lambda: os.system("timeout 5 sh -c 'echo shutdown > ./commands'"))
attempt("remove", lambda: os.remove("second"))
step(); step()
""")
    look = Check().acted("send", "shell", "remove")
    time.sleep(0.5)
    got = [l for l in second.text().splitlines() if l.startswith("GOT")]
    expect((WORK / "second").exists(), "the second FIFO is gone")
    expect(not got or look.said("fifo", "named pipe"), f"the reader got {len(got)} messages, and the report does not say so: {got}")


main(scene)
