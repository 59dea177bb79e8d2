"""SIGKILL of oomph's own process while the program trains with two DataLoader workers, changes the user's files and has 1 GiB on the device;
then the next `oomph check` of another program."""

# /// expect
# commands = "check"
# guards = "both"
# why = 'docs/effects.md: "A killed oomph leaves nothing changed; with `functions` the next command puts the files back if the watchdog was killed as well": 20 s after the kill no process of the look lives, and after the next command the files are as before'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
class Set(torch.utils.data.Dataset):
    def __len__(self): return 100000
    def __getitem__(self, i): time.sleep(0.05); return torch.ones(64)
if __name__ == "__main__":
    big = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    os.remove("removed"); open("changed", "a").write("gone"); open("new", "w").write("new"); os.rename("renamed", "other")
    loader = torch.utils.data.DataLoader(Set(), batch_size=4, num_workers=2)
    for i, batch in enumerate(loader):
        model(batch.cuda()).sum().backward()
        if i == 0: optimizer.step(); say("AT 2")
""")
    (WORK / "small.py").write_text(STEPS + "for i in range(3): step()\n")
    for name in ("removed", "changed", "renamed"):
        (WORK / name).write_text("of the user")
    before = snapshot(HOME, WORK)
    look = Check()
    expect(look.wait_for("AT 2"), f"void: {look.text()[-300:]}")
    look.process.kill()
    look.process.wait()
    limit = time.monotonic() + 20
    while own_processes() and time.monotonic() < limit:
        time.sleep(0.2)
    alive = own_processes()
    expect(not alive, f"{len(alive)} processes of the look live 20 s after oomph was killed")
    next_look = Check("small.py")
    status = next_look.end()
    expect(status == 0, f"the next command: exit status {status}: {next_look.text()[-300:]}")
    unchanged(before, HOME, WORK)
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().count("oomph")
    layers = [p.name for p in TMP.iterdir() if "oomph" in p.name]
    expect(not layers and not mounts, f"{len(layers)} folders left in TMPDIR after the next command: {layers[:3]}; mounts: {mounts}")


main(scene)
