"""Measures what cuDNN requests for convolutions: the evidence for the workspaces in ../src/api/cudnn/workspace.rs.

    python convolutions.py OUT.json      on a GPU; some 40 seconds
    oomph phantom --gpu h200 -- python convolutions.py OUT.json
    python convolutions.py --compare MEASURED.json PHANTOM.json

Each distinct convolution of torchvision's classification models runs forward and backward, in float32, bfloat16, and float16 with
channels last. A row has the bytes of every request of PyTorch's allocator in the forward pass, in the gradient of the input and in that of the
weight: workspaces, converted copies and the result.
"""

import json
import sys
from collections import Counter

MODELS = {
    "resnet50": [(64, 224), (8, 224), (128, 224)],
    "vgg16": [(32, 224), (4, 224)],
    "densenet121": [(48, 224)],
    "mobilenet_v3_large": [(128, 224)],
    "efficientnet_b0": [(96, 224)],
    "regnet_y_3_2gf": [(64, 224)],
    "convnext_tiny": [(64, 224)],
    "inception_v3": [(32, 299)],
    "vit_b_16": [(64, 224)],
    "swin_t": [(48, 224)],
    "resnet18": [(32, 32)],
    "resnext50_32x4d": [(32, 224)],
}
MODES = {"fp32": "float32", "bf16": "bfloat16", "fp16-cl": "float16"}
COLUMNS = ["mode", "input", "weight", "stride", "padding", "dilation", "groups", "forward", "backward_input", "backward_weight"]


def main() -> None:
    """See above."""
    if sys.argv[1] == "--compare":
        compare(*sys.argv[2:])
        return
    import torch

    rows = [measure(mode, key) for mode in MODES for key in list_convolutions()]
    versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({**versions, "columns": COLUMNS, "rows": rows}, file)


def list_convolutions() -> list[tuple]:
    """The sizes of each convolution, in order: input, weight, stride, padding, dilation, groups."""
    import torch
    import torchvision

    found: dict[tuple, None] = {}

    def note(module, arguments, _result) -> None:
        sizes = tuple(arguments[0].shape), tuple(module.weight.shape)
        found[*sizes, module.stride, module.padding, module.dilation, module.groups] = None

    for name, inputs in MODELS.items():
        model = torchvision.models.get_model(name).to("meta").eval()
        for module in model.modules():
            if isinstance(module, torch.nn.Conv2d):
                module.register_forward_hook(note)
        for batch, size in inputs:
            model(torch.empty(batch, 3, size, size, device="meta"))
    return list(found)


def measure(mode: str, key: tuple) -> list:
    """A row."""
    import torch

    sizes, weight_sizes, stride, padding, dilation, groups = key
    layout = torch.channels_last if mode.endswith("cl") else torch.contiguous_format
    make = [torch.randn(shape, device="cuda", dtype=getattr(torch, MODES[mode])) for shape in (sizes, weight_sizes)]
    inputs, weight = (tensor.contiguous(memory_format=layout) for tensor in make)
    result, forward = requests(lambda: torch.nn.functional.conv2d(inputs, weight, None, stride, padding, dilation, groups))
    backward, gradient = [], torch.zeros_like(result)
    for mask in ([True, False, False], [False, True, False]):
        geometry = stride, padding, dilation, False, [0, 0], groups, mask
        _, sizes_of_pass = requests(lambda: torch.ops.aten.convolution_backward(gradient, inputs, weight, None, *geometry))
        backward.append(sizes_of_pass)
    return [mode, *(list(part) if isinstance(part, tuple) else part for part in key), forward, *backward]


def requests(call):
    """The result of a call, and the sizes that it requested."""
    import torch

    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history(context=None, stacks="python", max_entries=10_000, clear_history=True)
    result = call()
    return result, [event["size"] for event in torch.cuda.memory._snapshot()["device_traces"][0] if event["action"] == "alloc"]


def compare(measured: str, phantom: str) -> None:
    """Prints, for each mode and pass, how many rows request equal bytes, and the quantiles of the differences in MiB."""
    one, other = (_read(path) for path in (measured, phantom))
    for mode in MODES:
        for column in (7, 8, 9):
            pairs = [(row[column], other[key][column]) for key, row in one.items() if row[0] == mode and key in other]
            kinds = Counter("equal" if sorted(a) == sorted(b) else "more" if sum(b) > sum(a) else "less" for a, b in pairs)
            sizes = sorted((sum(b) - sum(a)) / (1 << 20) for a, b in pairs)
            quantiles = [round(sizes[len(sizes) * tenth // 10], 1) for tenth in (1, 5, 9)]
            print(f"{mode:8} {COLUMNS[column]:16} {dict(kinds)} p10 p50 p90 {quantiles}")


def _read(path: str) -> dict[str, list]:
    """The rows by the convolution."""
    with open(path, encoding="utf-8") as file:
        return {json.dumps(row[:7]): row for row in json.load(file)["rows"]}


if __name__ == "__main__":
    main()
