"""`oomph run` with TMPDIR gone, TMPDIR a file, TMPDIR empty and HOME gone; exit statuses 0, 1, 77, 255, deaths by SIGKILL, SIGSEGV and
SIGTERM; standard output byte for byte (NUL, no newline at the end, 1 MiB)."""

# /// expect
# commands = "run"
# guards = "none"
# why = "docs/run.md: the exit status is the program's, or 128 and the number of the signal; the list of harms: \"`TMPDIR=/nonexistent oomph run` does not start the program\""
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
step(); step()
os.write(1, bytes(range(256)) * 4096 + b"no newline")
how = sys.argv[1]
if how.isdigit(): sys.exit(int(how))
os.kill(os.getpid(), getattr(signal, how))
time.sleep(100)
""")
    (OUT / "file").write_text("x")
    body, bad, n = bytes(range(256)) * 4096 + b"no newline", [], 0
    cases = [("0", 0, dict(TMPDIR="/nonexistent")), ("77", 77, dict(TMPDIR=str(OUT / "file"))), ("255", 255, dict(TMPDIR="")), ("1", 1, dict(HOME="/nonexistent", XDG_CACHE_HOME="/nonexistent/cache")), ("SIGKILL", 137, {}), ("SIGSEGV", 139, dict(TMPDIR="/nonexistent")), ("SIGTERM", 143, {})]
    for how, wanted, changes in cases:
        # phantom (also oomph) runs with the ordinary environment: the changes stand behind it
        words = ["env", *(f"{k}={v}" for k, v in changes.items())]
        out = OUT / "stdout"
        recorder = ["sh", "-c", '"$@"; s=$?; echo; exit $s', "sh"] if CONTROL else [OOMPH, "run", "--"]
        with open(out, "wb") as f:
            p = subprocess.Popen([OOMPH, "phantom", "--gpu", "rtx-4090", "--", *words, *recorder, PYTHON, "train.py", how], cwd=WORK, env=ENV, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.PIPE, start_new_session=True)
            _, said = p.communicate(timeout=left())
        n += 1
        if (p.returncode, out.read_bytes()) != (wanted, body):
            bad.append(f"{changes or how}: exit status {p.returncode} and not {wanted}, {out.stat().st_size} bytes of {len(body)}: {said.decode(errors='replace')[-120:]}")
    expect(not bad, f"{len(bad)} of {n}: {'; '.join(bad)}")


main(scene)
