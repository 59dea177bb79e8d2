"""SIGHUP (a closed terminal) to the group while the program is in a phase without steps with 5 GiB on the device; and `--timeout 15` in the
same phase."""

# /// expect
# commands = "check"
# guards = "both"
# why = "\"`--timeout` in a phase without steps (GRPO's generation) says peak 0 B of 23.64 GiB with the model on the device\": the 5 GiB that were seen (5 to 5.9 with the context)"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
big = torch.empty(5 << 30, dtype=torch.uint8, device="cuda")
open("mine", "w").write("gone")
say("AT generation")
while True:
    time.sleep(0.05); model(torch.ones(4, 64, device="cuda"))
""")
    (WORK / "mine").write_text("of the user")
    before = snapshot(HOME, WORK, TMP)
    for way in ("timeout", "hangup"):
        look = Check(options=["--timeout", "15"] if way == "timeout" and not CONTROL else [])
        expect(look.wait_for("AT generation"), f"void: {look.text()[-300:]}")
        if way == "hangup" or CONTROL:
            time.sleep(1)
            os.killpg(look.pid, signal.SIGHUP)
        status = look.end()
        time.sleep(1)
        unchanged(before, HOME, WORK, TMP)
        expect(not own_processes(), f"{way}: {len(own_processes())} processes left")
        own = "\n".join(l for l in look.text().splitlines() if not l.startswith("AT "))
        figures = [float(x) for x in re.findall(r"(\d+\.\d+) GiB", own)]
        expect(any(5.0 <= x <= 5.9 for x in figures), f"{way}: the 5 GiB that were seen are not said; exit status {status}: {own[-300:]}")
        expect(not re.search(r"\b(in|after|ran) +[1-9]\d* (of 3 )?(optimizer )?steps?\b", own), f"{way}: says steps that were not: {own[-300:]}")


main(scene)
