# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["generation", "evaluation"]
# step = 401
# line = 51
# form = "cycle(loader) with islice, callbacks asked each step, a list of milestones"
# need_gib = [7.7, 8.3]
# why = "256 stories: the scores of each token are 256 x 16,384 x 4 B = 16 MiB, and all of 240 tokens are kept: 3,840 MiB with 3.55 GiB free, so about the 220th token is refused: its scores take one of the two blocks that the token before has left, the division the other, and the softmax asks for a new one; without a limit they are also stacked: 7.5 GiB"
# ///
"""A recurrent model of stories; at milestones a callback writes stories and keeps the scores of all tokens for their entropy."""

import argparse
from itertools import chain, islice, repeat

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def cycle(loader):
    return chain.from_iterable(repeat(loader))


class StoryModel(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.width = width
        self.embed = nn.Embedding(vocab, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        state = torch.zeros(len(ids), self.width, device=ids.device)
        states = []
        for token in self.embed(ids).unbind(1):
            state = self.cell(token, state)
            states.append(state)
        return self.head(torch.stack(states, dim=1))

    @torch.no_grad()
    def generate(self, count, max_new_tokens, temperature=0.9, output_scores=False):
        token = torch.zeros(count, dtype=torch.long, device="cuda")
        state = torch.zeros(count, self.width, device="cuda")
        story, scores = [token], []
        for _ in range(max_new_tokens):
            state = self.cell(self.embed(token), state)
            logits = self.head(state)
            token = torch.multinomial(logits.div(temperature).softmax(dim=-1), 1).squeeze(1)
            story.append(token)
            if output_scores:
                scores.append(logits)
        return torch.stack(story, dim=1), torch.stack(scores) if scores else None


class Callback:
    def on_step_end(self, step, model): ...

    def on_train_end(self, step, model): ...


class WriteStories(Callback):
    def __init__(self, milestones, count, tokens):
        self.milestones, self.count, self.tokens = set(milestones), count, tokens

    def on_step_end(self, step, model):
        if step in self.milestones:
            stories, scores = model.generate(self.count, self.tokens, output_scores=True)
            entropy = torch.stack([torch.special.entr(row.softmax(-1)).sum(-1).mean() for row in scores]).mean()
            print(f"step {step}: {len(stories)} stories, entropy {entropy.item():.3f}")


class LogLoss(Callback):
    def __init__(self, every):
        self.every = every

    def on_train_end(self, step, model):
        print(f"done after {step} steps")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=16_384)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--window", type=int, default=16)
    parser.add_argument("--max-steps", type=int, default=900)
    parser.add_argument("--story-milestones", type=int, nargs="*", default=[400, 800])
    parser.add_argument("--stories", type=int, default=256)
    parser.add_argument("--story-tokens", type=int, default=240)
    args = parser.parse_args()

    rows = torch.randint(args.vocab, (2000, args.window + 1))
    loader = DataLoader(TensorDataset(rows), args.batch_size, shuffle=True)
    model = StoryModel(args.vocab, args.width).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    callbacks = [LogLoss(100), WriteStories(args.story_milestones, args.stories, args.story_tokens)]
    step = 0
    for (batch,) in islice(cycle(loader), args.max_steps):
        batch = batch.cuda()
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        for callback in callbacks:
            callback.on_step_end(step, model)
    for callback in callbacks:
        callback.on_train_end(step, model)


if __name__ == "__main__":
    main()
