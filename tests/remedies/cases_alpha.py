"""Remedies of the optimizer, of precision, of evaluation and of folklore."""

from case import Case, block

# PyTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp, for compute capability 8.9: 2 x 4096 KiB + 8 x 16 KiB for each thread
# that multiplies (the program's and autograd's), and 1 MiB for the program's cuBLASLt.
WORKSPACES = 2 * 8_519_680 + (1 << 20)
# A loss, and other single numbers.
SCALAR = block(4)


class Mlp:
    """mlp_adamw.py: so many layers of so many features, in float32, at a batch of 64."""

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
        """The root of one weight's second moment, its quotient, and the last one's result, which is of a bias."""
        return self.in_step(2 * self.parameters, 2 * self.weight + self.bias)

    @property
    def adafactor(self) -> int:
        """A row and a column for a weight. Temporaries: one update, what is left of the last bias's two, two means, a number."""
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
# So small that a sum over a matrix's columns is done in one go; of larger ones PyTorch keeps partial sums, by the GPU's size.
DEEP = Mlp(512, 64)
DEEP_ARGUMENTS = ("--width", "512", "--layers", "64")




class Tower:
    """mlp_relu.py and its likes: 8 layers of 2048 x 2048 without bias at a batch of 4096, and a head with one output."""

    LAYERS, WIDTH, BATCH = 8, 2048, 4096
    # What goes from layer to layer; the head's result.
    UNIT, OUTPUT = block(BATCH * WIDTH * 4), block(BATCH * 4)
    LAYER, HEAD = block(WIDTH * WIDTH * 4), block(WIDTH * 4)
    BODY = LAYERS * LAYER
    PARAMETERS = BODY + HEAD
    # No layer has a bias, so cuBLASLt is not used.
    WORKSPACES = 2 * 8_519_680
    # The loss and its gradient, while backward runs; the loss and the last step's, while forward does.
    ALWAYS = WORKSPACES + 2 * SCALAR
    # In the backward of the last ReLU: the features, all ReLUs' results, and the gradients of its result and of its input.
    RELU = PARAMETERS + HEAD + (1 + LAYERS + 2) * UNIT + ALWAYS
    # The same where the gradients of the step before are still there, filled with zeros.
    ZEROED = RELU + BODY
    # The same where there is no head, but a result that is not needed by anybody, and is kept. One backward further on the
    # gradient of the last layer is there too, and its ReLU's two gradients still are.
    KEPT = BODY + (1 + LAYERS + 2) * UNIT + LAYER + ALWAYS
    # At the end of forward, with the gradients of the step before: a layer's result, and what the last ReLU makes of it.
    LATE = PARAMETERS + PARAMETERS + (LAYERS + 2) * UNIT + WORKSPACES + SCALAR
    # Activations and their gradients in half the bytes; the features, and besides their cast. Weights are cast too, and all but
    # the first layer's are saved for backward; the head's are gone by then.
    AUTOCAST = PARAMETERS + HEAD + UNIT + (1 + LAYERS + 2) * UNIT // 2 + (LAYERS - 1) * LAYER // 2 + ALWAYS
    # In the backward of the head, where each activation function has saved its input: these, the results, the features, the
    # gradient of the head's input and of its result.
    BOTH = PARAMETERS + HEAD + (1 + 2 * LAYERS + 1) * UNIT + OUTPUT + ALWAYS


class Evaluation:
    """evaluation.py: the same layers at a batch of 256, with 4096 held-out rows."""

    BATCH = block(256 * Tower.WIDTH * 4)
    # In the forward of the last layer: what is held out, all other ReLUs' results, the layer's, and the last ReLU's.
    WITH_A_GRAPH = Tower.PARAMETERS + (Tower.LAYERS + 2) * Tower.UNIT + BATCH + Tower.WORKSPACES + SCALAR
    # Then training is larger: at the end of its backward the gradient of the first layer's result is there.
    WITHOUT = 2 * Tower.PARAMETERS + Tower.UNIT + 2 * BATCH + Tower.ALWAYS


