//! What `explain` is about: the files that were named, already read.

use report::explain::InputKind;
use trace::text::Artifact;
use trace::{Launch, Run, Snapshot};

/// What people have after a crash.
#[derive(Clone, Debug, Default)]
pub struct ExplainCase {
    /// What was named, in that order; a folder's files by name.
    pub inputs: Vec<ExplainInput>,
    /// oomph's own version.
    pub version: String,
    /// The folder that the reader stands in; paths are shown relative to it.
    pub folder: String,
}

/// One file, run directory or standard input.
#[derive(Clone, Debug)]
pub struct ExplainInput {
    /// As it was named; `-` for standard input.
    pub path: String,
    /// The rank it is of, where its name says so.
    pub rank: Option<u32>,
    /// What was read from it.
    pub contents: Contents,
}

/// What an input turned out to hold.
#[derive(Clone, Debug)]
pub enum Contents {
    /// A memory snapshot.
    Snapshot(Box<Snapshot>),
    /// A run directory of oomph's, with its `run.json` where it has one.
    Run(Run, Option<Launch>),
    /// A text, as [`trace::text::read`] reads it.
    Text(Vec<Artifact>),
}

impl Contents {
    pub(super) fn kind(&self) -> InputKind {
        match self {
            Contents::Snapshot(_) => InputKind::Snapshot,
            Contents::Run(..) => InputKind::Run,
            Contents::Text(_) => InputKind::Text,
        }
    }
}
