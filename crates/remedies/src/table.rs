//! The table: every remedy, the cheapest kinds first.
//!
//! `summary` states the effect; the page has the costs and the cases without effect. Times are typical: `fit` counts
//! operators for the shown plans.

use crate::setting::{ARG, BUDGET, CONF, PROBE, SIZE, STEPS};
use crate::spec::Exactness::{Identical, OtherModel, OtherNumerics, UpToRounding};
use crate::spec::{RemedySpec, Saves, StandardOption};

/// The remedy whose best option a replay finds.
pub const ALLOCATOR_SETTINGS: &str = "allocator-settings";
/// The remedy that changes the number of samples in a batch.
pub const BATCH_SIZE: &str = "batch-size";
/// The remedy that runs a batch in parts.
pub const GRADIENT_ACCUMULATION: &str = "gradient-accumulation";
/// The remedy that computes activations again.
pub const CHECKPOINTING: &str = "activation-checkpointing";
/// The remedy that sets the program's own options, keys and variables.
pub const OWN_OPTIONS: &str = "own-options";
/// The remedy that bounds what a compiler keeps for backward.
pub const ACTIVATION_MEMORY_BUDGET: &str = "activation-memory-budget";
/// The remedy that needs several GPUs.
pub const FULLY_SHARD: &str = "fully-shard";
/// The remedy that evaluates without gradients.
pub const NO_GRAD_IN_EVAL: &str = "no-grad-in-eval";

const fn alone(time_ratio: f64) -> StandardOption {
    StandardOption::alone(time_ratio)
}

const fn number(key: &'static str, value: u64, time_ratio: f64) -> StandardOption {
    StandardOption::number(key, value, time_ratio)
}

const fn text(key: &'static str, value: &'static str, time_ratio: f64) -> StandardOption {
    StandardOption::text(key, value, time_ratio)
}

