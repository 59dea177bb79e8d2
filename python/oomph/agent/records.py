"""The agent's records, one function for each kind, and for each object in a record: Note [Records] in crates/wire/src/record/kinds.rs.

Written by `make generate` from the table there; not to be edited.
"""


def device_stats(*, device: int, allocated_bytes: int, allocated_peak_bytes: int, reserved_bytes: int, reserved_peak_bytes: int, alloc_retries: int, ooms: int, inactive_split_bytes: int) -> dict:
    """A selection of `torch.cuda.memory_stats` of one device. Sizes are in bytes."""
    return {"device": device, "allocated_bytes": allocated_bytes, "allocated_peak_bytes": allocated_peak_bytes, "reserved_bytes": reserved_bytes, "reserved_peak_bytes": reserved_peak_bytes, "alloc_retries": alloc_retries, "ooms": ooms, "inactive_split_bytes": inactive_split_bytes}


def loader_wait(*, wait_ns: int, workers: int, pins_memory: bool) -> dict:
    """The time for which a program waited for its `DataLoader`s, and the settings of the last of them."""
    return {"wait_ns": wait_ns, "workers": workers, "pins_memory": pins_memory}


def gpu_work(*, flops: dict[str, int], bytes: int, host_bytes: int, operators: int) -> dict:
    """The GPU work of operators, counted by `python/oomph/agent/position/work.py`."""
    return {"flops": flops, "bytes": bytes, "host_bytes": host_bytes, "operators": operators}


def guard(*, body_first: int, body_last: int, handler_last: int, loop_first: int, loop_last: int, success: str, failure: str) -> dict:
    """The statement that catches an error, in the function that the error reaches there. Lines are counted from 1, 0 for none."""
    return {"body_first": body_first, "body_last": body_last, "handler_last": handler_last, "loop_first": loop_first, "loop_last": loop_last, "success": success, "failure": failure}


def process(*, pid: int, rank: int, local_rank: int, world_size: int, argv: list[str], script_dir: str, python: str, executable: str, torch: str, cuda: str | None, cudnn: int | None, started_ns: int, ancestors: list[int], monotonic_ns: int) -> dict:
    """The process; the first line."""
    return {"kind": "process", "pid": pid, "rank": rank, "local_rank": local_rank, "world_size": world_size, "argv": argv, "script_dir": script_dir, "python": python, "executable": executable, "torch": torch, "cuda": cuda, "cudnn": cudnn, "started_ns": started_ns, "ancestors": ancestors, "monotonic_ns": monotonic_ns}


def census(*, number: int, step: int, when: str, tensors: list[tuple[str, int, int, int]]) -> dict:
    """The categories of allocations at one instant. The position in the trace is that of the mark with this number."""
    return {"kind": "census", "number": number, "step": step, "when": when, "tensors": tensors}


def step(*, step: int, devices: list[dict], monotonic_ns: int, backwards: int, work: dict | None = None, at: tuple[str, int] | None = None, zeroed_at: tuple[str, int] | None = None, loader: dict | None = None) -> dict:
    """An optimizer step ended."""
    record = {"kind": "step", "step": step, "devices": devices, "monotonic_ns": monotonic_ns, "backwards": backwards}
    if work is not None:
        record["work"] = work
    if at is not None:
        record["at"] = at
    if zeroed_at is not None:
        record["zeroed_at"] = zeroed_at
    if loader is not None:
        record["loader"] = loader
    return record


def oom(*, device: int, requested_bytes: int, total_bytes: int, free_bytes: int, step: int, phase: str, module: str, stats: dict, frames: list[tuple[str, str, int]], monotonic_ns: int, records_in_eval: bool, without_grad: bool, caught_at: tuple[str, int] | None = None, lowers: str | None = None, guard: dict | None = None) -> dict:
    """The allocator is about to raise out of memory."""
    record = {"kind": "oom", "device": device, "requested_bytes": requested_bytes, "total_bytes": total_bytes, "free_bytes": free_bytes, "step": step, "phase": phase, "module": module, "stats": stats, "frames": frames, "monotonic_ns": monotonic_ns, "records_in_eval": records_in_eval, "without_grad": without_grad}
    if caught_at is not None:
        record["caught_at"] = caught_at
    if lowers is not None:
        record["lowers"] = lowers
    if guard is not None:
        record["guard"] = guard
    return record


def value_shape(*, op: str, file: str, line: int, count: int, fraction: float) -> dict:
    """A shape depends on values that only a GPU would have computed."""
    return {"kind": "value_shape", "op": op, "file": file, "line": line, "count": count, "fraction": fraction}


def value_read(*, file: str, line: int, count: int, bytes: int, sizes: int) -> dict:
    """The program read values that only a GPU would have computed (`.item()`, `.tolist()`, `.cpu()`), and got assumed ones."""
    return {"kind": "value_read", "file": file, "line": line, "count": count, "bytes": bytes, "sizes": sizes}


