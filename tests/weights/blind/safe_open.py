"""Tensors of a file of the hub, one by one by `safe_open`."""

import torch
from figures import run, show
from huggingface_hub import snapshot_download
from safetensors import safe_open
from safetensors.torch import save_file

FORMS = ("hub",)
WEIGHTS = ("*.safetensors",)


def make(folder):
    tensors = {f"layers.{number}.weight": torch.zeros(512, 512 + 256 * number, dtype=torch.float16) for number in range(6)}
    save_file(tensors | {"scale": torch.zeros(3)}, f"{folder}/extra.safetensors")
    with open(f"{folder}/README.md", "w", encoding="utf-8") as file:
        file.write("# A model\n")


def load(source):
    folder = snapshot_download(source)
    weights = {}
    with safe_open(f"{folder}/extra.safetensors", framework="pt", device="cpu") as file:
        for name in file.keys():
            if name.startswith("layers"):
                weights[name] = file.get_tensor(name).to("cuda", torch.float32)
        show()
        weights["part"] = file.get_slice("layers.5.weight")[:100].cuda()
    show()


run(make, load)
