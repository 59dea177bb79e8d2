"""The actions that a remedy records, one function for each kind. See Note [Actions] in `crates/trace/src/run/action.rs`.

Written by `make generate`; not to be edited.
"""


def apply() -> dict:
    """The only edit of the remedy; the remedy's name and settings describe the edit."""
    return {"kind": "apply"}


def set_argument(callee: str, keyword: str, value: str) -> dict:
    """A call is given a keyword argument, or another value for it."""
    return {"kind": "set-argument", "callee": callee, "keyword": keyword, "value": value}


def divide_argument(callee: str, keyword: str, parts: int) -> dict:
    """A size that a call is given is divided."""
    return {"kind": "divide-argument", "callee": callee, "keyword": keyword, "parts": parts}


def multiply_argument(callee: str, keyword: str, factor: int) -> dict:
    """A number that a call is given is multiplied; an absent one counts as 1."""
    return {"kind": "multiply-argument", "callee": callee, "keyword": keyword, "factor": factor}


def replace_class(old: str, new: str) -> dict:
    """The program constructs another class."""
    return {"kind": "replace-class", "old": old, "new": new}


def call_method(model: str, method: str) -> dict:
    """A method of the model is called once, after the model is made."""
    return {"kind": "call-method", "model": model, "method": method}


def checkpoint_blocks(classes: list[str]) -> dict:
    """The model's repeated blocks run in checkpoints."""
    return {"kind": "checkpoint-blocks", "classes": classes}


def scale_loss(steps: int) -> dict:
    """Backward starts from the loss divided by the number of micro-batches."""
    return {"kind": "scale-loss", "steps": steps}


def keep_loss() -> dict:
    """Backward starts from the loss as it is: a sum over the batch needs no division."""
    return {"kind": "keep-loss"}


def gate_step(optimizer: str, steps: int) -> dict:
    """The optimizer steps once in so many calls, together with everything that belongs to a step."""
    return {"kind": "gate-step", "optimizer": optimizer, "steps": steps}


def chunk_loss(chunks: int) -> dict:
    """A call of `cross_entropy` computes a part of the tokens at a time."""
    return {"kind": "chunk-loss", "chunks": chunks}


def chunk_head(model: str, chunks: int) -> dict:
    """A model's output layer and loss run on a part of the tokens at a time."""
    return {"kind": "chunk-head", "model": model, "chunks": chunks}


def move_zero_grad() -> dict:
    """`zero_grad` runs straight after the optimizer's step."""
    return {"kind": "move-zero-grad"}


def set_size(name: str, size: int, previous: int) -> dict:
    """A size is another number."""
    return {"kind": "set-size", "name": name, "size": size, "previous": previous}


def keep_size(name: str, size: int) -> dict:
    """A size has the wanted number already."""
    return {"kind": "keep-size", "name": name, "size": size}


def find_size(name: str, size: int) -> dict:
    """A size was found; nothing was asked of it."""
    return {"kind": "find-size", "name": name, "size": size}
