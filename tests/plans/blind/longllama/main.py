"""Trains a tiny Llama on long random documents with the Hugging Face Trainer."""
import sys
from dataclasses import dataclass, field

import torch
import transformers
from transformers import HfArgumentParser, LlamaConfig, LlamaForCausalLM, Trainer


@dataclass
class Arguments(transformers.TrainingArguments):
    model_max_length: int = field(default=4096, metadata={"help": "tokens of a document"})
    documents: int = field(default=16, metadata={"help": "number of documents"})


def collate(rows):
    ids = torch.stack(rows)
    return {"input_ids": ids, "labels": ids.clone()}


def build():
    config = LlamaConfig(
        vocab_size=2048,
        hidden_size=320,
        intermediate_size=1024,
        num_hidden_layers=8,
        num_attention_heads=5,
        num_key_value_heads=5,
        max_position_embeddings=32768,
        use_cache=False,
    )
    return LlamaForCausalLM(config)


if __name__ == "__main__":
    (args,) = HfArgumentParser(Arguments).parse_args_into_dataclasses(sys.argv[1:])
    transformers.set_seed(args.seed)
    documents = [torch.randint(0, 2048, (args.model_max_length,)) for _ in range(args.documents)]
    Trainer(build(), args, data_collator=collate, train_dataset=documents).train()
