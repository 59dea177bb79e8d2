"""`oomph run` where TMPDIR and HOME are a tmpfs of 64 KiB that is full; with RLIMIT_FSIZE of 100 KiB (SIGXFSZ ends whoever writes beyond it),
and with a read-only TMPDIR."""

# /// expect
# commands = "run"
# guards = "none"
# why = 'the list of harms: "a full disk rightly does not stop it"; setrlimit(2): RLIMIT_FSIZE also bounds ftruncate and mapped files, so a recorder of 60 MiB gets SIGXFSZ; the program behaves as without oomph, and what could not be recorded is said'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    full, fixed = ROOM / "full", ROOM / "fixed"
    for folder, size in ((full, "64k"), (fixed, "64k")):
        folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "scene", str(folder)], capture_output=True).returncode:
            skipped("no mount here")
    try:
        with open(full / "filler", "wb", buffering=0) as f:
            while True:
                f.write(bytes(4096))
    except OSError:
        pass
    subprocess.run(["mount", "-o", "remount,ro", str(fixed)], check=True)
    program("""
import resource
for i in range(5): step()
say("LIMIT", resource.getrlimit(resource.RLIMIT_FSIZE)[0], "XFSZ", signal.getsignal(signal.SIGXFSZ).name)
open("small", "wb").write(bytes(50_000))
try:
    f = open("large", "wb", buffering=0)
    for _ in range(40): f.write(bytes(10_000))
    say("LARGE", os.path.getsize("large"))
except OSError as error: say("ERROR", error.errno)
time.sleep(0.6); step()
sys.exit(9)
""")
    control = ["sh", "-c", 'head -c 200000 /dev/zero > "$TMPDIR/record" || exit 44; "$@"', "sh"]
    bad = []
    cases = [("full", [f"TMPDIR={full}", f"HOME={full}", f"XDG_CACHE_HOME={full}"], [], []), ("read-only", [f"TMPDIR={fixed}"], [], []), ("fsize", [], ["prlimit", "--fsize=100000", "--"], [])]
    for name, changes, limit, options in cases:
        answers = []
        for bare in (True, False):
            run = Run(bare=bare, before=["env", *changes, *limit], control=control, options=options)
            answers.append((run.end(), run.text(1)))
            # oomph's own words may stand in front of a real one: the program's output and status count
            said = run.text(2)
        expect(answers[0][0] == 9, f"void: {name}: without oomph {answers[0]}")
        if answers[0] != answers[1]:
            bad.append(f"{name}: without oomph {answers[0]}, with it {answers[1]}: {said[-160:]}")
    expect(not bad, f"{len(bad)} of {len(cases)}: {'; '.join(bad)}")


main(scene)
