"""The UNet of Stable Diffusion alone, from its folder in the repository."""

import torch
from diffusers import UNet2DConditionModel
from figures import run, show, zero

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    unet = UNet2DConditionModel(
        sample_size=32, block_out_channels=(64, 128), layers_per_block=1, cross_attention_dim=128, attention_head_dim=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    zero(unet).save_pretrained(f"{folder}/unet")


def load(source):
    unet = UNet2DConditionModel.from_pretrained(source, subfolder="unet", use_safetensors=True).to("cuda")
    show()
    optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-5)
    latents, text = torch.zeros(2, 4, 32, 32, device="cuda"), torch.zeros(2, 77, 128, device="cuda")
    unet(latents, torch.tensor([1, 2], device="cuda"), text).sample.square().mean().backward()
    optimizer.step()
    show()


run(make, load)
