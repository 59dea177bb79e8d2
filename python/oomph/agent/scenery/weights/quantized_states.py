"""The tensors that quantized checkpoints hold beside a model's own. See Note [Missing weights].

Their writers: `Linear4bit._save_to_state_dict`, `QuantState.as_dict` and `Linear8bitLt._save_to_state_dict` (`bitsandbytes/nn/modules.py`,
`bitsandbytes/functional.py`, 0.50), and the packed layers of compressed-tensors 0.20. A few values decide shapes while a library loads:
these are real.
"""

import json
import math
import struct

import torch

from ...host.hollow import Shape, shape_of
from .state_files import State

# Elements of a weight for a scale, and scales for a scale of scales (`quantize_4bit`, `quantize_blockwise`).
_BLOCK, _NESTED_BLOCK = 64, 256
_CODES_4BIT, _CODES_8BIT = 16, 256


def add_quantized(model: torch.nn.Module, state: State, settings: object, dtype: torch.dtype) -> State:
    """The state of a pre-quantized checkpoint: `state` is that of the model with replaced layers, before any weight is loaded."""
    made = State(dict(state.shapes), dict(state.values))
    for name, module in model.named_modules():
        kind = type(module).__name__
        if kind == "Linear4bit" and f"{name}.weight" in made.shapes:
            _add_4bit(made, f"{name}.weight", module, settings, dtype)
        elif kind == "Linear8bitLt" and f"{name}.weight" in made.shapes:
            _add_8bit(made, name, module)
        elif f"{name}.weight_shape" in made.shapes:
            made.values[f"{name}.weight_shape"] = struct.pack("<2q", module.out_features, module.in_features)
    return made


def _add_4bit(made: State, name: str, module, settings: object, dtype: torch.dtype) -> None:
    sizes = (module.out_features, module.in_features)
    blocks = -(-math.prod(sizes) // _BLOCK)
    kind = getattr(settings, "bnb_4bit_quant_type", "nf4")
    described: dict[str, object] = {"quant_type": kind, "blocksize": _BLOCK, "dtype": _name_of(dtype), "shape": sizes}
    made.shapes[name] = _packed(math.prod(sizes), getattr(settings, "bnb_4bit_quant_storage", torch.uint8))
    made.shapes[f"{name}.quant_map"] = Shape("F32", (_CODES_4BIT,))
    if getattr(settings, "bnb_4bit_use_double_quant", False):
        described |= {"nested_blocksize": _NESTED_BLOCK, "nested_dtype": "float32", "nested_offset": 0.0}
        made.shapes[f"{name}.absmax"] = Shape("U8", (blocks,))
        made.shapes[f"{name}.nested_absmax"] = Shape("F32", (-(-blocks // _NESTED_BLOCK),))
        made.shapes[f"{name}.nested_quant_map"] = Shape("F32", (_CODES_8BIT,))
    else:
        made.shapes[f"{name}.absmax"] = Shape("F32", (blocks,))
    text = json.dumps(described).encode()
    made.shapes[f"{name}.quant_state.bitsandbytes__{kind}"] = Shape("U8", (len(text),))
    made.values[f"{name}.quant_state.bitsandbytes__{kind}"] = text


def _packed(elements: int, storage: torch.dtype | str) -> Shape:
    """Two elements in a byte, in a column of the storage's dtype."""
    dtype = getattr(torch, storage) if isinstance(storage, str) else storage
    column = torch.empty((-(-elements // 2) // dtype.itemsize, 1), dtype=dtype, device="meta")
    return shape_of(column)


def _add_8bit(made: State, name: str, module) -> None:
    made.shapes[f"{name}.weight"] = Shape("I8", (module.out_features, module.in_features))
    made.shapes[f"{name}.SCB"] = Shape("F32", (module.out_features,))
    made.shapes[f"{name}.weight_format"] = Shape("U8", ())


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
