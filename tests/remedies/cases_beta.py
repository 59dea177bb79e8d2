"""Remedies of activations, of the loss, of weights and of where they lie."""

import re
from pathlib import Path

from case import Case, blocks

MIB = 1 << 20
# PyTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp, for compute capability 8.9: 2 x 4096 KiB + 8 x 16 KiB for a thread that
# multiplies.
WORKSPACE = 8_519_680
# A loss, the gradient of ones that backward starts with, and other single numbers.
SCALAR = 512
PAGES = Path(__file__).resolve().parents[2] / "docs" / "remedies"


class Residual:
    """residual_blocks.py: 6 blocks of 256 and 1024 features at 8192 rows; and tokens_loader.py: the same at 1024 sequences of 8."""

    ROWS, WIDTH, DEPTH = 8192, 256, 6
    NARROW, WIDE = ROWS * WIDTH * 4, ROWS * 4 * WIDTH * 4
    MATRIX = WIDTH * 4 * WIDTH * 4
    WEIGHTS = DEPTH * 2 * MATRIX
    FIXED = WEIGHTS + 2 * WORKSPACE + 2 * SCALAR
    # Each block saves its input and, of the wide ones, the input and the result of GELU. In backward of the last layer there are
    # besides the gradients of its result, of its input and of its weight.
    SAVED = DEPTH * (NARROW + 2 * WIDE)
    IN_BACKWARD = NARROW + WIDE
    PEAK = FIXED + SAVED + IN_BACKWARD + MATRIX
    # The wide ones of one block are there, computed again.
    CHECKPOINTED = PEAK - (DEPTH - 1) * 2 * WIDE
    FIRST_TWO = PEAK - 2 * 2 * WIDE
    # In GELU's backward: what it saved, its gradient and its result's; the batch, the gradient that goes past the second block, and
    # the gradients of 4 blocks and of a layer.
    OFFLOADED = FIXED + 2 * NARROW + 3 * WIDE + (4 * 2 + 1) * MATRIX
    # In quarters, with all gradients there while the next quarter runs, and the loss both before and after its division.
    ACCUMULATED = FIXED + SCALAR + WEIGHTS + (SAVED + IN_BACKWARD) // 4 + MATRIX

    CHECKPOINT_IMPORT = ("from torch import nn\n", "from torch import nn\nfrom torch.utils.checkpoint import checkpoint\n")
    LOOP = "        for block in self.blocks:\n            x = block(x)\n"
    OFFLOADED_LOOP = (
        "        with torch.autograd.graph.save_on_cpu(pin_memory=True):\n"
        "            for block in self.blocks:\n"
        "                x = block(x)\n"
    )
    FIRST_TWO_LOOP = (
        "        for index, block in enumerate(self.blocks):\n"
        "            x = checkpoint(block, x, use_reentrant=False) if index < 2 else block(x)\n"
    )
    ACCUMULATION = (
        ("default=1024", "default=256"),
        ("        optimizer.zero_grad()\n", "        if step % 4 == 0:\n            optimizer.zero_grad()\n"),
        ("loss.backward()", "(loss / 4).backward()"),
        ("        optimizer.step()\n", "        if step % 4 == 3:\n            optimizer.step()\n"),
    )