def kernels_missing(*, capability: str, built_for: str) -> dict:
    """PyTorch was built without kernels for the GPU: on the GPU itself the first kernel fails."""
    return {"kind": "kernels_missing", "capability": capability, "built_for": built_for}


def untrained(*, reason: str, optimizer: str, file: str, line: int, count: int, bytes: int) -> dict:
    """Parameters on GPUs that an optimizer holds and that no step trained; only where a step was made."""
    return {"kind": "untrained", "reason": reason, "optimizer": optimizer, "file": file, "line": line, "count": count, "bytes": bytes}


def ahead(*, reason: str, what: str, file: str, line: int, shares_line: bool) -> dict:
    """Work ahead of a stopped program, or never done, that may need more memory (Note `[Ahead]` in `python/oomph/agent/ahead/look.py`)."""
    return {"kind": "ahead", "reason": reason, "what": what, "file": file, "line": line, "shares_line": shares_line}


def course(*, total_steps: int | None, file: str, line: int) -> dict:
    """The loop around the optimizer's steps, where the program was stopped after its steps."""
    return {"kind": "course", "total_steps": total_steps, "file": file, "line": line}


def stage(*, stage: str, step: int, file: str, line: int) -> dict:
    """A stage of the program's life begins for the first time."""
    return {"kind": "stage", "stage": stage, "step": step, "file": file, "line": line}


def shortened(*, file: str, line: int, passes: int, total: int | None, reason: str) -> dict:
    """A loop of which a dry run left passes out."""
    return {"kind": "shortened", "file": file, "line": line, "passes": passes, "total": total, "reason": reason}


def batches(*, file: str, line: int, scanned: int, total: int | None, largest: int | None, shape: str, bound: str) -> dict:
    """The sizes of the batches of a data loader, found without running the model."""
    return {"kind": "batches", "file": file, "line": line, "scanned": scanned, "total": total, "largest": largest, "shape": shape, "bound": bound}


def loop(*, depth: int, file: str, line: int, last_line: int) -> dict:
    """A loop around a line of the stack at the last out-of-memory error, outermost first (`python/oomph/agent/position/enclosing.py`)."""
    return {"kind": "loop", "depth": depth, "file": file, "line": line, "last_line": last_line}


def root(*, number: int, name: str, last_call: int, is_running: bool, addresses: list[int], is_without_grad: bool) -> dict:
    """A root module, as it is at the last out-of-memory error, else at the end (`python/oomph/agent/memory/living.py`)."""
    return {"kind": "root", "number": number, "name": name, "last_call": last_call, "is_running": is_running, "addresses": addresses, "is_without_grad": is_without_grad}


def gradient_graph(*, file: str, line: int) -> dict:
    """A backward that wrote gradients with a graph of their own, once for each line of the user's code (`backward(create_graph=True)`)."""
    return {"kind": "gradient_graph", "file": file, "line": line}


def held(*, holder: str, what: str, file: str, line: int, addresses: list[int]) -> dict:
    """Tensors in the hands of a holder at the last out-of-memory error (`python/oomph/agent/memory/living.py`)."""
    return {"kind": "held", "holder": holder, "what": what, "file": file, "line": line, "addresses": addresses}


def visible(*, addresses: list[int]) -> dict:
    """The reachable tensors at the last out-of-memory error; autograd or a library keeps the rest."""
    return {"kind": "visible", "addresses": addresses}


def keeper(*, container: str, owner: str, name: str, file: str, line: int, addresses: list[int]) -> dict:
    """A container with many tensors at the last out-of-memory error (`python/oomph/agent/memory/keepers.py`)."""
    return {"kind": "keeper", "container": container, "owner": owner, "name": name, "file": file, "line": line, "addresses": addresses}


def fraction(*, fraction: float, file: str, line: int) -> dict:
    """A limit that the program set for itself."""
    return {"kind": "fraction", "fraction": fraction, "file": file, "line": line}


def leftover(*, file: str, line: int, allocated_bytes: int, name: str, what: str, kept_bytes: int) -> dict:
    """A variable that keeps memory after the program has emptied PyTorch's cache (`python/oomph/agent/memory/leftovers.py`)."""
    return {"kind": "leftover", "file": file, "line": line, "allocated_bytes": allocated_bytes, "name": name, "what": what, "kept_bytes": kept_bytes}


def attempt(*, file: str, line: int, name: str, tried: list[int], now: int, is_set: bool) -> dict:
    """The number that became smaller after out-of-memory errors (Note `[Attempts]` in `python/oomph/agent/memory/attempts.py`)."""
    return {"kind": "attempt", "file": file, "line": line, "name": name, "tried": tried, "now": now, "is_set": is_set}


def operation(*, functions: list[str], text: str, shapes: list[list[int]], result: list[int], operands: list[list[int]], input: list[int], out_features: int, scores: list[int], is_sdpa: bool) -> dict:
    """The operation whose request failed last, by the innermost line of the user's code (`python/oomph/agent/memory/operation.py`)."""
    return {"kind": "operation", "functions": functions, "text": text, "shapes": shapes, "result": result, "operands": operands, "input": input, "out_features": out_features, "scores": scores, "is_sdpa": is_sdpa}


