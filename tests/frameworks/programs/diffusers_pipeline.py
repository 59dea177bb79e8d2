"""diffusers: a pipeline with a transformer (DiT), sampled with a scheduler."""

import torch
from diffusers import DDIMScheduler, DiTPipeline, AutoencoderKL, DiTTransformer2DModel

transformer = DiTTransformer2DModel(num_attention_heads=4, attention_head_dim=32, in_channels=4, out_channels=8,
                                    num_layers=2, sample_size=16, patch_size=2, num_embeds_ada_norm=1000)
vae = AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2,
                    up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, norm_num_groups=8)
pipeline = DiTPipeline(transformer, vae, DDIMScheduler()).to("cuda", torch.float16)
pipeline.set_progress_bar_config(disable=True)
images = pipeline(class_labels=[1, 2], num_inference_steps=5, output_type="np").images
print(images.shape)
