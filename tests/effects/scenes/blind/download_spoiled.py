"""Downloads that do not arrive unchanged: the server breaks off in the middle, the program patches a byte after it, appends zeros from the
GPU, overwrites a part through a mapping, decompresses it, or renames its own file over it; none may stay in the caches."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"Keep only what came through a socket unchanged, and never a file … that has a hole of ours"'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    import http.server
    body = os.urandom(300_000)

    def get(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:100_000] if "broken" in self.path else body)
        self.close_connection = True

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (http.server.BaseHTTPRequestHandler,), dict(do_GET=get, log_message=lambda *_: None)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program(f"""
import mmap, pathlib, urllib.request
base = "http://127.0.0.1:{server.server_port}/"
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"])
def fetch(name, path):
    p = cache / path; p.parent.mkdir(parents=True, exist_ok=True)
    with open(p, "wb") as f:
        r = urllib.request.urlopen(base + name)
        while chunk := r.read(50000): f.write(chunk)
    return str(p)
def patch(): f = open(fetch("a", "torch/hub/checkpoints/patched.pth"), "r+b"); f.seek(1000); f.write(b"XXXX"); f.close()
def append(): f = open(fetch("b", "torch/hub/checkpoints/appended.pth"), "ab"); f.write(model.weight.detach().cpu().numpy().tobytes()); f.close()
def mapped():
    f = open(fetch("c", "huggingface/hub/models--a--b/blobs/mapped"), "r+b"); m = mmap.mmap(f.fileno(), 0); m[:4] = b"XXXX"; m.close(); f.close()
def cover(): p = fetch("d", "huggingface/hub/models--a--b/blobs/covered"); torch.save(model.state_dict(), "mine.pt"); os.replace(os.path.abspath("mine.pt"), p)
def shorten(): os.truncate(fetch("e", "torch/hub/checkpoints/short.pth"), 1000)
attempt("broken", lambda: fetch("broken", "torch/hub/checkpoints/broken.pth"))
attempt("patch", patch)
attempt("append", append)
attempt("mapped", mapped)
attempt("cover", cover)
attempt("shorten", shorten)
step()
step(); step()
""")
    Check().acted("broken", "patch", "append", "mapped", "cover", "shorten")
    kept = [p for p in HOME.rglob("*") if p.is_file() and "oomph" not in p.parts]
    bad = [f"{p.relative_to(HOME)} ({p.stat().st_size} of {len(body)} bytes)" for p in kept if p.read_bytes() != body]
    expect(not bad, f"{len(bad)} of {len(kept)} kept files are not what the server sent: {bad}")


main(scene)
