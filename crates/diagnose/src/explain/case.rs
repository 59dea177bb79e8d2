//! The input of `explain`: the named files, already read.

use report::explain::InputKind;
use trace::text::Artifact;
use trace::{Launch, Run, Snapshot};

/// The files that a crash left.
#[derive(Clone, Debug, Default)]
pub struct ExplainCase {
    /// The named inputs in the user's order; the files of a directory are sorted by name.
    pub inputs: Vec<ExplainInput>,
    /// oomph's own version.
    pub version: String,
    /// The reader's working directory; paths are shown relative to it.
    pub folder: String,
}

/// One file, run directory or standard input.
#[derive(Clone, Debug)]
pub struct ExplainInput {
    /// The path as the user wrote it; `-` for standard input.
    pub path: String,
    /// The rank, if the file name contains the rank.
    pub rank: Option<u32>,
    /// The parsed contents.
    pub contents: InputContents,
}

/// The kinds of input.
#[derive(Clone, Debug)]
pub enum InputContents {
    /// A memory snapshot.
    Snapshot(Box<Snapshot>),
    /// A run directory of oomph, with its `run.json` if the file exists.
    Run(Run, Option<Launch>),
    /// A text, as [`trace::text::read`] parses it.
    Text(Vec<Artifact>),
}

/// Returns the PyTorch versions that write such a snapshot, formatted for people.
fn versions(snapshot: &Snapshot) -> String {
    let versions = snapshot.torch;
    match versions.before {
        Some(before) => format!("{} or later, before {before}", versions.from),
        None => format!("{} or later", versions.from),
    }
}

impl InputContents {
    /// Returns the PyTorch versions that write the input's format.
    pub(super) fn torch(&self) -> Option<String> {
        match self {
            InputContents::Snapshot(snapshot) => Some(versions(snapshot)),
            InputContents::Run(run, _) => run.torch().map(str::to_owned),
            InputContents::Text(_) => None,
        }
    }

    pub(super) fn kind(&self) -> InputKind {
        match self {
            InputContents::Snapshot(_) => InputKind::Snapshot,
            InputContents::Run(..) => InputKind::Run,
            InputContents::Text(_) => InputKind::Text,
        }
    }
}
