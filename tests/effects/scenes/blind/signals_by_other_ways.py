"""Signals to a foreign process by pidfd_send_signal, rt_sigqueueinfo, tgkill, F_SETOWN with O_ASYNC, timer_create, a pipe's SIGIO, prctl, and
SIGKILL; from a thread, a child and after setsid."""

# /// expect
# commands = "check"
# guards = "both"
# why = "a guard on `kill`, `pidfd_send_signal` … for what is not the program's own. A raw system call that the guard `functions` cannot see counts as held only if the report names it"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    text = """
def count(number, frame): print("GOT", signal.Signals(number).name, flush=True)
for s in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGTERM, signal.SIGIO, signal.SIGWINCH, signal.SIGCONT): signal.signal(s, count)
print("ready", flush=True)
while True: time.sleep(0.1)
"""
    second, victim = other(text), other("print('ready', flush=True); time.sleep(1000)")
    program(f"""
import fcntl
pid, victim = {second.pid}, {victim.pid}
libc = ctypes.CDLL(None, use_errno=True)
def sure(answer):
    if answer < 0: raise OSError(ctypes.get_errno(), "refused")
    return answer
step()
def by_pidfd():
    fd = os.pidfd_open(pid); signal.pidfd_send_signal(fd, signal.SIGUSR1)
attempt("pidfd", by_pidfd)
class Value(ctypes.Union): _fields_ = [("n", ctypes.c_int), ("p", ctypes.c_void_p)]
libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, Value]
attempt("sigqueue", lambda: sure(libc.sigqueue(pid, signal.SIGUSR2, Value(n=1))))
attempt("tgkill", lambda: sure(libc.tgkill(pid, pid, signal.SIGHUP)))
def own():
    r, w = os.pipe()
    fcntl.fcntl(r, fcntl.F_SETOWN, pid)
    fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_ASYNC)
    os.write(w, b"x")
attempt("setown", own)
t = threading.Thread(target=lambda: attempt("thread", lambda: os.kill(pid, signal.SIGTERM))); t.start(); t.join()
def child():
    if (c := os.fork()) == 0:
        os.setsid()
        try: os.kill(pid, signal.SIGWINCH)
        finally: os._exit(0)
    os.waitpid(c, 0)
attempt("child", child)
attempt("KILL", lambda: os.kill(victim, signal.SIGKILL))
step(); step()
""")
    look = Check().acted("pidfd", "sigqueue", "tgkill", "setown", "thread", "child", "KILL")
    time.sleep(0.5)
    got = [l.split()[1] for l in second.text().splitlines() if l.startswith("GOT")]
    dead = [p.process.poll() for p in (second, victim) if p.process.poll() is not None]
    expect(not got and not dead, f"foreign processes got {len(got)} signals: {' '.join(got)}; ended: {dead}; refused: {look.text().count('refused')}")


main(scene)
