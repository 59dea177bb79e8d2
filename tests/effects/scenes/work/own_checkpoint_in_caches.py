"""The dry run's program saves its own checkpoints below the caches, after it connected to a server of this machine: torch.save to
torch/hub/checkpoints/mine.pt, safetensors and torch.save to a Hub snapshot folder, numpy.save and open().write elsewhere."""

# /// expect
# commands = "check"
# guards = "both"
# why = '"Keep only what came through a socket unchanged, and never a file that PyTorch, safetensors or NumPy wrote": zeros that the next real run would load'
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    import http.server
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Quiet", (http.server.SimpleHTTPRequestHandler,), dict(log_message=lambda *_: None)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program(f"""
import pathlib, urllib.request, numpy, pickle
cache = pathlib.Path(os.environ["XDG_CACHE_HOME"])
def place(path): p = cache / path; p.parent.mkdir(parents=True, exist_ok=True); return p
attempt("connect", lambda: urllib.request.urlopen("http://127.0.0.1:{server.server_port}/").read() and None)
attempt("torch", lambda: torch.save(model.state_dict(), place("torch/hub/checkpoints/mine.pt")))
attempt("hub", lambda: torch.save(model.state_dict(), place("huggingface/hub/models--me--mine/snapshots/1/pytorch_model.bin")))
def safe():
    from safetensors.torch import save_file
    save_file({{k: v.cpu() for k, v in model.state_dict().items()}}, place("huggingface/hub/models--me--mine/snapshots/1/model.safetensors"))
attempt("safetensors", safe)
attempt("numpy", lambda: numpy.save(place("huggingface/hub/feat.npy"), model.weight.detach().cpu().numpy()))
attempt("bytes", lambda: place("huggingface/hub/models--me--mine/blobs/0a0a").write_bytes(model.weight.detach().cpu().numpy().tobytes()))
attempt("pickle", lambda: pickle.dump(model.weight.detach().cpu().numpy(), open(place("huggingface/datasets/me/cache-1.arrow"), "wb")))
step()
step(); step()
""")
    before = snapshot(HOME)
    Check().acted("torch", "hub", "safetensors", "numpy", "bytes", "pickle")
    found = [d for d in differences(before, snapshot(HOME)) if not d.startswith("links")]
    expect(not found, f"{len(found)} differences: {'; '.join(found)[:600]}")


main(scene)
