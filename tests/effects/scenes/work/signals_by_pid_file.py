"""The dry run's program ends a stale run by its pid file: kill(pid, 0), SIGUSR1, SIGHUP, SIGTERM of a foreign process, killpg of its group,
and `kill` of the shell."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"a script that ends a stale run by its pid file would end the real training"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    second = other("""
def count(number, frame): print("GOT", signal.Signals(number).name, flush=True)
for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGWINCH): signal.signal(s, count)
print("ready", flush=True)
while True: time.sleep(0.1)
""")
    (WORK / "train.pid").write_text(str(second.pid))
    program("""
pid = int(open("train.pid").read())
step()
attempt("0", lambda: os.kill(pid, 0))
attempt("USR1", lambda: os.kill(pid, signal.SIGUSR1))
attempt("HUP", lambda: os.kill(pid, signal.SIGHUP))
attempt("group", lambda: os.killpg(pid, signal.SIGWINCH))
attempt("shell", lambda: os.system(f"kill -USR2 {pid}"))
attempt("TERM", lambda: os.kill(pid, signal.SIGTERM))
def own_child():
    child = subprocess.Popen(["sleep", "60"])
    child.terminate()
    return child.wait()
attempt("own child", own_child)
step(); step()
""")
    look = Check().acted("0", "USR1", "HUP", "group", "shell", "TERM", "own child")
    expect("ACTED own child -15" in look.text(), f"the program could not end its own child: {look.text()[-300:]}")
    time.sleep(0.5)
    got = [l.split()[1] for l in second.text().splitlines() if l.startswith("GOT")]
    expect(not got and second.process.poll() is None, f"the foreign process got {len(got)} signals: {' '.join(got)}; exit status {second.process.poll()}")


main(scene)
