"""Trains a small GPT-2 with the Hugging Face Trainer on random tokens."""
from dataclasses import dataclass, field

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, HfArgumentParser, Trainer, TrainingArguments


@dataclass
class ModelArguments:
    n_layer: int = field(default=4, metadata={"help": "number of layers"})
    n_embd: int = field(default=256, metadata={"help": "width"})


@dataclass
class DataArguments:
    block_size: int = field(default=512, metadata={"help": "tokens per example"})
    examples: int = field(default=256)


class RandomTokens(Dataset):
    def __init__(self, count, length, vocab):
        self.ids = torch.randint(0, vocab, (count, length))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i]}


def main():
    parser = HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()
    config = GPT2Config(
        vocab_size=4096, n_layer=model_args.n_layer, n_embd=model_args.n_embd, n_head=4,
        n_positions=data_args.block_size, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        bos_token_id=0, eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    train = RandomTokens(data_args.examples, data_args.block_size, config.vocab_size)
    trainer = Trainer(model=model, args=training_args, train_dataset=train)
    trainer.train()


if __name__ == "__main__":
    main()