class Attention:
    """One layer of attention: 4 sequences of 1024 positions, 8 heads, 256 features in float32."""

    SCORES = 4 * 8 * 1024 * 1024 * 4
    UNIT = 4 * 1024 * 256 * 4
    PROJECTION = 256 * 256 * 4
    # In the backward of softmax: its result, the gradients of result and input, and their product (softmax_backward_cuda_out
    # in ATen/native/cuda/SoftMax.cu makes it first); the gradient of the values; the input; queries, keys and values.
    BY_HAND = 3 * PROJECTION + 4 * SCORES + (1 + 1 + 3) * UNIT + Tower.ALWAYS
    # multihead_attention.py: a head with 8192 outputs.
    HEAD, LOGITS = 256 * 8192 * 4, 4 * 1024 * 8192 * 4
    # Besides, as MultiheadAttention does it: scaled queries, the transposed input, the gradients of the output's projection and
    # of the head.
    WITH_WEIGHTS = 4 * PROJECTION + HEAD + 4 * SCORES + (1 + 1 + 3 + 1 + 1) * UNIT + PROJECTION + HEAD + Tower.ALWAYS
    # In the backward of the head, with the gradients of its result, input and weight. Saved are: the input and its transpose;
    # queries, keys, values; what attention gives, also in the order of the batch; the sum; one number a row of scores.
    WITHOUT_WEIGHTS = 4 * PROJECTION + 2 * HEAD + LOGITS + (1 + 1 + 3 + 2 + 1 + 1) * UNIT + 4 * 8 * 1024 * 4 + Tower.ALWAYS


# mlp_sgd.py has no state.
SGD = WIDE.in_backward(0)
SGD_WITH_MOMENTUM = WIDE.in_backward(WIDE.parameters)
# The 8-bit state of one moment, and one table.
SGD_IN_8_BITS = WIDE.in_backward((WIDE.layers * (2 * (block(WIDE.numbers) + WIDE.bias)) + WIDE.scales()) // 2)
MOMENTUM = ("--momentum", "0.9")

OPTIMIZERS = [
    Case(
        "mlp_adamw",
        "optimizer-fused",
        WIDE.as_it_is,
        WIDE.fused,
        ("optimizer-fused was applied: AdamW(fused=True) (line 15)",),
        by_hand=(("lr=1e-3)", "lr=1e-3, fused=True)"),),
    ),
    Case(
        "mlp_sgd",
        "optimizer-fused",
        SGD,
        SGD,
        ("optimizer-fused was applied: SGD(fused=True) (line 13)",),
        by_hand=(("momentum=args.momentum)", "momentum=args.momentum, fused=True)"),),
    ),
    Case(
        "mlp_adamw",
        "optimizer-foreach-off",
        WIDE.as_it_is,
        WIDE.foreach_off,
        ("optimizer-foreach-off was applied: AdamW(foreach=False) (line 15)",),
        by_hand=(("lr=1e-3)", "lr=1e-3, foreach=False)"),),
    ),
    Case(
        "mlp_sgd",
        "optimizer-foreach-off",
        SGD,
        SGD,
        ("optimizer-foreach-off was applied: SGD(foreach=False) (line 13)",),
        by_hand=(("momentum=args.momentum)", "momentum=args.momentum, foreach=False)"),),
    ),
    Case(
        "mlp_adamw",
        "optimizer-adafactor",
        DEEP.as_it_is,
        DEEP.adafactor,
        ("optimizer-adafactor was applied: Adafactor in place of AdamW (line 15)",),
        by_hand=(("torch.optim.AdamW(", "torch.optim.Adafactor("),),
        arguments=DEEP_ARGUMENTS,
    ),
    Case("mlp_sgd", "optimizer-adafactor", SGD, SGD, ("optimizer-adafactor was not applied: SGD without momentum keeps no state",)),
    Case(
        "mlp_adamw",
        "optimizer-8bit",
        WIDE.as_it_is,
        WIDE.in_8_bits,
        ("optimizer-8bit was applied: bitsandbytes.optim.AdamW8bit in place of AdamW (line 15)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.AdamW(", "bitsandbytes.optim.AdamW8bit(")),
        needs=("bitsandbytes",),
    ),
    Case(
        "mlp_sgd",
        "optimizer-8bit",
        SGD_WITH_MOMENTUM,
        SGD_IN_8_BITS,
        ("optimizer-8bit was applied: bitsandbytes.optim.SGD8bit in place of SGD (line 13)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.SGD(", "bitsandbytes.optim.SGD8bit(")),
        arguments=MOMENTUM,
        needs=("bitsandbytes",),
    ),
    Case("mlp_sgd", "optimizer-8bit", SGD, SGD, ("optimizer-8bit was not applied: SGD without momentum keeps no state",)),
    Case(
        "mlp_adamw",
        "optimizer-8bit",
        DEEP.as_it_is,
        DEEP.as_it_is,
        ("optimizer-8bit was not applied: bitsandbytes is not installed: pip install bitsandbytes",),
        arguments=DEEP_ARGUMENTS,
        lacks=("bitsandbytes",),
    ),
    Case(
        "mlp_adamw",
        "optimizer-paged",
        WIDE.as_it_is,
        WIDE.paged,
        ("optimizer-paged was applied: bitsandbytes.optim.PagedAdamW in place of AdamW (line 15)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.AdamW(", "bitsandbytes.optim.PagedAdamW(")),
        needs=("bitsandbytes",),
    ),
    Case(
        "mlp_adamw",
        "optimizer-paged:bits=8",
        WIDE.as_it_is,
        WIDE.paged_in_8_bits,
        ("bitsandbytes.optim.PagedAdamW8bit in place of AdamW (line 15)",),
        by_hand=(("import torch\n", "import bitsandbytes\nimport torch\n"), ("torch.optim.AdamW(", "bitsandbytes.optim.PagedAdamW8bit(")),
        needs=("bitsandbytes",),
    ),
    Case(
        "mlp_sgd",
        "optimizer-paged",
        SGD_WITH_MOMENTUM,
        SGD_WITH_MOMENTUM,
        ("optimizer-paged was not applied: bitsandbytes has no PagedSGD",),
        arguments=MOMENTUM,
        needs=("bitsandbytes",),
    ),
]

