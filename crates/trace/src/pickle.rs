//! A safe reader of Python pickles, of all protocols (0 to 5), for plain data only.
//!
//! A pickle is a program for a small stack machine, and some of its instructions import and call things. This reader
//! runs those that make `None`, booleans, integers, floats, strings, bytes, lists, tuples and dicts, and refuses all
//! others by name. Nothing is ever imported or called.

// Note [Pickle arena]
// ~~~~~~~~~~~~~~~~~~~
// Values are nodes in one vector and refer to each other by index, so a value that the pickle shares stays shared,
// nothing recurses (not even dropping), and memory is at most a small multiple of the input: every instruction makes
// at most one node. The reader of such a document must still mind that a *tree* walk of shared nodes can be
// exponentially longer than the document. Decoding checks once that the values are not cyclic and not deeper than
// the limit, and reports where they are.

mod error;
mod input;
mod machine;
mod opcode;
mod shape;
mod text;
mod value;

pub use self::error::{PickleError, PickleErrorKind};
pub use self::value::{Data, Document, Entries, Items, NodeId, NodeTable, Value};

/// What a pickle may at most ask for. Memory needs no limit: it is bounded by the size of the input.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep values may be nested in each other. A snapshot needs 7.
    pub depth: u16,
    /// How many bytes the input may have. At most [`Limits::MAX_BYTES`] are ever read.
    pub bytes: usize,
}

impl Limits {
    /// Nodes are numbered by `u32`, and there are at most so many as bytes, plus the few that are always there.
    pub const MAX_BYTES: usize = u32::MAX as usize - 1024;
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 100, bytes: Limits::MAX_BYTES }
    }
}

/// Reads the pickle at the start of `input`, as `pickle.loads` does; what follows it is ignored.
pub fn decode(input: &[u8]) -> Result<Document<'_>, PickleError> {
    decode_within(input, Limits::default())
}

/// [`decode`] with other limits.
pub fn decode_within(input: &[u8], limits: Limits) -> Result<Document<'_>, PickleError> {
    let limit = limits.bytes.min(Limits::MAX_BYTES);
    if input.len() > limit {
        return Err(PickleErrorKind::TooLarge { bytes: input.len(), limit }.at(limit));
    }
    let document = machine::run(input)?;
    shape::check(&document, limits.depth)?;
    Ok(document)
}
