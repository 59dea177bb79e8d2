"""`oomph run` and its program get signals from outside: Ctrl-C on its terminal (a pty) arrives once; SIGTERM to oomph's process reaches the
program's handler (exit status 7); an ignored SIGINT and a blocked SIGTERM at the start stay so."""

# /// expect
# commands = "run"
# guards = "none"
# why = "docs/run.md: \"it has the terminal, signals reach it\"; sigaction(2), execve(2): ignored and blocked signals are inherited; a terminal's Ctrl-C goes to the group, so a forwarded second one is one too many (Python programs end hard on the second)"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *
FORWARD = """
import signal, subprocess, sys
p = subprocess.Popen(sys.argv[1:])
import os, time
def again(*_):
    signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(0.3); os.killpg(0, signal.SIGINT)
signal.signal(signal.SIGINT, again)
while p.poll() is None: time.sleep(0.05)
sys.exit(p.returncode)
"""
TEXT = """
step()
counts = []
signal.signal(signal.SIGINT, lambda *_: counts.append("INT"))
def term(*_):
    say("COUNTS", " ".join(counts)); sys.exit(7)
signal.signal(signal.SIGTERM, term)
say("PID", os.getpid(), os.getpgrp())
while True: time.sleep(0.05); step()
"""

def scene():
    program(TEXT)
    (OUT / "forward.py").write_text(FORWARD)
    # without `phantom` in front: its own process would be one more in the group. The phantom stands behind oomph run here.
    recorder = [sys.executable, OUT / "forward.py"] if CONTROL else [OOMPH, "run", "--"]
    import fcntl, termios
    master, slave = os.openpty()
    run = Started([*recorder, OOMPH, "phantom", "--gpu", "rtx-4090", "--", PYTHON, "train.py"], stdin=slave, preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
    expect(run.wait_for("PID"), f"void: {run.text()[-300:]}")
    pid, group = map(int, re.search(r"PID (\d+) (\d+)", run.text()).groups())
    expect(group == run.pid or CONTROL, f"the program is in group {group} and not in that of oomph, {run.pid}: a terminal's Ctrl-C does not reach it")
    os.write(master, b"\x03")
    time.sleep(2)
    os.kill(pid if CONTROL else run.pid, signal.SIGTERM)
    status = run.end()
    counts = re.findall(r"COUNTS (.*)", run.text(1))
    expect(counts == ["INT"], f"Ctrl-C arrived {len(counts[0].split()) if counts else 'unknown'} times; exit status {status}: {run.text()[-200:]}")
    expect(status == 7, f"exit status {status} and not the handler's 7")
    program("""
lines = [l.split() for l in open("/proc/self/status") if l.startswith(("SigBlk", "SigIgn"))]
say("STATE", signal.getsignal(signal.SIGINT) == signal.SIG_IGN, sorted(s.name for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])))
os.kill(os.getpid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGTERM)
step(); step(); say("END")
""")

    def before():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    states = []
    for bare in (True, False):
        run = Run(bare=bare, control=["env"], preexec_fn=before)
        states.append((run.end(), run.text(1)))
    expect(states[0] == states[1] and "END" in states[1][1], f"without oomph {states[0]}, with it {states[1]}")


main(scene)
