# /// expect
# run = "check"
# vram = "6GiB"
# verdict = ["does not fit"]
# line = 36
# requested_bytes = 7549747200
# then = "dropped in a thread (the executor keeps the error in the future, the loop logs it and trains on)"
# why = "validation is handed to a ThreadPoolExecutor and its future is only ever asked for .exception()"
# ///
import logging
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import nn

logging.basicConfig(level=logging.INFO)
log = logging.getLogger("segment")
CLASSES = 150


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, kernel_size=4, stride=4)
        self.classify = nn.Conv2d(64, CLASSES, kernel_size=1)

    def forward(self, image):
        return self.classify(F.relu(self.stem(image)))


def validate(model, side=1024, images=12):
    with torch.no_grad():
        batch = torch.randn(images, 3, side, side, device="cuda")
        coarse = model(batch)
        full = F.interpolate(coarse, size=(side, side), mode="bilinear", align_corners=False)
        return full.argmax(dim=1).float().mean()


def main():
    model = Segmenter().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="validate")
    pending = None
    for step in range(8):
        if pending is not None:
            error = pending.exception()
            if error is not None:
                log.error("validation did not finish: %s", error)
            else:
                log.info("mean class %.2f", pending.result())
            pending = None
        image = torch.randn(2, 3, 512, 512, device="cuda")
        label = torch.randint(0, CLASSES, (2, 512, 512), device="cuda")
        logits = F.interpolate(model(image), size=(512, 512), mode="bilinear", align_corners=False)
        loss = F.cross_entropy(logits, label)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            pending = pool.submit(validate, model)
    pool.shutdown()
    log.info("done")


if __name__ == "__main__":
    main()