GRADIENTS = [
    Case(
        "set_to_zero",
        "set-to-none",
        Tower.ZEROED,
        Tower.RELU,
        ("set-to-none was applied: zero_grad(set_to_none=True) (line 17)",),
        by_hand=(("set_to_none=False", "set_to_none=True"),),
    ),
    Case("zero_grad_late", "set-to-none", Tower.LATE, Tower.LATE, ("set-to-none was not applied: zero_grad sets gradients to None already",)),
    Case(
        "zero_grad_late",
        "set-to-none:place=after-step",
        Tower.LATE,
        Tower.RELU,
        ("zero_grad(set_to_none=True) straight after step (line 17)",),
        by_hand=((
            "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n",
            "    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n",
        ),),
    ),
    Case(
        "mlp_relu",
        "set-to-none:place=after-step",
        Tower.RELU,
        Tower.RELU,
        ("set-to-none was not applied: zero_grad comes before the next forward already",),
    ),
]

FORWARD = [
    Case(
        "mlp_relu",
        "autocast",
        Tower.RELU,
        Tower.AUTOCAST,
        ('torch.autocast("cuda", dtype=torch.bfloat16) around forward and loss (line 14)',),
        by_hand=(("    loss = model(features)", '    with torch.autocast("cuda", dtype=torch.bfloat16):\n        loss = model(features)'),),
    ),
    Case(
        "mlp_relu",
        "autocast:dtype=bf16",
        Tower.RELU,
        Tower.AUTOCAST,
        ("compute capability 7.5 does not compute in bfloat16; training in float16 needs a GradScaler",),
        by_hand=(("    loss = model(features)", '    with torch.autocast("cuda", dtype=torch.float16):\n        loss = model(features)'),),
        gpu="t4",
    ),
    # The peak is in `step`, on parameters that stay in float32.
    Case(
        "mlp_adamw",
        "autocast",
        WIDE.as_it_is,
        WIDE.as_it_is,
        ('torch.autocast("cuda", dtype=torch.bfloat16) around forward and loss (line 19)',),
        by_hand=(("    loss = model(features)", '    with torch.autocast("cuda", dtype=torch.bfloat16):\n        loss = model(features)'),),
    ),
    Case(
        "mlp_autocast",
        "autocast",
        Tower.RELU,
        Tower.AUTOCAST,
        ("autocast was applied: autocast(enabled=True, dtype=torch.bfloat16) (line 20)",),
        by_hand=(("enabled=args.amp", "enabled=True"),),
    ),
    Case(
        "mlp_autocast",
        "autocast",
        Tower.AUTOCAST,
        Tower.AUTOCAST,
        ("autocast was not applied: the program autocasts to torch.bfloat16 itself",),
        arguments=("--amp",),
    ),
    Case(
        "evaluation",
        "no-grad-in-eval",
        Evaluation.WITH_A_GRAPH,
        Evaluation.WITHOUT,
        ("torch.no_grad() around Sequential in evaluation mode (line 16)",),
        by_hand=(("    loss = model(held_out)", "    with torch.no_grad():\n        loss = model(held_out)"),),
    ),
    Case(
        "trained_in_eval",
        "no-grad-in-eval",
        Tower.RELU,
        Tower.RELU,
        ("Sequential is trained in evaluation mode: an optimizer holds its parameters, and it never ran in training mode",),
    ),
    Case("mlp_relu", "no-grad-in-eval", Tower.RELU, Tower.RELU, ("no module runs in evaluation mode while a graph is recorded",)),
    Case(
        "mlp_leaky_relu",
        "inplace-activations",
        Tower.BOTH,
        Tower.RELU,
        ("inplace-activations was applied: LeakyReLU(inplace=True) (line 14)",),
        by_hand=(("nn.LeakyReLU()", "nn.LeakyReLU(inplace=True)"),),
    ),
    # ReLU saves its result in any case.
    Case(
        "mlp_relu",
        "inplace-activations",
        Tower.RELU,
        Tower.RELU,
        ("inplace-activations was applied: ReLU(inplace=True) (line 14)",),
        by_hand=(("nn.ReLU()", "nn.ReLU(inplace=True)"),),
    ),
    Case(
        "activations_used_twice",
        "inplace-activations",
        Tower.BOTH,
        Tower.BOTH,
        (
            "inplace-activations was not applied: what LeakyReLU would overwrite is used here (line 19)",
            "inplace-activations was not applied: SiLU needs its input in backward: in place it keeps a copy (line 31)",
        ),
    ),
    Case(
        "multihead_attention",
        "sdpa",
        Attention.WITH_WEIGHTS,
        Attention.WITHOUT_WEIGHTS,
        ("sdpa was applied: MultiheadAttention(..., need_weights=False) (line 17)",),
        by_hand=(("(x, x, x)", "(x, x, x, need_weights=False)"),),
    ),
    Case(
        "gpt2_eager",
        "sdpa",
        None,
        None,
        ('sdpa was applied: attn_implementation="sdpa" for GPT2LMHeadModel (line 9)',),
        by_hand=(('attn_implementation="eager"', 'attn_implementation="sdpa"'),),
    ),
    Case("attention_by_hand", "sdpa", Attention.BY_HAND, Attention.BY_HAND, ("sdpa was not applied: attention is written out here",)),
    Case("mlp_relu", "sdpa", Tower.RELU, Tower.RELU, ("no softmax of a product is seen",)),
]

FOLKLORE = [
    Case("mlp_relu", "empty-cache", Tower.RELU, Tower.RELU, ("all of it unused", "torch.cuda.empty_cache() after each step (line 16)")),
    Case("mlp_relu", "gc-collect", Tower.RELU, Tower.RELU, ("freed 0 bytes of GPU memory", "gc.collect() after each step (line 16)")),
    # Where tensors refer to themselves it is no folklore: two results less.
    Case("cycle", "gc-collect", Tower.KEPT + 2 * Tower.UNIT, Tower.KEPT, (f"freed {Tower.UNIT:,} bytes of GPU memory",)),
    Case("data_loader", "num-workers", Tower.RELU, Tower.RELU, ("DataLoader(num_workers=0): workers are processes on the host",)),
    Case("data_loader", "num-workers:n=2", Tower.RELU, Tower.RELU, ("DataLoader has num_workers=2 already",)),
    Case("data_loader", "pin-memory", Tower.RELU, Tower.RELU, ("DataLoader(pin_memory=True): pinned memory is the host's",)),
]
CASES = [*OPTIMIZERS, *GRADIENTS, *FORWARD, *FOLKLORE]
