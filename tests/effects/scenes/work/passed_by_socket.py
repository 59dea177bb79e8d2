"""A real second process hands the descriptor of its open log over a Unix socket (SCM_RIGHTS); the dry run's program writes, truncates and
locks through it."""

# /// expect
# commands = "check"
# guards = "both"
# why = "and 5: a dry run changes no file of others, by whatever descriptor; docs/effects.md lists no exception for descriptors that were received. A refused connection is as good"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
import array
step()
def receive():
    s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect("../out/door")
    _, ancillary, _, _ = s.recvmsg(10, socket.CMSG_SPACE(4))
    return array.array("i", ancillary[0][2][:4])[0]
attempt("receive", lambda: globals().update(fd=receive()))
attempt("write", lambda: os.write(fd, b"by the dry run\\n"))
attempt("pwrite", lambda: os.pwrite(fd, b"X", 0))
attempt("truncate", lambda: os.ftruncate(fd, 5))
step(); step()
""")
    second = other("""
import socket, array
log = os.open(sys.argv[1] + "/log", os.O_RDWR | os.O_CREAT)
os.write(log, b"of the second process\\n" * 10)
door = socket.socket(socket.AF_UNIX); os.chdir(sys.argv[1]); door.bind("door"); door.listen(8)
print("ready", flush=True)
while True:
    c, _ = door.accept()
    c.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [log]))])
""", OUT)
    before = (OUT / "log").read_bytes()
    Check().acted("receive", "write", "truncate")
    after = (OUT / "log").read_bytes()
    expect(second.process.poll() is None, "the second process ended")
    expect(after == before, f"the log of the second process: {len(before)} bytes before, {len(after)} after: {after[:40]!r}")


main(scene)
