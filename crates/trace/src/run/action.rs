//! The record of an edit that a remedy made to the running program.
//!
//! # Note [Actions]
//! A remedy records each edit as an action: a kind with typed fields. Whoever writes the same edit into the source (`patch`) matches
//! on the action; the text beside it in the record is for people. The agent builds actions with the functions of
//! `python/oomph/agent/remedies/actions.py`, which `make generate` writes from the table below.

use serde::{Deserialize, Serialize};

/// A field of an action: its name and its type in Python.
pub type ActionField = (&'static str, &'static str);

/// An action's kind as data, for those who write code from it.
#[derive(Clone, Copy, Debug)]
pub struct ActionKind {
    /// The value of `kind` in the record.
    pub name: &'static str,
    /// The action in one sentence.
    pub summary: &'static str,
    /// Its fields in order.
    pub fields: &'static [ActionField],
}

macro_rules! actions {
    ($( #[doc = $summary:literal] $variant:ident = $name:literal { $( #[doc = $field_doc:literal] $field:ident: $type:tt, )* } )*) => {
        /// An edit that a remedy made to the running program. See Note `[Actions]`.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum RemedyAction {
            $( #[doc = $summary] #[serde(rename = $name)] $variant { $( #[doc = $field_doc] $field: rust_type!($type), )* }, )*
        }

        impl RemedyAction {
            /// Every kind.
            pub const KINDS: &[ActionKind] = &[
                $( ActionKind {
                    name: $name,
                    summary: $summary,
                    fields: &[ $( (stringify!($field), python_type!($type)), )* ],
                }, )*
            ];
        }
    };
}

macro_rules! rust_type {
    (text) => { String };
    (texts) => { Vec<String> };
    (count) => { u64 };
}

macro_rules! python_type {
    (text) => {
        "str"
    };
    (texts) => {
        "list[str]"
    };
    (count) => {
        "int"
    };
}

actions! {
    /// The only edit of the remedy; the remedy's name and settings describe the edit.
    Apply = "apply" {}
    /// A call is given a keyword argument, or another value for it.
    SetArgument = "set-argument" {
        /// The name of the class or function that is called.
        callee: text,
        /// The argument.
        keyword: text,
        /// Its value, as Python.
        value: text,
    }
    /// A size that a call is given is divided.
    DivideArgument = "divide-argument" {
        /// The name of the class that is called.
        callee: text,
        /// The argument.
        keyword: text,
        /// The divisor.
        parts: count,
    }
    /// A number that a call is given is multiplied; an absent one counts as 1.
    MultiplyArgument = "multiply-argument" {
        /// The name of the class that is called.
        callee: text,
        /// The argument.
        keyword: text,
        /// The factor.
        factor: count,
    }
    /// The program constructs another class.
    ReplaceClass = "replace-class" {
        /// The name of the program's class.
        old: text,
        /// The new class with its module.
        new: text,
    }
    /// A method of the model is called once, after the model is made.
    CallMethod = "call-method" {
        /// The class of the model.
        model: text,
        /// The method, which takes no arguments.
        method: text,
    }
    /// The model's repeated blocks run in checkpoints.
    CheckpointBlocks = "checkpoint-blocks" {
        /// The classes of the blocks.
        classes: texts,
    }
    /// Backward starts from the loss divided by the number of micro-batches.
    ScaleLoss = "scale-loss" {
        /// The number of micro-batches.
        steps: count,
    }
    /// Backward starts from the loss as it is: a sum over the batch needs no division.
    KeepLoss = "keep-loss" {}
    /// The optimizer steps once in so many calls, together with everything that belongs to a step.
    GateStep = "gate-step" {
        /// The class of the optimizer.
        optimizer: text,
        /// The number of micro-batches.
        steps: count,
    }
    /// A call of `cross_entropy` computes a part of the tokens at a time.
    ChunkLoss = "chunk-loss" {
        /// The number of parts.
        chunks: count,
    }
    /// A model's output layer and loss run on a part of the tokens at a time.
    ChunkHead = "chunk-head" {
        /// The class of the model.
        model: text,
        /// The number of parts.
        chunks: count,
    }
    /// `zero_grad` runs straight after the optimizer's step.
    MoveZeroGrad = "move-zero-grad" {}
    /// A size is another number.
    SetSize = "set-size" {
        /// The option, argument or variable.
        name: text,
        /// The new size.
        size: count,
        /// The program's own.
        previous: count,
    }
    /// A size has the wanted number already.
    KeepSize = "keep-size" {
        /// The option, argument or variable.
        name: text,
        /// The size.
        size: count,
    }
    /// A size was found; nothing was asked of it.
    FindSize = "find-size" {
        /// The option, argument or variable.
        name: text,
        /// The size.
        size: count,
    }
}

impl Default for RemedyAction {
    fn default() -> RemedyAction {
        RemedyAction::Apply {}
    }
}
