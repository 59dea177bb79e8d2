"""The peaks of programs that several families of remedies share, computed from shapes."""

from case import block, blocks

# PyTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp, for compute capability 8.9: 2 x 4096 KiB + 8 x 16 KiB for a thread that
# multiplies.
CUBLAS = 8_519_680
# The program's thread and autograd's, and 1 MiB for the program's cuBLASLt.
WORKSPACES = 2 * CUBLAS + (1 << 20)
# A loss, the initial gradient of backward, and other single numbers.
SCALAR = block(4)


class Mlp:
    """mlp_adamw.py: `layers` layers of `width` features, in float32, at a batch of 64."""

    def __init__(self, width: int, layers: int) -> None:
        self.weight, self.bias = block(width * width * 4), block(width * 4)
        self.layers = layers
        self.numbers = width * width
        self.parameters = layers * (self.weight + self.bias)
        self.features = block(64 * width * 4)
        # Alive at any time of a step: also what the loop's names hold.
        self.always = WORKSPACES + self.features + SCALAR

    def in_step(self, state: int, temporaries: int) -> int:
        """Allocated in `step`, where parameters and gradients are whole."""
        return 2 * self.parameters + state + temporaries + self.always

    def in_backward(self, state: int) -> int:
        """At the end of backward: the gradient of the first layer's output, and the loss's own, are still there."""
        return 2 * self.parameters + state + self.features + SCALAR + self.always

    @property
    def as_it_is(self) -> int:
        """AdamW has two moments; its foreach implementation keeps the roots of all second ones at a time."""
        return self.in_step(2 * self.parameters, self.parameters)

    @property
    def fused(self) -> int:
        """No temporaries; the steps are counted on the device."""
        return self.in_backward(2 * self.parameters + 2 * self.layers * SCALAR)

    @property
    def foreach_off(self) -> int:
        """The root of a weight's second moment, its quotient, and the previous result, which is a bias's."""
        return self.in_step(2 * self.parameters, 2 * self.weight + self.bias)

    @property
    def adafactor(self) -> int:
        """A row and a column for a weight. Temporaries: an update, the remaining one of the last bias's two, two means, a number."""
        return self.in_step(self.layers * 3 * self.bias, self.weight + 4 * self.bias + SCALAR)

    def scales(self) -> int:
        """For each block of 256 numbers of a weight, and each moment, one in float32; and two tables of 256 such numbers."""
        return self.layers * 2 * block(self.numbers // 256 * 4) + 2 * block(256 * 4)

    @property
    def in_8_bits(self) -> int:
        """Biases have less than 4096 numbers, and so stay in float32."""
        return self.in_backward(self.layers * 2 * (block(self.numbers) + self.bias) + self.scales())

    @property
    def paged(self) -> int:
        """Moments of less than 100000 numbers are not paged."""
        return self.in_backward(self.layers * 2 * self.bias)

    @property
    def paged_in_8_bits(self) -> int:
        """Scales are not paged either."""
        return self.in_backward(self.layers * 2 * self.bias + self.scales())


WIDE = Mlp(2048, 8)


class Tower:
    """mlp_relu.py and its likes: 8 layers of 2048 x 2048 without bias at a batch of 4096, and a head with one output."""

    LAYERS, WIDTH, BATCH = 8, 2048, 4096
    # The values between layers; the head's result.
    UNIT, OUTPUT = block(BATCH * WIDTH * 4), block(BATCH * 4)
    LAYER, HEAD = block(WIDTH * WIDTH * 4), block(WIDTH * 4)
    BODY = LAYERS * LAYER
    PARAMETERS = BODY + HEAD
    # No layer has a bias, so cuBLASLt is not used.
    WORKSPACES = 2 * CUBLAS
    # The loss and its gradient, while backward runs; the loss and the last step's, while forward does.
    ALWAYS = WORKSPACES + 2 * SCALAR
    # In the backward of the last ReLU: the features, all ReLUs' results, and the gradients of its result and of its input.
    RELU = PARAMETERS + HEAD + (1 + LAYERS + 2) * UNIT + ALWAYS
    # The same where the gradients of the step before are still there, filled with zeros.
    ZEROED = RELU + BODY
    # The same without a head, but with an unused result that is kept. One backward later the gradient of the last layer is alive too,
    # beside its ReLU's two gradients.
    KEPT = BODY + (1 + LAYERS + 2) * UNIT + LAYER + ALWAYS
    # At the end of forward, with the gradients of the step before: a layer's result, and what the last ReLU makes of it.
    LATE = PARAMETERS + PARAMETERS + (LAYERS + 2) * UNIT + WORKSPACES + SCALAR
    # Activations and their gradients in half the bytes; the features, and their cast. Weights are cast too, and all but the first layer's
    # are saved for backward; the head's are freed by then.
    AUTOCAST = PARAMETERS + HEAD + UNIT + (1 + LAYERS + 2) * UNIT // 2 + (LAYERS - 1) * LAYER // 2 + ALWAYS
    # In the backward of the head, where each activation function has saved its input: these, the results, the features, the
    # gradient of the head's input and of its result.
    BOTH = PARAMETERS + HEAD + (1 + 2 * LAYERS + 1) * UNIT + OUTPUT + ALWAYS


class Residual:
    """residual_blocks.py: 6 blocks of 256 and 1024 features at 8192 rows; and tokens_loader.py: the same at 1024 sequences of 8."""

    ROWS, WIDTH, DEPTH = 8192, 256, 6
    NARROW, WIDE = ROWS * WIDTH * 4, ROWS * 4 * WIDTH * 4
    MATRIX = WIDTH * 4 * WIDTH * 4
    WEIGHTS = DEPTH * 2 * MATRIX
    FIXED = WEIGHTS + 2 * CUBLAS + 2 * SCALAR
    # Each block saves its input and, among the wide tensors, the input and the result of GELU. Backward of the last layer adds the
    # gradients of its result, of its input and of its weight.
    SAVED = DEPTH * (NARROW + 2 * WIDE)
    IN_BACKWARD = NARROW + WIDE
    PEAK = FIXED + SAVED + IN_BACKWARD + MATRIX
    # The wide tensors of a single block are alive, recomputed.
    CHECKPOINTED = PEAK - (DEPTH - 1) * 2 * WIDE
    FIRST_TWO = PEAK - 2 * 2 * WIDE
    # In GELU's backward: its saved tensor, its gradient and its result's; the batch, the gradient that goes past the second block, and the
    # gradients of 4 blocks and of a layer.
    OFFLOADED = FIXED + 2 * NARROW + 3 * WIDE + (4 * 2 + 1) * MATRIX
    # In quarters, with all gradients alive while the next quarter runs, and the loss both before and after its division.
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


class Wide:
    """wide_layers.py: 4 layers of 4096 x 4096 without bias, a batch of 128."""

    LAYERS, MATRIX, FEATURES = 4, 4096 * 4096 * 4, 128 * 4096 * 4
    WEIGHTS = LAYERS * MATRIX
    # In AdamW's foreach step: weights, gradients, two moments, and roots of the second one; the batch and the loss.
    TRAINED = 5 * WEIGHTS + 2 * CUBLAS + FEATURES + SCALAR
    # Weights and gradients at the end of backward; the batch, the gradient of the first layer's result.
    OFFLOADED_STATE = 2 * WEIGHTS + 2 * CUBLAS + 2 * FEATURES + 2 * SCALAR
    # A batch, a layer's input, a layer's output.
    RUN = 3 * FEATURES + CUBLAS
    INFERRED = WEIGHTS + RUN
    ONE_LAYER = MATRIX + RUN
    # Of rank 8: two matrices for each layer, with two moments; in forward of the last layer: each A's output, the outputs of the three
    # layers before, and for this layer its own output, B's output, and B's output scaled.
    ADAPTER = 8 * 4096 * 4
    ADAPTERS = 2 * LAYERS * ADAPTER
    RANK_OUT = 128 * 8 * 4
    ADAPTING = 3 * ADAPTERS + FEATURES + 2 * CUBLAS
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
