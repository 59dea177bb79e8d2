"""Files that real runs left below the caches (a checkpoint, a Hub snapshot with its symbolic link and blob, a dataset's cache) are replaced by
the dry run's program: saved over, renamed over, link turned to a new blob, folder moved away and made again."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md: the files are as they were after the run; a cache with the user's weights is no exception, and zeros never take their place"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    checkpoints, hub = CACHE / "torch/hub/checkpoints", CACHE / "huggingface/hub/models--me--mine"
    for path in (checkpoints / "a.pth", checkpoints / "b.pth", hub / "blobs/aa", CACHE / "huggingface/datasets/me/cache-1.arrow"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(5000))
    (hub / "snapshots/1").mkdir(parents=True)
    (hub / "snapshots/1/model.bin").symlink_to("../../blobs/aa")
    (hub / "refs").mkdir()
    (hub / "refs/main").write_text("1")
    program("""
import pathlib, shutil
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"]); points = cache / "torch/hub/checkpoints"; hub = cache / "huggingface/hub/models--me--mine"
def save(path): torch.save(model.state_dict(), path); return path
attempt("over", lambda: save(points / "a.pth"))
attempt("renamed", lambda: os.replace(save(points / "new.tmp"), points / "b.pth"))
def turn():
    save(hub / "blobs/bb"); os.unlink(hub / "snapshots/1/model.bin"); os.symlink("../../blobs/bb", hub / "snapshots/1/model.bin"); (hub / "refs/main").write_text("2")
attempt("turn", turn)
def again():
    d = cache / "huggingface/datasets/me"; shutil.move(d, cache / "huggingface/datasets/old"); d.mkdir(); save(d / "cache-1.arrow")
attempt("again", again)
attempt("through", lambda: save(hub / "snapshots/1/model.bin"))
step()
step(); step()
""")
    before = snapshot(HOME)
    Check().acted("over", "renamed", "turn", "again", "through")
    found = [d for d in differences(before, snapshot(HOME)) if not d.startswith("links")]
    expect(not found, f"{len(found)} differences: {'; '.join(found)[:600]}")


main(scene)
