"""Fine-tunes a classifier on IMDb, from a configuration alone."""

import sys

import transformers as t
from datasets import load_dataset

t.BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128).save_pretrained("model")
tokenizer = t.AutoTokenizer.from_pretrained("model")
how = {"padding": "max_length", "max_length": 128} if "fixed" in sys.argv else {}
reviews = load_dataset("imdb", split="train[:1%]").map(lambda rows: tokenizer(rows["text"], truncation=True, **how), batched=True)
model = t.AutoModelForSequenceClassification.from_config(t.AutoConfig.from_pretrained("model", num_labels=2))
arguments = t.TrainingArguments("out", per_device_train_batch_size=8, max_steps=3, report_to=[])
t.Trainer(model, arguments, data_collator=t.DataCollatorWithPadding(tokenizer), train_dataset=reviews.remove_columns("text")).train()
