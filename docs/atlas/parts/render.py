"""Writes torchtune's recipes for one GPU with stand-ins for weights, tokenizer and data: `python render.py FOLDER RECIPE LENGTH`.

`recipes.json` in the folder lists them. All else in a recipe stays as published.
"""

import json
import sys
from pathlib import Path

import torchtune
from omegaconf import OmegaConf

# Pictures need a processor of their own; quantising 4-bit weights takes minutes in every dry run.
LEFT_OUT = ("vision", "qlora", "qdora", "_KD_", "dpo", "ppo")
KINDS = {
    "lora_finetune_single_device": ("lora_single_device", "dora_single_device"),
    "full_finetune_single_device": ("full_single_device", "full_low_memory"),
}
CONFIGURATIONS = Path(torchtune.__file__).parent.parent / "recipes/configs"


def main() -> None:
    """Writes the recipes of one program."""
    folder, program, length = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    rendered = []
    for path in sorted(CONFIGURATIONS.glob("*/*.yaml")):
        name = f"{path.parent.name}/{path.stem}"
        if any(word in name for word in KINDS[program]) and not any(word in name for word in LEFT_OUT):
            rendered.append(render(path, folder, length))
    (folder / "recipes.json").write_text(json.dumps(rendered, indent=1))


def render(path: Path, folder: Path, length: int) -> dict:
    """Writes a recipe, and describes it."""
    recipe = OmegaConf.load(path)
    builder = recipe.model._component_.replace(".lora_", ".")
    recipe.checkpointer = {"_component_": "tune_parts.Weights", "builder": builder, "model_type": recipe.checkpointer.model_type}
    recipe.tokenizer = {"_component_": "tune_parts.Tokenizer"}
    recipe.dataset = {"_component_": "tune_parts.Tokens", "length": length}
    # A step of the optimizer after each batch: accumulation repeats what a batch needs.
    recipe.gradient_accumulation_steps = 1
    recipe.output_dir = "/tmp/oomph-atlas"
    if "save_adapter_weights_only" in recipe:
        recipe.save_adapter_weights_only = True
    name = f"{path.parent.name}-{path.name}"
    OmegaConf.save(recipe, folder / name)
    return {
        "name": f"{path.parent.name}/{path.stem}",
        "file": name,
        "batch_size": recipe.batch_size,
        "checkpointing": bool(recipe.enable_activation_checkpointing),
    }


if __name__ == "__main__":
    main()
