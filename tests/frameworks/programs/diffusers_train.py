"""diffusers: a training step of a small UNet with the noise scheduler and EMA, as its training script has it."""

import torch
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.training_utils import EMAModel

model = UNet2DModel(sample_size=32, block_out_channels=(64, 128), layers_per_block=1, norm_num_groups=8,
                    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D")).cuda()
ema = EMAModel(model.parameters(), model_cls=UNet2DModel, model_config=model.config)
ema.to("cuda")
scheduler = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(4):
    clean = torch.randn(8, 3, 32, 32, device="cuda")
    noise = torch.randn_like(clean)
    steps = torch.randint(0, 1000, (8,), device="cuda").long()
    loss = torch.nn.functional.mse_loss(model(scheduler.add_noise(clean, noise, steps), steps).sample, noise)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    ema.step(model.parameters())
