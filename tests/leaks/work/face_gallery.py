# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [23]
# keeps_mib = 32
# allocates = ["store.py:13"]
# full_at = [108, 116]
# why = "register() in gallery/store.py keeps the unit vectors of each batch, 128 x 64 x 1024 x 4 B = 32 MiB; 140 batches of the DataLoader are 4.4 GiB"
# ///
"""Enrolment of faces: the program loops over a DataLoader, another module computes and keeps the vectors."""

import torch
from torch.utils.data import DataLoader, TensorDataset

from gallery import store

FACES, PATCHES, BATCH, BATCHES = 128 * 140, 64, 128, 140

faces = TensorDataset(torch.zeros(FACES, PATCHES, 3))
for (batch,) in DataLoader(faces, batch_size=BATCH, shuffle=False):
    store.register(batch.to("cuda"))
print("batches", len(store.vectors))
