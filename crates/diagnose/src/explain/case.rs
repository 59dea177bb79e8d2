//! What `explain` is about: the files that were named, already read.

use report::explain::InputKind;
use trace::text::Artifact;
use trace::{Launch, Run, Snapshot};

use crate::measure::records::torch;

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

/// The versions that write such a snapshot, for people.
fn versions(snapshot: &Snapshot) -> String {
    let versions = snapshot.torch;
    match versions.before {
        Some(before) => format!("{} or later, before {before}", versions.from),
        None => format!("{} or later", versions.from),
    }
}

impl Contents {
    /// The versions of PyTorch that write it.
    pub(super) fn torch(&self) -> Option<String> {
        match self {
            Contents::Snapshot(snapshot) => Some(versions(snapshot)),
            Contents::Run(run, _) => torch(run).map(str::to_owned),
            Contents::Text(_) => None,
        }
    }

    pub(super) fn kind(&self) -> InputKind {
        match self {
            Contents::Snapshot(_) => InputKind::Snapshot,
            Contents::Run(..) => InputKind::Run,
            Contents::Text(_) => InputKind::Text,
        }
    }
}
