"""The dry run's program keeps computed values below the caches of NLTK, Keras, Kaggle, torch.hub and datasets by other means: numpy.savez, a
zip archive, gzip, json, an mmap (numpy.memmap), os.pwrite, a truncate to a size (a hole), in a thread and in a forked child."""

# /// expect
# commands = "check"
# guards = "both"
# why = 'keep only what came through a socket unchanged, never what the libraries wrote, or what has a hole of ours; "Caches of computed files are not [kept]: they would hold zeros" (docs/effects.md)'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
import gzip, json, pathlib, pickle, zipfile, numpy
home = pathlib.Path(os.environ["HOME"]); cache = pathlib.Path(os.environ["XDG_CACHE_HOME"])
value = model.weight.detach().cpu().numpy()
def place(root, path): p = root / path; p.parent.mkdir(parents=True, exist_ok=True); return p
attempt("savez", lambda: numpy.savez(place(home, ".keras/models/mine.npz"), value))
attempt("zip", lambda: zipfile.ZipFile(place(home, "nltk_data/corpora/mine.zip"), "w").writestr("a.bin", value.tobytes()))
attempt("gzip", lambda: gzip.open(place(cache, "kagglehub/models/mine/1/w.gz"), "wb").write(value.tobytes()))
attempt("json", lambda: place(cache, "huggingface/hub/models--me--mine/snapshots/1/stats.json").write_text(json.dumps(value[0].tolist())))
def mapped():
    m = numpy.memmap(place(cache, "torch/hub/feat.dat"), dtype="float32", mode="w+", shape=(64, 64)); m[:] = value; m.flush()
attempt("memmap", mapped)
def hole():
    f = os.open(place(cache, "huggingface/hub/models--me--mine/blobs/ff"), os.O_RDWR | os.O_CREAT); os.ftruncate(f, 1 << 20); os.pwrite(f, b"x", 5)
attempt("hole", hole)
t = threading.Thread(target=lambda: attempt("thread", lambda: torch.save(model, place(cache, "torch/hub/checkpoints/thread.pth")))); t.start(); t.join()
def child():
    if (c := os.fork()) == 0:
        try: pickle.dump(value, open(place(cache, "torch/hub/child.pkl"), "wb"))
        finally: os._exit(0)
    return os.waitpid(c, 0)[1]
attempt("child", child)
step()
step(); step()
""")
    before = snapshot(HOME)
    Check().acted("savez", "zip", "gzip", "json", "memmap", "hole", "thread", "child")
    found = [d for d in differences(before, snapshot(HOME)) if not d.startswith("links")]
    expect(not found, f"{len(found)} differences: {'; '.join(found)[:600]}")


main(scene)
