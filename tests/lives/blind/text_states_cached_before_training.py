# /// expect
# run = "check"
# vram = "2.75GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load", "evaluation"]
# open = "stage steps, expected load or evaluation"
# step = 1
# line = 47
# form = "enumerate(tqdm(loader)) before the training, while over epochs"
# need_gib = [3.8, 4.1]
# why = "the encoder has 32,000 x 2,048 x 4 B = 250 MiB of embeddings and 2 x 16 MiB of layers; the states of all 5,120 captions stay on the GPU: 320 batches of 16 x 80 x 2,048 x 4 B = 10 MiB, 3,200 MiB, with 2.30 GiB free; a forward pass has three tensors alive at the tanh, one more than the pass before has left free"
# ///
"""Encodes all captions once before the training, as fine-tuning scripts for image models do, and learns a denoiser on them."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


class Captions(Dataset):
    """Made captions: as many tokens as the encoder takes."""

    def __init__(self, size, tokens, vocab):
        self.size, self.tokens, self.vocab = size, tokens, vocab

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return {"id": index, "input_ids": torch.randint(self.vocab, (self.tokens,), generator=generator)}


class TextEncoder(nn.Module):
    def __init__(self, vocab=32_000, width=2048):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.proj_in = nn.Linear(width, width)
        self.proj_out = nn.Linear(width, width)

    def forward(self, ids):
        x = self.embed(ids)
        x = torch.tanh(self.proj_in(x))
        return self.proj_out(x)


class Denoiser(nn.Module):
    def __init__(self, channels=16, context=2048):
        super().__init__()
        self.context = nn.Linear(context, 64)
        self.net = nn.Sequential(nn.Linear(channels + 64, 256), nn.SiLU(), nn.Linear(256, channels))

    def forward(self, latents, states):
        context = self.context(states).mean(dim=1, keepdim=True).expand(-1, latents.shape[1], -1)
        return self.net(torch.cat([latents, context], dim=-1))


def cache_text_states(encoder, loader, device):
    encoder.eval().requires_grad_(False)
    cache = {}
    for batch in tqdm(loader, desc="caching text encoder outputs"):
        with torch.no_grad():
            states = encoder(batch["input_ids"].to(device, non_blocking=True))
        for index, row in zip(batch["id"].tolist(), states.unbind(0)):
            cache[index] = row
    return cache


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-captions", type=int, default=5120)
    parser.add_argument("--caption-tokens", type=int, default=80)
    parser.add_argument("--train-batch-size", type=int, default=8)
    parser.add_argument("--max-train-steps", type=int, default=800)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    args = parser.parse_args()

    device = torch.device("cuda")
    dataset = Captions(args.num_captions, args.caption_tokens, vocab=32_000)
    encoder = TextEncoder().to(device)
    cache = cache_text_states(encoder, DataLoader(dataset, batch_size=16), device)

    denoiser = Denoiser().to(device)
    optimizer = torch.optim.AdamW(denoiser.parameters(), lr=args.learning_rate)
    loader = DataLoader(range(len(dataset)), batch_size=args.train_batch_size, shuffle=True)
    global_step = 0
    progress = tqdm(total=args.max_train_steps)
    while global_step < args.max_train_steps:
        for indices in loader:
            states = torch.stack([cache[i] for i in indices.tolist()])
            latents = torch.randn(len(indices), 64, 16, device=device)
            noise = torch.randn_like(latents)
            loss = nn.functional.mse_loss(denoiser(latents + noise, states), noise)
            loss.backward()
            nn.utils.clip_grad_norm_(denoiser.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            global_step += 1
            progress.update(1)
            if global_step >= args.max_train_steps:
                break
    progress.close()


if __name__ == "__main__":
    main()
