//! Reads the result of `torch.cuda.memory._snapshot`, from any version in [`READABLE`](crate::release::READABLE), pickled or as
//! JSON.
//!
//! Keys that a version lacks keep their defaults; keys of newer versions are skipped. A value of the wrong type is an
//! error with its path, such as `device_traces[0][17].size`.
//!
//! Nearly all values are folded into records while they are read (Note [Folding containers]). A walk from the root then
//! puts the records into the snapshot and reads the values that were not folded, which for some pickles are all.

mod annotations;
mod event;
mod fields;
mod frames;
mod json;
mod names;
mod pools;
mod record;
mod records;
mod settings;
mod traces;
mod walk;

use std::io::{self, Read};

pub use self::fields::{SnapshotError, WrongValue};
use self::records::Records;
use self::walk::Walk;
use super::Snapshot;
use crate::container::{ContentKind, sniff};
use crate::pickle::{self, Limits, ValueBuilder};

/// The number of bytes that distinguish JSON from pickles.
const HEAD: u64 = 512;

/// Reads a snapshot from a stream of its pickle or JSON; [`crate::container::open`] unpacks files.
///
/// Accepts the dict of PyTorch 2.0 and later as well as the bare list of segments of earlier versions, which
/// `torch.cuda.memory_snapshot` still returns. Memory is 48 bytes for each event, a few bytes for each container during
/// reading, and each string and stack once; [`Limits`] bounds hostile input.
pub fn read_snapshot(mut input: impl Read) -> Result<Snapshot, SnapshotError> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| SnapshotError::Read(error.to_string()))?;
    let kind = sniff(&head);
    let whole = io::Cursor::new(head).chain(input);
    let builder = ValueBuilder::new(Records::default(), names::TEXTS, Limits::default());
    let (root, builder) = match kind {
        ContentKind::Json => json::read(whole, builder)?,
        _ => pickle::read(whole, builder)?,
    };
    Walk::read(root, builder)
}
