"""The recipes of the atlas: public programs, and the configurations that their authors publish for them."""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path

GPUS = (
    "t4 rtx-2060 rtx-2080-ti a30 a100-sxm4-40gb a100-sxm4-80gb rtx-3050 rtx-3060 rtx-3070 rtx-3080 rtx-3090 a10g a40 rtx-a4000 rtx-a5000 rtx-a6000 "
    "rtx-4060 rtx-4060-ti-16gb rtx-4070 rtx-4080 rtx-4090 l4 l40s h100-pcie h100-sxm h200 gh200-480gb rtx-5060-ti-16gb rtx-5070 rtx-5080 rtx-5090"
).split()
# Of each compute capability the GPU with the most multiprocessors. What convolutions need depends a little on that number.
LARGEST = "rtx-2080-ti a100-sxm4-80gb rtx-3090 rtx-4090 h100-sxm rtx-5090".split()
PARTS = Path(__file__).resolve().parent / "parts"
# Tokens of each sequence of torchtune's recipes, which take sequences as they come.
LENGTH = 2048
TORCHTUNE = f"torchtune 0.6.1, sequences of {LENGTH:,} tokens"
TIMM = "huggingface/pytorch-image-models aa4b5850"
# What timm's author measured on an RTX 3090: the largest batch with which a model trains, with automatic mixed precision.
TIMM_TABLE = "results/benchmark-train-amp-nchw-pt112-cu113-rtx3090.csv"
TIMM_MODELS = """
resnet18 resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d wide_resnet50_2 densenet121 vgg16_bn mobilenetv2_100
mobilenetv3_large_100 efficientnet_b0 efficientnet_b4 tf_efficientnet_b7 tf_efficientnetv2_m tf_efficientnetv2_l regnety_032
vit_small_patch16_224 vit_base_patch16_224 vit_base_patch32_224 vit_large_patch16_224 vit_base_patch16_384 beit_base_patch16_224
swin_tiny_patch4_window7_224 swin_small_patch4_window7_224 swin_base_patch4_window7_224 swin_large_patch4_window12_384
swinv2_tiny_window8_256 convnext_tiny convnext_small convnext_base convnext_large convnext_xlarge_384_in22ft1k mixer_b16_224
xcit_small_12_p16_224 inception_v3 inception_v4 cait_s24_224 poolformer_s24 mobilevit_s hrnet_w32 dla60
""".split()
# The batch of timm's tables of inference.
TIMM_INFERENCE_BATCH = 1024


@dataclass(frozen=True)
class Recipe:
    """A configuration that its authors publish, with the batch that they give."""

    name: str
    kind: str
    settings: dict
    batch: int
    # The command line, as its authors publish it.
    command: str
    # Switches of the program that save memory, each by its name in words.
    changes: dict = field(default_factory=dict)
    # The values that the recipe itself gives to switches.
    own_values: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    """A program and its recipes."""

    slug: str
    name: str
    source: str
    command: list
    # The folder that the program runs in, and the folder of its results.
    folder: Path
    results: Path
    batch_key: str
    recipes: list
    # Batches that are tried besides the recipe's own.
    batches: list
    # Settings that save memory, with their values where nothing is changed; `None`: the recipe's own value.
    switches: dict
    # The GPUs of the sweep; all others are judged by the one of the same compute capability.
    gpus: list
    # True if the recipe's file has the batch; else it stands on the command line.
    has_batch: bool
    # Words of the command line that the other rows change: a recipe's file has them otherwise.
    other_words: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)

    def own_rows(self) -> list:
        """The recipes as their authors publish them."""
        return [recipe.settings | ({} if self.has_batch else {self.batch_key: recipe.batch}) for recipe in self.recipes]

    def other_rows(self) -> list:
        """The recipes with other batches, and with the switches that save memory."""
        rows = []
        for recipe in self.recipes:
            plain = recipe.settings | {key: recipe.own_values.get(key, value) for key, value in self.switches.items()}
            rows += [plain | {self.batch_key: batch} for batch in self.batches if batch != recipe.batch]
            rows += [plain | {self.batch_key: recipe.batch} | change for change in recipe.changes.values()]
        return rows


def torchtune(python: Path, work: Path) -> list:
    """The recipes for one GPU that torchtune ships, without those for pictures, preferences and quantised weights.

    `parts/render.py` has written each with stand-ins for files.
    """
    programs = []
    for short, kind in (("lora", "LoRA fine-tuning"), ("full", "full fine-tuning")):
        folder = work / "tune"
        program = f"{short}_finetune_single_device"
        rendered = json.loads((folder / "yaml" / short / "recipes.json").read_text())
        recipes = [
            Recipe(
                one["name"], kind, {"--config": f"yaml/{short}/{one['file']}"}, one["batch_size"], f"tune run {program} --config {one['name']}",
                dict(changes_of(one)),
                {"enable_activation_checkpointing": one["checkpointing"]},
            )
            for one in rendered
        ]
        first = min(recipes, key=lambda one: "0.5B" not in one.name)
        command = [str(python.parent / "tune"), "run", program, "--config", first.settings["--config"]]
        switches = {"enable_activation_checkpointing": None, "enable_activation_offloading": False}
        programs.append(
            Program(
                f"tune-{short}", f"tune run {program}", TORCHTUNE, command, folder, folder, "batch_size", recipes, [1, 2, 4, 8], switches,
                GPUS, True, ["batch_size=1", "enable_activation_checkpointing=True", "enable_activation_offloading=False"],
                {"PYTHONPATH": str(PARTS)},
            )
        )
    return programs


def changes_of(rendered: dict):
    """The switches of a torchtune recipe that are off, the cheaper first."""
    if not rendered["checkpointing"]:
        yield "activation checkpointing", {"enable_activation_checkpointing": True}
    else:
        yield "activation offloading", {"enable_activation_offloading": True}


def timm(work: Path, sources: Path) -> list:
    """timm's own benchmark: a training step of each model at the size of pictures of timm's table, and inference at the model's own size."""
    with (sources / TIMM_TABLE).open() as table:
        measured = {row["model"]: row for row in csv.DictReader(table)}
    training = [
        Recipe(
            model, "training", {"--model": model, "--img-size": int(row["train_img_size"])}, int(row["train_batch_size"]),
            f"python benchmark.py --bench train --model {model} --img-size {row['train_img_size']} --amp -b {row['train_batch_size']}",
        )
        for model, row in ((model, measured[model]) for model in TIMM_MODELS)
    ]
    inference = [
        Recipe(
            model, "inference", {"--model": model}, TIMM_INFERENCE_BATCH,
            f"python benchmark.py --bench infer --model {model} --amp -b {TIMM_INFERENCE_BATCH}",
        )
        for model in TIMM_MODELS[::2]
    ]
    return [
        Program(
            f"timm-{bench}", f"benchmark.py --bench {bench}", TIMM,
            ["benchmark.py", "--bench", bench, "--model", "resnet18", *more, "-b", "64", "--amp", "--num-warm-iter", "1", "--num-bench-iter", "5"],
            sources, work / "timm", "-b", recipes, [], {}, LARGEST, False, [], {"HF_HUB_OFFLINE": "1"},
        )
        for bench, recipes, more in (("train", training, ["--img-size", "224"]), ("infer", inference, []))
    ]
