# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# step = 1201
# line = 39
# form = "epochs x batches in a function, test in main"
# need_gib = [6.5, 7.1]
# why = "the last model and the best one, loaded beside it for the test, are 2 x 0.31 GiB; the predictions of 44 test batches, 4,096 x 8,192 x 4 B = 128 MiB each, are kept: 5.5 GiB more; 4.55 are free"
# ///
"""After training, the best model is rebuilt, and both are asked for all of the test set."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Embedding(32_768, 2048), nn.Linear(2048, 8192)).cuda()


def train(model, epochs, batches):
    optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
    for _ in range(epochs):
        for _ in range(batches):
            ids = torch.randint(32_768, (8,), device="cuda")
            loss = nn.functional.cross_entropy(model(ids), ids % 8192)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.zero_grad()


@torch.no_grad()
def predict(model, batches):
    answers = []
    for n in range(batches):
        answers.append(model(torch.arange(4096, device="cuda") + n))
    return answers


def main():
    last = build()
    train(last, epochs=3, batches=400)
    best = build()
    best.load_state_dict(last.state_dict())
    agree = [(a.argmax(1) == b.argmax(1)).float().mean() for a, b in zip(predict(last, 22), predict(best, 22))]
    print(sum(agree).item() / len(agree))


main()
