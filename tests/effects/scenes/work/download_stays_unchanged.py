"""Real downloads from a local HTTP server into the caches: torch.hub.download_url_to_file, urllib into nltk_data, load_state_dict_from_url of
a real checkpoint, and a Hub blob; a kept file is byte for byte the server's file, or it is gone."""

# /// expect
# commands = "check"
# guards = "both"
# why = "docs/effects.md \"Downloads are kept\"; the list of harms, 4 \"Keep only what came through a socket unchanged\"; hollow files never lie in the library's cache"
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    import http.server
    made = subprocess.run([PYTHON, "-c", f"import torch; torch.save(dict(w=torch.arange(90000.)), {str(OUT / 'net-0123abcd.pth')!r})"], env=ENV)
    expect(made.returncode == 0, "void: no checkpoint")
    for name in ("corpus.txt", "tokens.bin", "blob"):
        (OUT / name).write_bytes(os.urandom(200_000))
    handler = type("Handler", (http.server.SimpleHTTPRequestHandler,), dict(log_message=lambda *_: None, __init__=lambda self, *a, **k: http.server.SimpleHTTPRequestHandler.__init__(self, *a, directory=str(OUT), **k)))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program(f"""
import pathlib, urllib.request
base = "http://127.0.0.1:{server.server_port}/"
home = pathlib.Path(os.environ["HOME"]); cache = pathlib.Path(os.environ["XDG_CACHE_HOME"])
def place(root, path): p = root / path; p.parent.mkdir(parents=True, exist_ok=True); return str(p)
attempt("file", lambda: torch.hub.download_url_to_file(base + "tokens.bin", place(cache, "torch/hub/checkpoints/tokens.bin"), progress=False))
attempt("nltk", lambda: urllib.request.urlretrieve(base + "corpus.txt", place(home, "nltk_data/corpora/corpus.txt"))[0])
attempt("weights", lambda: torch.hub.load_state_dict_from_url(base + "net-0123abcd.pth", progress=False).keys())
attempt("blob", lambda: open(place(cache, "huggingface/hub/models--x--y/blobs/blob"), "wb").write(urllib.request.urlopen(base + "blob").read()))
if {CONTROL}: open(place(cache, "torch/hub/checkpoints/tokens.bin"), "r+b").write(b"XYZ")
step()
step(); step()
""")
    Check().acted("file", "nltk", "weights", "blob")
    originals = {p.name: p.read_bytes() for p in OUT.iterdir() if p.is_file()}
    kept = [p for p in HOME.rglob("*") if p.is_file() and "oomph" not in p.parts]
    bad = [f"{p.relative_to(HOME)} ({p.stat().st_size} bytes)" for p in kept if originals.get(p.name) != p.read_bytes()]
    expect(not bad, f"{len(bad)} of {len(kept)} kept files are not what the server sent: {bad}")


main(scene)
