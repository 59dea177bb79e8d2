"""Remedies of weights: adapters, packing, and where the weights are."""

from case import Case
from peaks import CUBLAS, SCALAR, Residual, Wide


class Sharded:
    """residual_blocks.py at 64 rows, where weights are most of it."""

    NARROW, WIDE, MATRIX = 64 * 256 * 4, 64 * 1024 * 4, Residual.MATRIX
    WEIGHTS, BLOCK = Residual.WEIGHTS, 2 * MATRIX
    FIXED = 2 * CUBLAS + 2 * SCALAR
    # At the end of backward: all gradients, the batch, and the gradient of the first layer's result.
    PEAK = FIXED + 2 * WEIGHTS + NARROW + WIDE
    # In backward of the last block but one: a quarter of the weights; of the last block the gradients on their way to the other GPUs, and
    # the resulting quarter; the weights of this block, and those of the block before as they arrive; the gradients of this block; the saved
    # tensors of the four blocks before, and the gradients of this block's inputs and results.
    IN_FLIGHT = (BLOCK + BLOCK // 4) + BLOCK + BLOCK + BLOCK
    PEAK_OF_FOUR = FIXED + WEIGHTS // 4 + IN_FLIGHT + NARROW + 4 * (2 * WIDE + NARROW) + WIDE + 2 * NARROW


def imported(package: str) -> tuple[str, str]:
    """An import of one more package."""
    return ("import torch\nfrom", f"import {package}\nimport torch\nfrom")


CASES = [
    Case(
        "wide_layers",
        "lora",
        Wide.TRAINED,
        Wide.ADAPTED,
        ("lora was applied: LoraConfig(r=8) on 4 linear layers of Sequential: 262,144 parameters are trained",),
        by_hand=(imported("peft"), (Wide.MOVE, Wide.ADAPT.format(flag=""))),
        needs=("peft",),
    ),
    Case(
        "wide_layers",
        "lora",
        Wide.TRAINED,
        Wide.TRAINED,
        ("lora was not applied: peft is not installed: pip install peft",),
        lacks=("peft",),
    ),
    Case(
        "wide_layers",
        "weights-4bit,lora",
        Wide.TRAINED,
        Wide.ADAPTED_4BIT,
        ("weights-4bit was applied: 4 Linear of Sequential have their weights in 4 bits", "lora was applied"),
        by_hand=(
            ("import torch\nfrom", "import bitsandbytes\nimport peft\nimport torch\nfrom"),
            (Wide.LINEAR, Wide.NF4),
            (Wide.MOVE, Wide.ADAPT.format(flag="model.is_loaded_in_4bit = True\n")),
        ),
        needs=("peft", "bitsandbytes"),
    ),
    Case(
        "wide_layers",
        "weights-4bit",
        Wide.INFERRED,
        Wide.INFERRED_4BIT,
        ("weights-4bit was applied: 4 Linear of Sequential have their weights in 4 bits",),
        by_hand=(imported("bitsandbytes"), (Wide.LINEAR, Wide.NF4)),
        arguments=("--infer",),
        needs=("bitsandbytes",),
    ),
    Case(
        "wide_layers",
        "weights-8bit",
        Wide.INFERRED,
        Wide.INFERRED_8BIT,
        ("weights-8bit was applied: 4 Linear of Sequential have their weights in 8 bits",),
        by_hand=(imported("bitsandbytes"), (Wide.LINEAR, Wide.INT8)),
        arguments=("--infer",),
        needs=("bitsandbytes",),
    ),
    *(
        Case(
            "wide_layers",
            f"weights-{bits}bit",
            Wide.INFERRED,
            Wide.INFERRED,
            (f"weights-{bits}bit was not applied: bitsandbytes is not installed: pip install bitsandbytes",),
            arguments=("--infer",),
            lacks=("bitsandbytes",),
        )
        for bits in (4, 8)
    ),
    Case(
        "wide_layers",
        "weights-offload",
        Wide.INFERRED,
        Wide.ONE_LAYER,
        ("weights-offload was applied: accelerate.cpu_offload(Sequential)",),
        by_hand=(
            imported("accelerate"),
            (Wide.MOVE, "for _ in range(4)])\naccelerate.cpu_offload(model, execution_device=torch.device('cuda'))\n"),
        ),
        arguments=("--infer",),
        needs=("accelerate",),
    ),
    Case(
        "residual_blocks",
        "fully-shard:gpus=4",
        Sharded.PEAK,
        Sharded.PEAK_OF_FOUR,
        ("fully-shard was applied: fully_shard(Net; 6 × Block in blocks) over 4 GPUs",),
        by_hand=(
            ("import torch\nfrom", "import torch\nfrom torch.distributed.fsdp import fully_shard\nfrom"),
            (
                "model = Net(256, args.depth).cuda()\n",
                "torch.distributed.init_process_group('nccl')\nmodel = Net(256, args.depth)\n"
                "for part in (*model.blocks, model):\n    fully_shard(part)\n",
            ),
        ),
        arguments=("--rows", "64"),
        options=("--world-size", "4"),
    ),
    Case(
        "residual_blocks",
        "fully-shard:gpus=4",
        Sharded.PEAK,
        Sharded.PEAK,
        ("fully-shard was not applied: the program was started as one of 2, not of 4 ranks",),
        arguments=("--rows", "64"),
        options=("--world-size", "2"),
    ),
]
