# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "exception"
# no_finding = ["exception-holds-frames"]
# why = "of an error its text is stored, not the error, so that the frame of prepare() and its cube of 96 x 1024 x 1024 x 4 B = 384 MiB go with the handler: a scene needs 2 x 384 MiB; nine bad scenes' cubes would be 3456 of 2662 MiB"
# ///
"""Ingest of hyperspectral scenes; bad scenes are skipped and reported at the end."""

import traceback

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
                self.failures.append((str(error), traceback.format_exc()))
        return self

    def report(self):
        print(len(self.good), "scenes")
        for message, _ in self.failures:
            print("skipped:", message)


catalogue = [(f"scene-{i:03d}", 1.5 if i % 4 == 0 else None) for i in range(12)]
Ingest().run(catalogue).report()