/// Every remedy, the cheapest kinds first. Plans list changes in the same order.
pub const TABLE: &[RemedySpec] = &[
    RemedySpec::new(ALLOCATOR_SETTINGS, Identical, "other settings of PyTorch's caching allocator, found by replay")
        .group("allocator")
        .options(&[text(CONF, "expandable_segments:True", 1.0)])
        .settings(&[CONF])
        .without_agent()
        // The first statement of the file, so the last edit.
        .edits(200),
    RemedySpec::new("set-to-none", Identical, "gradients are dropped instead of filled with zeros")
        .saves(Saves::Gradients)
        .options(&[alone(1.0)])
        .settings(&["place"])
        .whole_edits(160),
    RemedySpec::new(NO_GRAD_IN_EVAL, Identical, "evaluation runs under torch.no_grad()")
        .options(&[alone(0.98)])
        .all_or_nothing()
        .edits(150),
    RemedySpec::new("inplace-activations", Identical, "activation functions overwrite their input")
        .saves(Saves::Activations)
        .options(&[alone(0.99)])
        .edits(80),
    RemedySpec::new("optimizer-fused", UpToRounding, "one kernel updates parameters and state, without temporaries")
        .group("optimizer")
        .options(&[alone(0.98)])
        .edits(10),
    RemedySpec::new("optimizer-foreach-off", Identical, "parameters are updated one after the other")
        .group("optimizer")
        .options(&[alone(1.03)])
        .edits(20),
    RemedySpec::new("sdpa", UpToRounding, "attention never stores the matrix of scores")
        .group("attention")
        .options(&[alone(0.9)])
        .edits(70),
    RemedySpec::new("chunked-cross-entropy", UpToRounding, "the loss is computed for a part of the tokens at a time")
        .group("loss")
        .options(&[number("chunks", 8, 1.03), number("chunks", 32, 1.05)])
        .settings(&["chunks"])
        .edits(90),
    RemedySpec::new(GRADIENT_ACCUMULATION, UpToRounding, "a batch runs in parts whose gradients add up")
        .group("accumulation")
        .options(&[
            number(STEPS, 2, 1.02),
            number(STEPS, 4, 1.04),
            number(STEPS, 8, 1.07),
            number(STEPS, 16, 1.12),
            number(STEPS, 32, 1.2),
            number(STEPS, 64, 1.3),
        ])
        .settings(&[STEPS])
        .all_or_nothing()
        // Loops late: an edit of a loop moves the lines of other edits.
        .whole_edits(170),
    RemedySpec::new(CHECKPOINTING, Identical, "backward computes a block's activations again")
        .saves(Saves::Activations)
        .group("checkpointing")
        .options(&[alone(1.33)])
        .settings(&["blocks"])
        .whole_edits(110),
    RemedySpec::new(ACTIVATION_MEMORY_BUDGET, UpToRounding, "a compiler computes activations again, within a budget")
        .saves(Saves::Activations)
        .group("checkpointing")
        .options(&[
            text(BUDGET, "0.8", 1.03),
            text(BUDGET, "0.5", 1.08),
            text(BUDGET, "0.3", 1.13),
            text(BUDGET, "0.1", 1.2),
        ])
        .settings(&[BUDGET])
        .edits(195),
    RemedySpec::new("optimizer-offload", UpToRounding, "the optimizer's state and step are on the host, by torchao")
        .saves(Saves::Optimizer)
        .late()
        .group("optimizer")
        .options(&[alone(1.6)])
        .all_or_nothing()
        .edits(60),
    RemedySpec::new("activation-offload", Identical, "saved activations wait for backward in host memory")
        .saves(Saves::Activations)
        .late()
        .group("checkpointing")
        .options(&[alone(1.8)])
        .edits(190),
    RemedySpec::new("autocast", OtherNumerics, "forward and loss compute in bfloat16 or float16")
        .group("precision")
        .options(&[text("dtype", "bf16", 0.6)])
        .settings(&["dtype"])
        .edits(180),
    RemedySpec::new("optimizer-8bit", OtherNumerics, "the optimizer's state has 8 bits, by bitsandbytes")
        .saves(Saves::Optimizer)
        .late()
        .group("optimizer")
        .options(&[alone(1.0)])
        .edits(30),
    RemedySpec::new("optimizer-paged", OtherNumerics, "the optimizer's state is in managed memory, by bitsandbytes")
        .saves(Saves::Optimizer)
        .late()
        .group("optimizer")
        .options(&[alone(1.1)])
        .settings(&["bits"])
        .edits(50),
    RemedySpec::new("optimizer-adafactor", OtherNumerics, "Adafactor keeps one row and one column of each moment")
        .saves(Saves::Optimizer)
        .late()
        .group("optimizer")
        .options(&[alone(1.05)])
        .edits(40),
    RemedySpec::new("lora", OtherModel, "frozen weights, and low-rank adapters that are trained, by PEFT")
        .late()
        .options(&[number("rank", 16, 0.8)])
        .settings(&["rank"])
        .edits(95),
    RemedySpec::new("weights-8bit", OtherModel, "linear layers keep their weights in 8 bits, by bitsandbytes")
        .saves(Saves::Parameters)
        .late()
        .group("weights")
        .options(&[alone(1.2)])
        .beside("lora")
        .snippet(),
    RemedySpec::new("weights-4bit", OtherModel, "linear layers keep their weights in 4 bits, by bitsandbytes")
        .saves(Saves::Parameters)
        .late()
        .group("weights")
        .options(&[alone(1.2)])
        .beside("lora")
        .snippet(),
    RemedySpec::new("weights-offload", Identical, "weights stay on the host and visit the GPU, by accelerate")
        .saves(Saves::Parameters)
        .late()
        .group("weights")
        .options(&[alone(3.0)])
        .edits(100),
    RemedySpec::new(FULLY_SHARD, UpToRounding, "weights, gradients and state are divided among GPUs")
        .late()
        .asked()
        .options(&[number("gpus", 2, 1.1), number("gpus", 4, 1.1), number("gpus", 8, 1.1)])
        .settings(&["gpus"])
        .before_torch()
        .snippet(),
    RemedySpec::new("sequence-length", OtherModel, "fewer tokens in each sequence")
        .late()
        .asked()
        .settings(&["length", ARG, PROBE])
        .before_torch()
        .edits(130),
    RemedySpec::new("resolution", OtherModel, "smaller images")
        .late()
        .asked()
        .settings(&[SIZE, ARG, PROBE])
        .before_torch()
        .edits(140),
    RemedySpec::new(BATCH_SIZE, OtherModel, "fewer samples in each batch")
        .late()
        .asked()
        .settings(&[SIZE, ARG, PROBE])
        .before_torch()
        .edits(120),
    RemedySpec::new(OWN_OPTIONS, Identical, "other values of the program's own options, keys of files and variables")
        .asked()
        .settings(&[PROBE])
        .before_torch(),
    RemedySpec::new("empty-cache", Identical, "torch.cuda.empty_cache() after each step")
        .folklore()
        .options(&[alone(1.0)]),
    RemedySpec::new("gc-collect", Identical, "gc.collect() after each step").folklore().options(&[alone(1.0)]),
    RemedySpec::new("num-workers", Identical, "fewer workers of the DataLoader")
        .folklore()
        .options(&[alone(1.0)])
        .settings(&["n"]),
    RemedySpec::new("pin-memory", Identical, "pinned memory of the DataLoader")
        .folklore()
        .options(&[alone(1.0)])
        .settings(&["on"]),
    RemedySpec::new("bigger-gpu", Identical, "the smallest GPU that the unchanged program fits")
        .asked()
        .without_agent(),
];
