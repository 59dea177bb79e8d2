"""An autoencoder of diffusers in float16, from an old `.bin`."""

import torch
from diffusers import AutoencoderKL
from figures import run, show, zero

FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.bin",)


def make(folder):
    vae = AutoencoderKL(
        block_out_channels=(64, 128, 256), latent_channels=4, down_block_types=("DownEncoderBlock2D",) * 3, up_block_types=("UpDecoderBlock2D",) * 3
    )
    zero(vae).save_pretrained(folder, safe_serialization=False)


def load(source):
    vae = AutoencoderKL.from_pretrained(source, torch_dtype=torch.float16).to("cuda")
    show()
    with torch.no_grad():
        vae.encode(torch.zeros(1, 3, 128, 128, dtype=torch.float16, device="cuda")).latent_dist.mode()
    show()


run(make, load)