class Sharded:
    """residual_blocks.py at 64 rows, where weights are most of it."""

    NARROW, WIDE, MATRIX = 64 * 256 * 4, 64 * 1024 * 4, Residual.MATRIX
    WEIGHTS, BLOCK = Residual.WEIGHTS, 2 * MATRIX
    FIXED = 2 * WORKSPACE + 2 * SCALAR
    # At the end of backward: all gradients, the batch, and the gradient of the first layer's result.
    PEAK = FIXED + 2 * WEIGHTS + NARROW + WIDE
    # In backward of the last block but one: a quarter of the weights; of the last block the gradients on their way to the other
    # GPUs, and the quarter that comes of them; the weights of this block, and those of the one before it as they arrive; the
    # gradients of this block; what the four before it saved, and the gradients of this one's inputs and results.
    IN_FLIGHT = (BLOCK + BLOCK // 4) + BLOCK + BLOCK + BLOCK
    PEAK_OF_FOUR = FIXED + WEIGHTS // 4 + IN_FLIGHT + NARROW + 4 * (2 * WIDE + NARROW) + WIDE + 2 * NARROW


class Bigram:
    """tiny_lm.py: 4096 tokens, 32768 words, 128 features."""

    TOKENS, WORDS, WIDTH, CHUNKS = 4096, 32768, 128, 8
    LOGITS = TOKENS * WORDS * 4
    # Two matrices, tokens and targets, the hidden states.
    FIXED = 2 * WORDS * WIDTH * 4 + 2 * TOKENS * 8 + TOKENS * WIDTH * 4 + 2 * WORKSPACE + 2 * SCALAR
    # In backward of the softmax: the logits, their logarithms of softmax, a gradient of each.
    PEAK = FIXED + 4 * LOGITS
    # Logits, their gradient, the softmax of a chunk; the number of targets that count, and of the chunk's targets their indices and
    # what is subtracted at them.
    CHUNKED = FIXED + 2 * LOGITS + LOGITS // CHUNKS + SCALAR + blocks(TOKENS // CHUNKS * 8, TOKENS // CHUNKS * 4)
    # Targets that are distributions, in place of indices: they, the logits, the logarithms and two gradients.
    SOFT = FIXED - TOKENS * 8 + 5 * LOGITS


class Wide:
    """wide_layers.py: 4 layers of 4096 x 4096 without bias, a batch of 128."""

    LAYERS, MATRIX, FEATURES = 4, 4096 * 4096 * 4, 128 * 4096 * 4
    WEIGHTS = LAYERS * MATRIX
    # In AdamW's foreach step: weights, gradients, two moments, and roots of the second one; the batch and the loss.
    TRAINED = 5 * WEIGHTS + 2 * WORKSPACE + FEATURES + SCALAR
    # Weights and gradients at the end of backward; the batch, the gradient of the first layer's result.
    OFFLOADED_STATE = 2 * WEIGHTS + 2 * WORKSPACE + 2 * FEATURES + 2 * SCALAR
    # A batch, what a layer is given, what it gives.
    RUN = 3 * FEATURES + WORKSPACE
    INFERRED = WEIGHTS + RUN
    ONE_LAYER = MATRIX + RUN
    # Of rank 8: two matrices for each layer, with two moments; in forward of the last layer: what each A gave, what the three
    # layers before gave, and of this one what the layer gave, what B gave, and that scaled.
    ADAPTER = 8 * 4096 * 4
    ADAPTERS = 2 * LAYERS * ADAPTER
    RANK_OUT = 128 * 8 * 4
    ADAPTING = 3 * ADAPTERS + FEATURES + 2 * WORKSPACE
    ADAPTED = WEIGHTS + ADAPTING + SCALAR + LAYERS * RANK_OUT + (LAYERS - 1) * FEATURES + 3 * FEATURES
    # bitsandbytes 0.50.2, functional.py, `quantize_4bit`: half a byte for each number; for each 64 of them a scale in a byte, for
    # each 256 scales one of 4 bytes; two code books of 16 and 256 numbers and an offset for a layer; a code book for all (1 KiB).
    SCALES = 4096 * 4096 // 64
    PACKED = LAYERS * blocks(4096 * 4096 // 2, SCALES, SCALES // 256 * 4, 16 * 4, 256 * 4, 4) + 1024
    # backends/cuda/ops.py, `_dequant_linear_fallback`: the scales in float32, twice while they are decoded, and the matrix.
    INFERRED_4BIT = PACKED + RUN + MATRIX + 2 * SCALES * 4
    # In backward of the last layer: the batch and what two layers gave; what three A gave; the gradients of the result, of both of
    # the adapter's matrices, of the layer's input from either side; the matrix, decoded.
    ADAPTED_4BIT = PACKED + ADAPTING + (LAYERS - 1) * RANK_OUT + 2 * FEATURES + 2 * SCALAR + 3 * FEATURES + 2 * ADAPTER + MATRIX
    # While the last layer is packed: a byte for each number and a scale for each row, and this layer in float16.
    INFERRED_8BIT = LAYERS * (4096 * 4096 + 4096 * 4) + 4096 * 4096 * 2

    NF4 = "bitsandbytes.nn.Linear4bit(4096, 4096, bias=False, quant_type='nf4')"
    INT8 = "bitsandbytes.nn.Linear8bitLt(4096, 4096, bias=False, has_fp16_weights=False, threshold=6.0)"
    LINEAR = "nn.Linear(4096, 4096, bias=False)"
    MOVE = "for _ in range(4)]).cuda()\n"
    ADAPT = f"""for _ in range(4)])
{{flag}}names = [name for name, module in model.named_modules() if name]
model = peft.get_peft_model(model, peft.LoraConfig(r=8, lora_alpha=16, target_modules=names)).cuda()
"""


def imported(package: str) -> tuple[str, str]:
    """An import of one more package."""
    return ("import torch\nfrom", f"import {package}\nimport torch\nfrom")


def snippet(page: str) -> str:
    """The code that a page shows."""
    found = re.search(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"{page}.md shows no code"
    return found[1]


CASES = [
    Case(
        "residual_blocks",
        "activation-checkpointing",
        Residual.PEAK,
        Residual.CHECKPOINTED,
        ("activation-checkpointing was applied: checkpoint(6 × Block in blocks, use_reentrant=False)",),
        by_hand=(Residual.CHECKPOINT_IMPORT, ("x = block(x)", "x = checkpoint(block, x, use_reentrant=False)")),
    ),
    Case(
        "residual_blocks",
        "activation-checkpointing:blocks=2",
        Residual.PEAK,
        Residual.FIRST_TWO,
        ("activation-checkpointing was applied: checkpoint(the first 2 of 6 × Block in blocks, use_reentrant=False)",),
        by_hand=(Residual.CHECKPOINT_IMPORT, (Residual.LOOP, Residual.FIRST_TWO_LOOP)),
    ),
    Case(
        "tiny_lm",
        "activation-checkpointing",
        Bigram.PEAK,
        Bigram.PEAK,
        ("activation-checkpointing was not applied: Bigram has no repeated blocks",),
    ),
    Case(
        "residual_blocks",
        "activation-offload",
        Residual.PEAK,
        Residual.OFFLOADED,
        ("activation-offload was applied: save_on_cpu(pin_memory=True) around Net",),
        by_hand=((Residual.LOOP, Residual.OFFLOADED_LOOP),),
    ),
    Case(
        "wide_layers",
        "activation-offload",
        Wide.INFERRED,
        Wide.INFERRED,
        ("activation-offload was not applied",),
        arguments=("--infer",),
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
    Case(
        "tiny_lm",
        "chunked-cross-entropy",
        Bigram.PEAK,
        Bigram.CHUNKED,
        ("chunked-cross-entropy was applied: cross_entropy of 4096 × 32768 logits in 8 chunks",),
        by_hand=(
            ("class Bigram(nn.Module):", snippet("chunked-cross-entropy") + "\n\nclass Bigram(nn.Module):"),
            ("F.cross_entropy(logits, target)", "ChunkedCrossEntropy.apply(logits, target, 8)"),
        ),
    ),
    Case(
        "tiny_lm",
        "chunked-cross-entropy",
        Bigram.SOFT,
        Bigram.SOFT,
        ("chunked-cross-entropy was not applied: cross_entropy has probabilities for a target",),
        arguments=("--soft",),
    ),
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
        "wide_layers",
        "optimizer-offload",
        Wide.TRAINED,
        Wide.OFFLOADED_STATE,
        ("optimizer-offload was applied: CPUOffloadOptimizer(optimizer_class=AdamW)",),
        needs=("torchao",),
    ),
    Case(
        "residual_blocks",
        "optimizer-offload",
        Residual.PEAK,
        Residual.PEAK,
        ("optimizer-offload was not applied: SGD without momentum keeps no state",),
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
