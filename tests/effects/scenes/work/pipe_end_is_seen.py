"""A pipe is handed to the program at descriptor 7 (as make's jobserver and supervisors do); the program says one line, closes it and goes on:
the reader sees the end then and not at the end of `oomph run`; standard output likewise."""

# /// expect
# commands = "run"
# guards = "none"
# why = "pipe(7): end of file when all write ends are closed. Under oomph run nobody but the program may hold the program's descriptors; without oomph the reader sees the end while the program waits"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
step(); step()
os.write(7, b"a line\\n"); os.close(7)
say("CLOSED")
while not os.path.exists("go"): time.sleep(0.05)
step()
say("END")
""")
    for bare in (True, False):
        (WORK / "go").unlink(missing_ok=True)
        read, write = os.pipe()

        def inherit(write=write):
            os.dup2(write, 7)

        run = Run(bare=bare, control=["sh", "-c", '"$@"; exit $?', "sh"], preexec_fn=inherit, close_fds=False)
        os.close(write)
        run.wait_for("CLOSED")
        seen, limit = b"", time.monotonic() + 20
        os.set_blocking(read, False)
        is_end = False
        while time.monotonic() < limit and not is_end:
            try:
                chunk = os.read(read, 100)
                seen, is_end = seen + chunk, chunk == b""
            except BlockingIOError:
                time.sleep(0.05)
        alive = run.process.poll() is None
        (WORK / "go").touch()
        status = run.end()
        os.close(read)
        if bare and not CONTROL and not is_end:
            # `oomph phantom` in front holds it too: then nothing can be said about `oomph run`
            skipped("the phantom command in front keeps descriptor 7 as well")
        expect(b"a line" in seen and status == 0 and "END" in run.text(), f"void: bare={bare} status {status} seen {seen!r}: {run.text()[-300:]}")
        expect(is_end and alive or bare, "20 s after the program closed descriptor 7 its reader still waited: another process of `oomph run` holds it")


main(scene)
