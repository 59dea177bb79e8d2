//! sequence-length: the number where it is written. See `sizes.rs`.

use super::{Patch, sizes};

pub(super) const PATCH: Patch = Patch::new(|place| sizes::edits(place, "length"), |_| "max_length = ...".to_owned());
