"""A DataLoader's worker hands over batches for which the shared memory has no room."""

# /// expect
# rule = "shm"
# text = ["shm"]
# needs_text = true
# shared = "16m"
# ///

import torch


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.zeros(3, 224, 224)


@torch.no_grad()
def main():
    model = torch.nn.Conv2d(3, 8, 3).cuda()
    loader = torch.utils.data.DataLoader(Images(), batch_size=32, num_workers=1)
    for images in loader:  # the cause
        model(images.cuda())


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
