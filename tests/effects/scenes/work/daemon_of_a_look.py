"""The dry run's program leaves a daemon (two forks, setsid, descriptors closed) that goes on to write into the user's folder when the program
is gone, and a background `sh` that does the same."""

# /// expect
# commands = "check"
# guards = "both"
# why = 'docs/effects.md: "After the run your files are as they were"; nothing of a look is left behind: no process, no byte. An end of the processes that a look started is its own business'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program(f"""
step()
def daemon():
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    os.closerange(0, 4096)
    for i in range(400):
        time.sleep(0.1)
        with open("{WORK}/by_daemon", "a") as f: f.write("x")
    os._exit(0)
attempt("daemon", daemon)
attempt("background", lambda: subprocess.Popen(["sh", "-c", 'i=0; while [ $i -lt 400 ]; do echo x >> "{WORK}/by_shell"; sleep 0.1; i=$((i+1)); done'], start_new_session=True).pid)
time.sleep(0.5)
step(); step()
""")
    (WORK / "by_daemon").write_text("of the user")
    before = snapshot(HOME, WORK, TMP)
    Check().acted("daemon", "background")
    living = own_processes()
    names = [pathlib.Path(f"/proc/{p}/cmdline").read_bytes()[:60] if os.path.exists(f"/proc/{p}") else b"" for p in living]
    time.sleep(2)
    unchanged(before, HOME, WORK, TMP)
    still = [p for p in living if p in own_processes()]
    expect(not still, f"{len(still)} processes of the look live 2 s after its answer: {names}")


main(scene)
