"""What a program can see of its interpreter after torch and steps: hooks (excepthook, threading.excepthook, unraisable, displayhook), tracing,
gc (thresholds, callbacks, count of collections disabled), warnings filters, logging handlers, threads, random states of random, numpy and
torch, codec errors, stdout's buffering, recursion limit, torch's history switch, a traceback's text, weakrefs of hooks on modules, pickled
bytes."""

# /// expect
# commands = "run"
# guards = "none"
# why = "docs/run.md: \"nothing of it is replaced\", \"PyTorch's own history stays as the program sets it\", \"Nothing is hooked at a call of a module\""
# ///
import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from kit import *

def scene():
    program("""
import gc, hashlib, json, logging, random, traceback, warnings, weakref, io, pickle, faulthandler
torch.manual_seed(0); random.seed(0)
step(); step()
facts = {}
facts["excepthook"] = sys.excepthook is sys.__excepthook__
facts["threading"] = threading.excepthook is threading.__excepthook__
facts["unraisable"] = sys.unraisablehook is sys.__unraisablehook__
facts["display"] = sys.displayhook is sys.__displayhook__
facts["trace"] = [sys.gettrace() is None, sys.getprofile() is None, threading.gettrace() is None, threading.getprofile() is None]
facts["gc"] = [gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_debug()]
facts["filters"] = [str(f) for f in warnings.filters]
facts["logging"] = [logging.root.level, [str(h) for h in logging.root.handlers]]
facts["threads"] = sorted(t.name for t in threading.enumerate())
facts["random"] = [random.random(), torch.rand(1).item(), hashlib.sha1(torch.get_rng_state().numpy().tobytes()).hexdigest()]
facts["streams"] = [sys.stdout.line_buffering, sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, type(sys.stdout).__name__]
facts["limits"] = [sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()]
facts["faulthandler"] = faulthandler.is_enabled()
facts["module hooks"] = [len(model._forward_hooks), len(model._forward_pre_hooks), len(model._backward_hooks), len(torch.nn.modules.module._global_forward_hooks), type(model).__call__.__qualname__]
facts["optimizer"] = [type(optimizer).step.__qualname__, len(optimizer._optimizer_step_pre_hooks), len(optimizer._optimizer_step_post_hooks), hashlib.sha1(pickle.dumps(optimizer.state_dict())).hexdigest()]
facts["functions"] = [torch.empty.__module__, type(torch.cuda.empty_cache).__name__, torch.save.__module__, torch.save.__code__.co_filename.endswith("serialization.py"), os.close is __import__("posix").close, open is io.open, torch.Tensor.backward.__code__.co_filename.endswith("_tensor.py")]
try: facts["snapshot"] = sum(len(t) for t in torch.cuda.memory._snapshot()["device_traces"])
except Exception as error: facts["snapshot"] = str(error)
def fail(): raise ValueError("x")
try: fail()
except ValueError: facts["traceback"] = traceback.format_exc()
facts["allocated"] = torch.cuda.memory_allocated(), torch.cuda.max_memory_reserved()
say("FACTS", json.dumps(facts))
raise SystemExit("an error text")
""")
    (OUT / "sitecustomize.py").write_text("import gc, warnings\ngc.callbacks.append(lambda *a: None)\nwarnings.simplefilter('ignore')\n")
    facts = []
    for bare in (True, False):
        run = Run(bare=bare, control=["env", f"PYTHONPATH={OUT}"])
        status = run.end()
        expect(status == 1 and "FACTS" in run.text(1), f"exit status {status}: {run.text()[-300:]}")
        expect("an error text" in run.text(2), f"the program's error text: {run.text(2)[-200:]}")
        facts.append(json.loads(run.text(1).split("FACTS ", 1)[1].splitlines()[0]))
    wrong = [f"{k}: {str(facts[0][k])[:150]} -> {str(facts[1][k])[:150]}" for k in facts[0] if facts[0][k] != facts[1][k]]
    expect(not wrong, f"{len(wrong)} of {len(facts[0])} facts differ: {'; '.join(wrong)}")


main(scene)
