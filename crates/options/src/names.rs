//! The purpose of a setting, by its name and its description. Only a candidate: what the setting changes is seen in a run.

use serde_json::Value;

use crate::{Form, OwnOption, form_of, name_of};

/// The part of a program's use of memory that a setting may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The number of parts that a batch runs in, or of batches for a step.
    Accumulation,
    /// Activations are computed again.
    Checkpointing,
    /// The precision of numbers.
    Precision,
    /// The number of samples in a batch.
    Batch,
    /// The length of a sequence.
    Length,
    /// The size of an image.
    Resolution,
}

/// The likelihood of a purpose: 0 is the likeliest.
pub type NameRank = u8;

/// Data other than training data.
const EVALUATION: [&str; 12] = [
    "eval",
    "evaluate",
    "evaluation",
    "val",
    "valid",
    "validation",
    "test",
    "testing",
    "dev",
    "infer",
    "inference",
    "predict",
];
/// Words of names about batches other than their size.
const NOT_BATCHES: [&str; 13] =
    ["num", "n", "nb", "steps", "accumulation", "norm", "first", "index", "idx", "sampler", "batches", "log", "every"];
const BATCHES: [&str; 6] = ["batch", "batchsize", "bs", "bsz", "mbs", "batch_size"];
/// The sum of several batches, on many devices or accumulated.
const WHOLE: [&str; 5] = ["total", "global", "effective", "max", "min"];
const PARTS: [&str; 7] = ["micro", "device", "gpu", "local", "mbs", "minibatch", "per"];
const LENGTHS: [&str; 25] = [
    "seq_len",
    "seqlen",
    "seq_length",
    "sequence_length",
    "sequence_len",
    "max_seq_len",
    "max_seq_length",
    "max_seqlen",
    "maxlen",
    "max_sequence_length",
    "max_length",
    "max_len",
    "block_size",
    "context_length",
    "context_len",
    "context_size",
    "ctx_len",
    "n_ctx",
    "max_source_length",
    "max_input_length",
    "bptt",
    "cutoff_len",
    "context",
    "tokens",
    "length",
];
const IMAGES: [&str; 14] = [
    "img_size",
    "image_size",
    "imgsz",
    "imsize",
    "img_sz",
    "im_size",
    "imagesize",
    "resolution",
    "image_resolution",
    "img_resolution",
    "crop_size",
    "train_crop_size",
    "input_size",
    "img_dim",
];
const PRECISIONS: [&str; 12] = [
    "amp",
    "fp16",
    "bf16",
    "half",
    "precision",
    "dtype",
    "bfloat16",
    "float16",
    "autocast",
    "mixed_precision",
    "use_amp",
    "torch_dtype",
];
const ACCUMULATIONS: [&str; 6] =
    ["iter_size", "update_freq", "microbatches", "num_microbatches", "micro_batches", "n_micro_batches"];
/// Words that turn a thing off.
const NEGATIONS: [&str; 4] = ["no", "disable", "without", "skip"];

/// Returns the likeliest purpose of a setting; `None` if nothing speaks for one.
pub fn find_purpose(option: &OwnOption) -> Option<(Purpose, NameRank)> {
    let name = plain(name_of(&option.key).rsplit('.').next().unwrap_or_default());
    let words: Vec<&str> = name.split('_').collect();
    if words.iter().any(|word| EVALUATION.contains(word)) {
        return None;
    }
    if words.iter().any(|word| NEGATIONS.contains(word)) {
        // A switch of a file that is on; a flag of the command line cannot be taken away by another.
        let is_off = option.value == Value::Bool(true) && form_of(&option.key) != Form::Option;
        return (is_off && is_checkpointing(&words)).then_some((Purpose::Checkpointing, 1));
    }
    by_name(&name, &words, option).or_else(|| by_help(option).map(|purpose| (purpose, 4)))
}

fn by_name(name: &str, words: &[&str], option: &OwnOption) -> Option<(Purpose, NameRank)> {
    let is_number = option.value.as_u64().is_some_and(|number| number > 0);
    let accumulates = words.iter().any(|word| word.starts_with("accum")) || ACCUMULATIONS.contains(&name);
    let is_count = is_number || option.value.is_null();
    if accumulates {
        return is_count.then_some((Purpose::Accumulation, 0));
    }
    // The size of a part; 0 and -1 are the whole batch.
    if name == "microbatch" && !is_number && option.value.is_i64() {
        return Some((Purpose::Accumulation, 1));
    }
    if is_checkpointing(words) {
        return (option.value == Value::Bool(false)).then_some((Purpose::Checkpointing, 0));
    }
    if PRECISIONS.contains(&name) || words.iter().any(|word| ["amp", "fp16", "bf16", "precision"].contains(word)) {
        let first = NameRank::from(!words.iter().any(|word| word.contains("bf16") || word.contains("bfloat16")));
        return crate::half_precision(&option.value, &option.choices).map(|_| (Purpose::Precision, first));
    }
    if !is_number {
        return None;
    }
    let trimmed = name.strip_prefix("train_").unwrap_or(name);
    if let Some(rank) = rank_batch(words) {
        return Some((Purpose::Batch, rank));
    }
    let among = |list: &[&str]| list.contains(&name) || list.contains(&trimmed);
    if among(&LENGTHS) {
        return Some((Purpose::Length, 0));
    }
    among(&IMAGES).then_some((Purpose::Resolution, 0))
}

