//! Reads what `torch.cuda.memory._snapshot` returned, of PyTorch 1.13 to 2.15, pickled or as JSON.
//!
//! Keys that a version lacks are left at their defaults; keys that a newer one adds are passed over. What is there but
//! of the wrong type is an error that names its place, such as `device_traces[0][17].size`.
//!
//! Nearly everything is folded into records while it is read (Note [Folding containers]); then a walk from the root puts them
//! into the snapshot and reads what was not folded, which for some pickles is all of it.

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
use crate::container::{Kind, sniff};
use crate::pickle::{self, Builder, Limits};

/// How many bytes are looked at to tell JSON from a pickle.
const HEAD: u64 = 512;

/// Reads a snapshot from its pickle or JSON, as a stream; [`crate::container::open`] unpacks what is packed.
///
/// Takes the dict of PyTorch 2.0 and later as well as the bare list of segments of versions before, which
/// `torch.cuda.memory_snapshot` returns to this day. Memory is 48 bytes for each event, a few bytes for each container
/// while it is read, and each string and stack once; [`Limits`] bounds what hostile input can ask for.
pub fn read_snapshot(mut input: impl Read) -> Result<Snapshot, SnapshotError> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head).map_err(|error| SnapshotError::Read(error.to_string()))?;
    let kind = sniff(&head);
    let whole = io::Cursor::new(head).chain(input);
    let builder = Builder::new(Records::default(), names::TEXTS, Limits::default());
    let (root, builder) = match kind {
        Kind::Json => json::read(whole, builder)?,
        _ => pickle::read(whole, builder)?,
    };
    Walk::read(root, builder)
}
