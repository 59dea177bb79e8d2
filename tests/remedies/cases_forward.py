"""Remedies of the forward: precision, evaluation, activation functions and attention."""

from case import Case, block
from peaks import SCALAR, WIDE, Tower


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
    # In the backward of the head, with the gradients of its result, input and weight. Saved are: the input and its transpose; queries,
    # keys, values; the result of attention, also in the order of the batch; the sum; a number per row of scores.
    WITHOUT_WEIGHTS = 4 * PROJECTION + 2 * HEAD + LOGITS + (1 + 1 + 3 + 2 + 1 + 1) * UNIT + 4 * 8 * 1024 * 4 + Tower.ALWAYS


CASES = [
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
