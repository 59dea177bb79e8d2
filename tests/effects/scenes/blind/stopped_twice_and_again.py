"""An impatient end: SIGINT, SIGINT, SIGTERM to the group within a second, of a `check` whose program removed a tree of 2,000 files and holds 4
GiB; and SIGTERM during the undo."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: a stopped look leaves nothing changed; a second Ctrl-C must not stop the undo half-way (at the latest the next command ends it). The answer has the 4 GiB (4 to 4.9) unless it was killed before it could speak"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    (WORK / "tree").mkdir()
    for i in range(2000):
        (WORK / "tree" / str(i)).write_text(f"of the user {i}")
    (WORK / "small.py").write_text(STEPS + "for i in range(3): step()\n")
    program("""
import shutil
big = torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
for i in range(0, 2000, 2): open(f"tree/{i}", "a").write("gone")
shutil.rmtree("tree"); os.mkdir("tree"); open("tree/0", "w").write("new")
step(); say("AT 2")
while True: time.sleep(0.1)
""")
    before = snapshot(HOME, WORK)
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        try:
            os.killpg(look.pid, number)
        except OSError:
            break
        time.sleep(0.15)
    status = look.end()
    limit = time.monotonic() + 20
    while own_processes() and time.monotonic() < limit:
        time.sleep(0.2)
    expect(not own_processes(), f"{len(own_processes())} processes left")
    first = differences(before, snapshot(HOME, WORK))
    if first:
        Check("small.py").end()
    unchanged(before, HOME, WORK)
    own = "\n".join(l for l in look.text().splitlines() if not l.startswith("AT "))
    expect(any(4.0 <= float(x) <= 4.9 for x in re.findall(r"(\d+\.\d+) GiB", own)), f"the 4 GiB that were seen are not said; exit status {status}; differences before the next command: {len(first)}: {own[-300:]}")


main(scene)
