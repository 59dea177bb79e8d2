"""A folder that the shell opened (descriptor 9) and standard input as a file opened for reading and writing are inherited; the program
unlinks, renames and makes files by the folder's descriptor and writes to standard input."""

# /// expect
# commands = "check"
# guards = "both"
# why = "inherited descriptors are closed or opened again inside the guard; `check` undoes what the program does to files"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
step()
attempt("unlink", lambda: os.unlink("victim", dir_fd=9))
attempt("rename", lambda: os.rename("second", "third", src_dir_fd=9, dst_dir_fd=9))
attempt("make", lambda: os.write(os.open("made", os.O_WRONLY | os.O_CREAT, dir_fd=9), b"made"))
attempt("fchdir", lambda: (os.fchdir(9), open("by fchdir", "w").write("x")))
attempt("stdin", lambda: (os.pwrite(0, b"XXXX", 0), os.ftruncate(0, 5)))
step(); step()
""")
    folder = HOME / "data"
    folder.mkdir()
    for name in ("victim", "second"):
        (folder / name).write_text(name * 10)
    (HOME / "input").write_text("line of input\n" * 9)
    before = snapshot(HOME, WORK)

    def inherit():
        os.dup2(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), 9)

    with open(HOME / "input", "r+b", buffering=0) as file:
        Check(preexec_fn=inherit, close_fds=False, stdin=file).acted("unlink", "rename", "make", "stdin")
    unchanged(before, HOME, WORK)


main(scene)
