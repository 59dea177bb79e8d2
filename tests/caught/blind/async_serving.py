# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["does not fit"]
# line = 20
# requested_bytes = 17179869184
# then = "skipped the request (asyncio.gather hands the error back as a result, it is counted and answered with 503)"
# why = "async servers gather their requests with return_exceptions=True and look at the types afterwards"
# ///
import asyncio

import torch
from torch import nn

LAYERS, HEADS, HEAD_DIM = 32, 32, 128


def new_cache(tokens):
    shape = (LAYERS, 2, 1, HEADS, tokens, HEAD_DIM)
    return torch.zeros(shape, dtype=torch.float16, device="cuda")


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.kv = nn.Linear(HEADS * HEAD_DIM, 2 * HEADS * HEAD_DIM, bias=False)

    @torch.no_grad()
    def forward(self, x, cache, position):
        for layer in range(LAYERS):
            k, v = self.kv(x).view(2, 1, HEADS, HEAD_DIM)
            cache[layer, 0, :, :, position] = k
            cache[layer, 1, :, :, position] = v
            past = cache[layer, :, :, :, : position + 1]
            weights = torch.softmax(torch.einsum("bhd,bhtd->bht", k, past[0]), dim=-1)
            x = torch.einsum("bht,bhtd->bhd", weights, past[1]).reshape(1, -1)
        return x


async def handle(decoder, gate, context, new_tokens=4):
    async with gate:
        cache = new_cache(context)
        x = torch.randn(1, HEADS * HEAD_DIM, device="cuda", dtype=torch.float16)
        for position in range(new_tokens):
            x = decoder(x, cache, position)
            await asyncio.sleep(0)
        return x.float().norm().item()


async def main():
    decoder = Decoder().half().cuda()
    gate = asyncio.Semaphore(1)
    contexts = [2048, 1024, 32768, 2048, 4096]
    answers = await asyncio.gather(*(handle(decoder, gate, c) for c in contexts), return_exceptions=True)
    for context, answer in zip(contexts, answers):
        if isinstance(answer, torch.cuda.OutOfMemoryError):
            print(f"503 context={context}")
        elif isinstance(answer, BaseException):
            raise answer
        else:
            print(f"200 context={context} norm={answer:.3f}")


asyncio.run(main())
