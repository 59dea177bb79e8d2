"""Under `oomph run` a program changes its root to an empty folder (chroot), goes to its new /, drops all capabilities' user (setuid 65534),
sets no_new_privs and dumpable 0, trains on, opens a file there and ends with 4; and one that unshares its mount and user namespaces."""

# /// expect
# commands = "run"
# guards = "none"
# why = 'the list of harms: "that runs as another user, in a chroot … it behaves as without oomph; what could not be recorded is said": output, status and the files in the folder are those of the bare run'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
for i in range(3): step()
sys.stdout.flush()
how = sys.argv[1]
if how == "chroot":
    os.chroot("jail"); os.chdir("/")
    open("/own", "w").write("own")
    os.chmod("/", 0o777)
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
    libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0); libc.prctl(4, 0, 0, 0, 0)
else:
    libc = ctypes.CDLL(None); libc.unshare(0x00020000 | 0x10000000)
    open("jail/own", "w").write("own")
for i in range(40): step(); time.sleep(0.03)
say("ROOT", sorted(os.listdir("/" if how == "chroot" else "jail")), os.getuid(), len(os.listdir("/")) > 0)
sys.exit(4)
""")
    bad = []
    for how in ("chroot", "unshare"):
        answers = []
        for bare in (True, False):
            shutil.rmtree(WORK / "jail", ignore_errors=True)
            (WORK / "jail").mkdir()
            run = Run(bare=bare, command=[PYTHON, "train.py", how], control=["sh", "-c", 'touch jail/more; exec "$@"', "sh"])
            answers.append((run.end(), run.text(1), sorted(p.name for p in (WORK / "jail").rglob("*"))))
            said = run.text(2)
        expect(answers[0][0] == 4, f"void: {how}: {answers[0]}: {said[-200:]}")
        if answers[0] != answers[1]:
            bad.append(f"{how}: without oomph {answers[0]}, with it {answers[1]}: {said[-200:]}")
        expect(CONTROL or "step" in said, f"{how}: nothing is said of the run: {said[-200:]}")
    left_over = [p for p in TMP.iterdir() if p.name != "torchinductor_root" and not p.name.startswith("oomph-run-")]
    expect(not bad and not left_over, f"{len(bad)} of 2: {'; '.join(bad)}; left in TMPDIR: {left_over}")


main(scene)
