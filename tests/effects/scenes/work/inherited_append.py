"""A log that the shell opened for appending at descriptor 3 (and the same at 17 for reading and writing) is inherited by the dry run, and its
program writes there."""

# /// expect
# commands = "check"
# guards = "both"
# why = "`oomph check train.py 3>>log` and a write to 3 changes the file; what is not 0 to 2 is closed, or opened again inside the guard"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
step()
attempt("write 3", lambda: os.write(3, b"of the dry run\\n"))
attempt("pwrite 17", lambda: os.pwrite(17, b"XXXX", 0))
attempt("truncate 17", lambda: os.ftruncate(17, 3))
attempt("reopen 3", lambda: open("/proc/self/fd/3", "ab").write(b"again\\n"))
step(); step()
""")
    (HOME / "log").write_text("of a real run\n" * 20)
    (HOME / "table").write_text("of a real run\n" * 20)
    before = snapshot(HOME, WORK)

    def inherit():
        log = os.open(HOME / "log", os.O_WRONLY | os.O_APPEND)
        table = os.open(HOME / "table", os.O_RDWR)
        os.dup2(table, 17)
        os.dup2(log, 3)

    Check(preexec_fn=inherit, close_fds=False).acted("write 3", "truncate 17", "reopen 3")
    unchanged(before, HOME, WORK)


main(scene)
