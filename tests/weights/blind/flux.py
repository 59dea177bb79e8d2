"""The transformer of FLUX in bfloat16, in shards."""

import torch
from diffusers import FluxTransformer2DModel
from figures import run, show, zero

FORMS = "folder", "hub", "cache"
# Before 0.33 the shards are loaded from beside their index.
NEEDS = ("diffusers 0.33",)
WEIGHTS = ("*.safetensors",)


def make(folder):
    model = FluxTransformer2DModel(
        num_layers=1, num_single_layers=2, attention_head_dim=32, num_attention_heads=8, joint_attention_dim=512, pooled_projection_dim=256,
        axes_dims_rope=(8, 12, 12),
    )  # fmt: skip
    zero(model).to(torch.bfloat16).save_pretrained(f"{folder}/transformer", max_shard_size="6MB")


def load(source):
    model = FluxTransformer2DModel.from_pretrained(source, subfolder="transformer", torch_dtype=torch.bfloat16)
    model.requires_grad_(False)
    model.to("cuda")
    show()
    with torch.no_grad():
        model(
            hidden_states=torch.zeros(1, 64, 64, dtype=torch.bfloat16, device="cuda"),
            encoder_hidden_states=torch.zeros(1, 16, 512, dtype=torch.bfloat16, device="cuda"),
            pooled_projections=torch.zeros(1, 256, dtype=torch.bfloat16, device="cuda"),
            timestep=torch.ones(1, dtype=torch.bfloat16, device="cuda"),
            img_ids=torch.zeros(64, 3, device="cuda"),
            txt_ids=torch.zeros(16, 3, device="cuda"),
        )
    show()


run(make, load)
