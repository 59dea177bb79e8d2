"""Hugging Face Trainer: causal language modelling; `--bf16` and `--gradient-checkpointing` as users turn them on."""

import argparse
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.randint(0, 1000, (128,))
        return {"input_ids": ids, "labels": ids}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--gradient-checkpointing", action="store_true")
    args = parser.parse_args()
    config = LlamaConfig(
        vocab_size=1000, hidden_size=256, intermediate_size=512, num_hidden_layers=4, num_attention_heads=4
    )
    with tempfile.TemporaryDirectory() as folder:
        training = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=8,
            max_steps=4,
            bf16=args.bf16,
            gradient_checkpointing=args.gradient_checkpointing,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        )
        Trainer(model=LlamaForCausalLM(config), args=training, train_dataset=Texts()).train()


if __name__ == "__main__":
    main()
