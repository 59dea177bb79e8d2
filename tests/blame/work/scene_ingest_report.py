# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "exception"
# first_finding = ["exception-holds-frames"]
# lines = [28, 43]
# why = "every scene but each fourth raises in check() with `cube` (96 x 1024 x 1024 x 4 B = 384 MiB) in prepare()'s frame; the stored errors keep the frames by their tracebacks: 22 x 384 = 8448 of 5734 MiB, full after 14 bad scenes; one scene needs 2 x 384 MiB"
# ///
"""Ingest of hyperspectral scenes; bad scenes are skipped and reported at the end."""

import torch

BANDS, SIDE = 96, 1024


class BadScene(ValueError):
    pass


def check(name, calibration):
    if calibration is None:
        raise BadScene(f"{name} has no calibration")


def prepare(name, calibration):
    cube = torch.rand(BANDS, SIDE, SIDE, device="cuda")
    check(name, calibration)
    cube.mul_(calibration)
    return (cube - cube.mean(dim=(1, 2), keepdim=True)).amax(dim=0).cpu()


class Ingest:
    def __init__(self):
        self.good, self.failures = {}, []

    def run(self, scenes):
        for name, calibration in scenes:
            try:
                self.good[name] = prepare(name, calibration).shape
            except BadScene as error:
                self.failures.append(error)
        return self

    def report(self):
        print(len(self.good), "scenes")
        for error in self.failures:
            print("skipped:", error)


catalogue = [(f"scene-{i:03d}", 1.5 if i % 4 == 0 else None) for i in range(30)]
Ingest().run(catalogue).report()
