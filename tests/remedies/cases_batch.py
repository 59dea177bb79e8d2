"""Remedies of size: the batch, whole or in parts, the sequences, the images."""

from case import Case, block, blocks
from peaks import SCALAR, WORKSPACES, Residual


# 1024 features, 4096 in between, 16 classes; weights and biases.
PARAMETERS = blocks(4096 * 1024 * 4, 4096 * 4, 16 * 4096 * 4, 16 * 4)


def features(rows: int) -> int:
    """The input of the model."""
    return block(rows * 1024 * 4)


def hidden(rows: int) -> int:
    """The hidden values."""
    return block(rows * 4096 * 4)


def labels(rows: int) -> int:
    """A class for each row, as a 64-bit number."""
    return block(rows * 8)


def backward(rows: int) -> int:
    """The end of backward: all gradients, the features, and the gradient of what is in between; the loss and its gradient."""
    return WORKSPACES + 2 * PARAMETERS + features(rows) + hidden(rows) + 2 * SCALAR


def trainer(rows: int) -> int:
    """The Trainer holds the batch, and four numbers of its own, such as the sum of losses."""
    return backward(rows) + labels(rows) + 4 * SCALAR


def lightning(rows: int) -> int:
    """Lightning frees gradients after the forward: they are alive while the activation is computed. It holds four numbers."""
    return WORKSPACES + 2 * PARAMETERS + features(rows) + 2 * hidden(rows) + labels(rows) + 4 * SCALAR


def forward(side: int) -> int:
    """image_transforms.py: eight images, the same at half their size, and their ten classes."""
    return WORKSPACES + blocks(10 * 3 * (side // 2) ** 2 * 4, 10 * 4, 8 * 3 * side**2 * 4, 8 * 3 * (side // 2) ** 2 * 4, 8 * 10 * 4)


def scaled(program: str, name: str, line: int, by_hand: tuple[str, str], peak=backward, needs: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> Case:
    """A program whose batches of 256 become 512, because `name` is changed at a line."""
    note = f"batch-size was applied: {name} is 512 instead of 256 (line {line})"
    return Case(program, "batch-size:size=512", peak(256), peak(512), (note,), (by_hand,), needs=needs, options=options)


CASES = [
    scaled("batch_argparse", "--batch-size", 12, ("type=int, default=256", "type=int, default=512")),
    scaled("batch_click", "--bs", 22, ("default=256", "default=512")),
    scaled("batch_loader", "DataLoader", 9, ("train_set, batch_size=256", "train_set, batch_size=512"), options=("--steps", "3")),
    scaled("batch_constant", "BATCH_SIZE", 8, ("BATCH_SIZE = 256", "BATCH_SIZE = 512"), lambda rows: backward(rows) + labels(rows)),
    scaled(
        "batch_trainer",
        "per_device_train_batch_size",
        29,
        ("train_batch_size=256", "train_batch_size=512"),
        trainer,
        ("transformers", "accelerate"),
    ),
    scaled("batch_datamodule", "batch_size", 10, ("self, batch_size=256", "self, batch_size=512"), lightning, ("lightning",)),
    Case(
        "batch_argparse",
        "batch-size:size=512",
        backward(64),
        backward(512),
        ("--batch-size is 512 instead of 64 (line 12)",),
        arguments=("-b", "64"),
    ),
    Case("batch_argparse", "own-options:--batch-size=512", backward(256), backward(512), ()),
    Case(
        "batch_loader",
        "batch-size:probe=true",
        backward(256),
        backward(256),
        ("DataLoader is 256 (line 9)", "DataLoader is 256, which is not taken for the batch size of training (line 10)"),
        # Of training alone: the evaluation, in which the gradients are alive, follows after 16 steps.
        options=("--steps", "3"),
    ),
    Case(
        "batch_unnamed",
        "batch-size:size=512",
        backward(256),
        backward(256),
        ("batch-size was not applied: no batch size was found", "the model is given 256x1024 values", "with --batch-arg"),
    ),
    Case(
        "batch_unnamed",
        "batch-size:size=512:arg=rows",
        backward(256),
        backward(512),
        ("rows is 512 instead of 256 (line 6)",),
        (("rows = 256", "rows = 512"),),
    ),
    Case(
        "batch_unnamed",
        "batch-size:size=512:arg=columns",
        backward(256),
        backward(256),
        ("batch-size was not applied: nothing named columns was found that is a number",),
    ),
    Case(
        "batch_ignored",
        "batch-size:size=512",
        backward(256),
        backward(256),
        ("batch-size was not applied: --batch-size does not reach the model: it is still given 256x1024 values",),
    ),
    Case(
        "sequence_option",
        "sequence-length:length=16",
        backward(8 * 32),
        backward(8 * 16),
        ("sequence-length was applied: --seq-len is 16 instead of 32 (line 10)",),
        (("default=32", "default=16"),),
    ),
    Case(
        "image_transforms",
        "resolution:size=96",
        forward(128),
        forward(96),
        ("resolution was applied: CenterCrop is 96 instead of 128 (line 9)",),
        (("Resize(144)", "Resize(108)"), ("CenterCrop(128)", "CenterCrop(96)")),
        needs=("torchvision",),
    ),
    Case(
        "tokens_loader",
        "gradient-accumulation:steps=4",
        Residual.PEAK,
        Residual.ACCUMULATED,
        ("DataLoader(batch_size=256) in place of 1024", "(loss / 4).backward()", "SGD.step() once in 4 calls"),
        by_hand=Residual.ACCUMULATION,
    ),
    Case(
        "tokens_loader",
        "batch-size:size=256,gradient-accumulation:steps=4",
        Residual.PEAK,
        Residual.ACCUMULATED,
        ("(loss / 4).backward()", "SGD.step() once in 4 calls"),
        by_hand=Residual.ACCUMULATION,
    ),
    Case(
        "tokens_loader",
        "gradient-accumulation:steps=3",
        Residual.PEAK,
        Residual.PEAK,
        ("gradient-accumulation was not applied: a batch of 1024 is not divisible by 3",),
    ),
    Case(
        "residual_blocks",
        "gradient-accumulation:steps=4",
        Residual.PEAK,
        Residual.PEAK,
        ("gradient-accumulation was not applied: no DataLoader gave a batch",),
    ),
]
