//! sequence-length: the number where it is written. See `sizes.rs`.

use super::{Patch, sizes};

pub(super) const PATCH: Patch = Patch::new(|site| sizes::edits(site, "length"), |_| "max_length = ...".to_owned());
