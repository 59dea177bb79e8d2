"""The dry run's program takes the descriptor of a foreign process's log with pidfd_getfd, and opens its files by /proc/PID/fd, /proc/PID/cwd
and /proc/PID/root, and by nsenter."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"/proc/PID/{fd,cwd,root} of a foreign process and nsenter write through the namespace. … hide foreign processes"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    second = other("""
os.chdir(sys.argv[1])
log = os.open("log", os.O_RDWR | os.O_CREAT)
os.write(log, b"of the second process\\n" * 10)
print("ready", log, flush=True)
time.sleep(1000)
""", OUT)
    log = second.text().split()[1]
    program(f"""
pid, log = {second.pid}, {log}
libc = ctypes.CDLL(None, use_errno=True)
step()
def take():
    pidfd = libc.syscall(434, pid, 0)
    fd = libc.syscall(438, pidfd, log, 0)
    if fd < 0: raise OSError(ctypes.get_errno(), "pidfd_getfd")
    os.ftruncate(fd, 5)
def write(path): open(path, "r+b").write(b"XXXX")
attempt("getfd", take)
attempt("fd", lambda: write(f"/proc/{{pid}}/fd/{{log}}"))
attempt("cwd", lambda: write(f"/proc/{{pid}}/cwd/by_cwd"))
attempt("root", lambda: write(f"/proc/{{pid}}/root{OUT}/by_root"))
attempt("nsenter", lambda: subprocess.run(["nsenter", "-t", str(pid), "-m", "sh", "-c", 'printf XXXX > "{OUT}/by_nsenter"'], capture_output=True))
attempt("mem", lambda: os.open(f"/proc/{{pid}}/oom_score_adj", os.O_WRONLY) and open(f"/proc/{{pid}}/oom_score_adj", "w").write("1000"))
step(); step()
""")
    for name in ("by_cwd", "by_root", "by_nsenter"):
        (OUT / name).write_text("of the user")
    before = snapshot(OUT)
    before = {p: v for p, v in before.items() if b"report" not in p}
    score = pathlib.Path(f"/proc/{second.pid}/oom_score_adj").read_text()
    Check().acted("getfd", "fd", "cwd", "root", "nsenter", "mem")
    expect(second.process.poll() is None, "the second process ended")
    after = {p: v for p, v in snapshot(OUT).items() if b"report" not in p}
    found = differences(before, after)
    expect(not found, f"{len(found)} differences: {'; '.join(found)[:500]}")
    now = pathlib.Path(f"/proc/{second.pid}/oom_score_adj").read_text()
    expect(now == score, f"oom_score_adj of the second process: {score.strip()} before, {now.strip()} after")


main(scene)
