"""The transformer of Stable Diffusion 3 onto the GPU by `device_map`, cast to float16."""

import torch
from diffusers import SD3Transformer2DModel
from figures import run, show, zero

FORMS = "folder", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    model = SD3Transformer2DModel(
        sample_size=32, num_layers=3, attention_head_dim=32, num_attention_heads=8, joint_attention_dim=512, caption_projection_dim=256,
        pooled_projection_dim=256, pos_embed_max_size=32,
    )  # fmt: skip
    zero(model).save_pretrained(folder)


def load(source):
    model = SD3Transformer2DModel.from_pretrained(source, torch_dtype=torch.float16, device_map="cuda")
    show()
    with torch.no_grad():
        model(
            hidden_states=torch.zeros(1, 16, 32, 32, dtype=torch.float16, device="cuda"),
            encoder_hidden_states=torch.zeros(1, 16, 512, dtype=torch.float16, device="cuda"),
            pooled_projections=torch.zeros(1, 256, dtype=torch.float16, device="cuda"),
            timestep=torch.ones(1, device="cuda"),
        )
    show()


run(make, load)
