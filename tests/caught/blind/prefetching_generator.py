# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["fits", "fits so far"]
# search = false
# then = "went on (nothing runs out: at most five batches of 1 GiB are alive at a time)"
# why = "a prefetch thread passes its errors through a queue to a generator, under ExitStack and contextlib.suppress"
# ///
import contextlib
import queue
import threading

import torch
from torch import nn

END = object()


def produce(count, out):
    try:
        for _ in range(count):
            batch = torch.randn(64, 4096, 1024, device="cuda")
            out.put(batch)
            del batch
    except torch.cuda.OutOfMemoryError as error:
        out.put(error)
    finally:
        out.put(END)


def prefetch(count, depth=2):
    ready = queue.Queue(maxsize=depth)
    threading.Thread(target=produce, args=(count, ready), daemon=True).start()
    while True:
        item = ready.get()
        if item is END:
            return
        if isinstance(item, Exception):
            raise item
        yield item
        del item


def main():
    model = nn.Linear(1024, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    done = 0
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: print(f"closing after {done} steps"))
        stack.enter_context(contextlib.suppress(torch.cuda.OutOfMemoryError))
        for batch in prefetch(8):
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            done += 1
            del batch, loss
    print(f"{done} steps")


if __name__ == "__main__":
    main()
