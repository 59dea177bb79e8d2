"""SIGTERM to `oomph check` while the program is in its second step, with 3 GiB allocated."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"fits so far: 8.64 GiB in 1 step and 40 s; stopped by you": the 3 GiB that were seen (at least 3.0, at most 3.9 with the context of 0.45), the one step, and that it was stopped'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
big = torch.empty(3 << 30, dtype=torch.uint8, device="cuda")
open("mine", "w").write("gone")
step(); say("AT 2")
while True: time.sleep(0.1)
""")
    (WORK / "mine").write_text("of the user")
    before = snapshot(HOME, WORK, TMP)
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    time.sleep(1)
    look.process.send_signal(signal.SIGTERM)
    status = look.end()
    time.sleep(1)
    unchanged(before, HOME, WORK, TMP)
    expect(not own_processes(), f"{len(own_processes())} processes left")
    own = "\n".join(l for l in look.text().splitlines() if not l.startswith("AT "))
    figures = [float(x) for x in re.findall(r"(\d+\.\d+) GiB", own)]
    expect(any(3.0 <= x <= 3.9 for x in figures), f"the 3 GiB that were seen are not said; exit status {status}: {own[-300:]}")
    expect(re.search(r"\b(1|one|first) (of 3 )?(optimizer )?step", own), f"the step that was seen is not said: {own[-300:]}")
    expect(re.search("stopped|interrupt", own), f"does not say that it was stopped: {own[-300:]}")
    expect(not re.search(r"\b[23] (optimizer )?steps", own.replace("of 3 ", "")), f"says steps that were not seen: {own[-300:]}")


main(scene)