def gpu(*, device: int, name: str, total_bytes: int, free_bytes: int | None) -> dict:
    """A GPU of a real run; the last record of a device counts."""
    return {"kind": "gpu", "device": device, "name": name, "total_bytes": total_bytes, "free_bytes": free_bytes}


def tracker(*, library: str, run: str, name: str, place: str) -> dict:
    """The run of a tracker that a real program logs to (`python/oomph/agent/live/trackers.py`)."""
    return {"kind": "tracker", "library": library, "run": run, "name": name, "place": place}


def dump(*, events: int, step: int) -> dict:
    """PyTorch's own snapshot of a real run was written: segments and blocks, without a history."""
    return {"kind": "dump", "events": events, "step": step}


def unrecorded(*, reason: str) -> dict:
    """PyTorch records no history of the allocator in use, so there is no snapshot."""
    return {"kind": "unrecorded", "reason": reason}


def gap(*, text: str) -> dict:
    """A part of the recording of a real run that is missing."""
    return {"kind": "gap", "text": text}


def initializers_skipped(*, count: int, bytes: int) -> dict:
    """Random initialisation of large host tensors that was skipped."""
    return {"kind": "initializers_skipped", "count": count, "bytes": bytes}


def assumption(*, id: str, text: str) -> dict:
    """An assumption of the agent, like the phantom's."""
    return {"kind": "assumption", "id": id, "text": text}


def remedy(*, remedy: str, applied: bool, action: dict | None, text: str, file: str, line: int, alters: bool) -> dict:
    """A requested remedy (Note `[Remedies]` in `python/oomph/agent/remedies`) reached a site to which it applies."""
    return {"kind": "remedy", "remedy": remedy, "applied": applied, "action": action, "text": text, "file": file, "line": line, "alters": alters}


def batch(*, remedy: str, source: str, name: str, file: str, line: int, size: int, scaled: int | None) -> dict:
    """The original batch size, sequence length or resolution of the program; recorded at the end for each remedy that changes it."""
    return {"kind": "batch", "remedy": remedy, "source": source, "name": name, "file": file, "line": line, "size": size, "scaled": scaled}


def own_option(*, names: list[str], value: str, on: str, choices: list[str], help: str) -> dict:
    """A setting that the program offers of its own; recorded on request (`python/oomph/agent/remedies/own_options.py`)."""
    return {"kind": "own_option", "names": names, "value": value, "on": on, "choices": choices, "help": help}


def checkpoint_unread(*, count: int, bytes: int) -> dict:
    """Weights of checkpoint files that were not read."""
    return {"kind": "checkpoint_unread", "count": count, "bytes": bytes}


def stand_in(*, what: str, name: str, source: str, tensors: int, bytes: int, fetched_bytes: int) -> dict:
    """A stand-in for a missing input of the program (Note `[Missing weights]` in `python/oomph/agent/scenery/weights`)."""
    return {"kind": "stand_in", "what": what, "name": name, "source": source, "tensors": tensors, "bytes": bytes, "fetched_bytes": fetched_bytes}


def longest_text(*, tokens: int, allowed: int | None) -> dict:
    """The longest text of a made-up tokenizer, where the length of a text is a guess that matters."""
    return {"kind": "longest_text", "tokens": tokens, "allowed": allowed}


def replaced(*, name: str, library: str, found: str, is_known: bool, is_run: bool) -> dict:
    """A function of PyTorch or another library that the agent replaced (Note `[Replacements]` in `python/oomph/agent/hooks`): with parameters that the agent does not know, or, where `OOMPH_REPLACED` is set, any."""
    return {"kind": "replaced", "name": name, "library": library, "found": found, "is_known": is_known, "is_run": is_run}


def outside(*, library: str, action: str, count: int) -> dict:
    """Acts on the outside that a dry run suppressed, of one kind and library (Note `[Off line]` in `python/oomph/agent/scenery/outside`)."""
    return {"kind": "outside", "library": library, "action": action, "count": count}


def error(*, type: str, message: str, oom: bool, file: str | None, line: int | None, traceback: str, monotonic_ns: int) -> dict:
    """An exception ended the program."""
    return {"kind": "error", "type": type, "message": message, "oom": oom, "file": file, "line": line, "traceback": traceback, "monotonic_ns": monotonic_ns}


def stop(*, mark: str, devices: list[dict], frames: list[tuple[str, str, int]]) -> dict:
    """oomph asked the process to end (Note `[Stop]` in `crates/wire/src/signal.rs`): the state at that moment."""
    return {"kind": "stop", "mark": mark, "devices": devices, "frames": frames}


def end(*, reason: str, steps: int, devices: list[dict], snapshot: str | None, monotonic_ns: int) -> dict:
    """The end of the process; the last line."""
    return {"kind": "end", "reason": reason, "steps": steps, "devices": devices, "snapshot": snapshot, "monotonic_ns": monotonic_ns}
