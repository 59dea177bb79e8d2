"""A checkpoint that the dry run's program saved in its own folder comes below the caches by shutil.copy, shutil.copytree, os.rename,
os.replace over a .tmp, a symbolic link, a hard link and `cp`."""

# /// expect
# commands = "check"
# guards = "both"
# why = "keep only what came through a socket unchanged; a copy of zeros is zeros"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
import pathlib, shutil
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"])
def place(path): p = cache / path; p.parent.mkdir(parents=True, exist_ok=True); return p
def save(name): torch.save(model.state_dict(), name); return name
os.makedirs("out", exist_ok=True); save("out/a.bin"); save("out/model.pt")
attempt("copy", lambda: shutil.copy("out/a.bin", place("torch/hub/checkpoints/copy.pth")))
attempt("tree", lambda: shutil.copytree("out", place("huggingface/hub/models--me--mine/snapshots/1")))
attempt("rename", lambda: os.rename(save("b.pt"), place("torch/hub/checkpoints/renamed.pth")))
attempt("replace", lambda: os.replace(save(place("torch/hub/checkpoints/x.pth.tmp")), place("torch/hub/checkpoints/x.pth")))
attempt("symlink", lambda: os.symlink(os.path.abspath("out/a.bin"), place("huggingface/hub/models--me--other/snapshots/1/model.bin")))
attempt("link", lambda: os.link(save("c.pt"), place("huggingface/hub/models--me--other/blobs/c0ffee")))
attempt("cp", lambda: subprocess.run(["cp", "out/a.bin", place("torch/hub/checkpoints/cp.pth")]).returncode)
attempt("move", lambda: shutil.move("out", place("huggingface/datasets/me/moved")))
step()
step(); step()
""")
    before = snapshot(HOME, WORK)
    Check().acted("copy", "tree", "rename", "replace", "symlink", "cp", "move")
    found = [d for d in differences(before, snapshot(HOME, WORK)) if not d.startswith("links")]
    expect(not found, f"{len(found)} differences: {'; '.join(found)[:600]}")


main(scene)