/// True for a name of recomputed activations, not of a file.
fn is_checkpointing(words: &[&str]) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let computes_again = has(&["remat", "recompute", "checkpointing", "ckpting"]);
    let of_what = has(&["grad", "gradient", "gradients", "activation", "activations", "act", "use"]);
    computes_again || (of_what && has(&["checkpoint", "checkpoints", "ckpt"]))
}

fn rank_batch(words: &[&str]) -> Option<NameRank> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let is_unit = words.iter().any(|word| ["imgs", "images", "ims", "samples"].contains(word));
    if is_unit && has(&["per"]) && has(&["gpu", "batch", "device"]) {
        return Some(0);
    }
    if has(&NOT_BATCHES) {
        return None;
    }
    let last = words.last().copied().unwrap_or_default();
    let is_sized = last == "size" && words.iter().any(|word| word.ends_with("batch"));
    if !(BATCHES.contains(&last) || is_sized || (has(&["per"]) && has(&["batch"]))) {
        return None;
    }
    Some(if has(&PARTS) {
        0
    } else if has(&WHOLE) {
        3
    } else if has(&["train"]) {
        1
    } else {
        2
    })
}

fn by_help(option: &OwnOption) -> Option<Purpose> {
    let help = option.help.to_lowercase();
    let says = |texts: &[&str]| texts.iter().any(|text| help.contains(text));
    if says(&["eval", "validation", "test set"]) {
        return None;
    }
    let is_number = option.value.as_u64().is_some_and(|number| number > 0);
    let is_off = option.value == Value::Bool(false);
    let is_half = || crate::half_precision(&option.value, &option.choices).is_some();
    if is_number && says(&["accumulat", "micro-batch", "microbatch", "micro batch"]) {
        return Some(Purpose::Accumulation);
    }
    if is_off
        && says(&["gradient checkpoint", "activation checkpoint", "checkpoint activation", "recompute", "rematerial"])
    {
        return Some(Purpose::Checkpointing);
    }
    if is_half() && says(&["mixed precision", "half precision", "bf16", "fp16", "bfloat16", "float16", "autocast"]) {
        return Some(Purpose::Precision);
    }
    if !is_number {
        return None;
    }
    let numbers: [(&[&str], Purpose); 3] = [
        (
            &["batch size", "samples per", "examples per", "images per", "mini-batch", "minibatch", "per step"],
            Purpose::Batch,
        ),
        (
            &["sequence length", "tokens per", "context length", "context size", "block size", "snippet length"],
            Purpose::Length,
        ),
        (&["image size", "resolution", "side of", "image width", "crop size"], Purpose::Resolution),
    ];
    numbers.into_iter().find(|(texts, _)| says(texts)).map(|(_, purpose)| purpose)
}

/// Returns the common form of a name's spellings: `--batch-size`, `BATCH_SIZE` and `batchSize` are `batch_size`.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    let mut before = '_';
    for c in name.trim_start_matches('-').chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            plain.push('_');
        }
        plain.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
        before = c;
    }
    plain.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, value: impl Into<Value>, help: &str, expected: Option<Purpose>) {
        let option =
            OwnOption { key: key.to_owned(), value: value.into(), help: help.to_owned(), ..OwnOption::default() };
        assert_eq!(find_purpose(&option).map(|(purpose, _)| purpose), expected, "{key}");
    }

    #[test]
    fn names_speak_for_a_purpose() {
        check("--batch-size", 64, "", Some(Purpose::Batch));
        check("trainer.perDeviceTrainBatchSize", 64, "", Some(Purpose::Batch));
        check("$BATCH", 64, "", Some(Purpose::Batch));
        check("--imgs-per-gpu", 2, "", Some(Purpose::Batch));
        check("--eval-batch-size", 64, "", None);
        check("--num-batches", 64, "", None);
        check("--gradient_accumulation_steps", 1, "", Some(Purpose::Accumulation));
        check("--accumulate", 1, "", Some(Purpose::Accumulation));
        check("--accum-dir", "out", "", None);
        check("--amp", false, "", Some(Purpose::Precision));
        check("--no-amp", false, "", None);
        check("c.yaml#train.precision", "fp32", "", Some(Purpose::Precision));
        check("--gradient-checkpointing", false, "", Some(Purpose::Checkpointing));
        check("--checkpoint", "last.pt", "", None);
        check("--checkpoint-every", 100, "", None);
        check("--resume-checkpoint", false, "", None);
        check("--max-length", 512, "", Some(Purpose::Length));
        check("imgsz", 640, "", Some(Purpose::Resolution));
        check("--lr", 1, "", None);
        check("c.yaml#disable_gradient_checkpointing", true, "", Some(Purpose::Checkpointing));
        check("--no-gradient-checkpointing", true, "", None);
    }

    #[test]
    fn descriptions_speak_where_names_do_not() {
        check("--half", false, "train in half precision", Some(Purpose::Precision));
        check("--n", 128, "samples per step", Some(Purpose::Batch));
        check("--n-val", 128, "samples per step of validation", None);
        check("--save-memory", false, "recompute activations in backward", Some(Purpose::Checkpointing));
        check("-k", 1, "micro-batches to split a batch into", Some(Purpose::Accumulation));
        check("-k", 5, "folds", None);
    }
}
