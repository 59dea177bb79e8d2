"""A pipeline of Stable Diffusion in half precision, and an image."""

import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from figures import run, show, zero
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

# A tokenizer of a vocabulary in memory.
NEEDS = ("transformers 5.0",)
FORMS = "folder", "hub", "cache"
WEIGHTS = ("*.safetensors",)


def make(folder):
    unet = UNet2DConditionModel(
        sample_size=32, block_out_channels=(64, 128), layers_per_block=1, cross_attention_dim=256, attention_head_dim=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    vae = AutoencoderKL(
        block_out_channels=(64, 128), latent_channels=4, down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2
    )
    vocabulary = {word: number for number, word in enumerate(["<|startoftext|>", "<|endoftext|>", "a</w>", "c", "a", "t</w>", "ca", "cat</w>"])}
    tokenizer = CLIPTokenizer(vocab=vocabulary, merges=[("c", "a"), ("ca", "t</w>")], model_max_length=77)
    text = CLIPTextModel(
        CLIPTextConfig(vocab_size=8000, hidden_size=256, intermediate_size=1024, num_hidden_layers=2, num_attention_heads=4, eos_token_id=1)
    )
    pipeline = StableDiffusionPipeline(
        zero(vae), zero(text), tokenizer, zero(unet), DDIMScheduler(), safety_checker=None, feature_extractor=None, requires_safety_checker=False
    )
    pipeline.save_pretrained(folder)


def load(source):
    pipeline = StableDiffusionPipeline.from_pretrained(source, torch_dtype=torch.float16).to("cuda")
    show()
    pipeline("a cat", num_inference_steps=2, height=64, width=64, output_type="pt")
    show()


run(make, load)
