//! The registry of rules. Each file in `rules` is one rule, named after the pattern that it finds; the page of a rule is
//! `docs/lint/NAME.md`, its cases are `cases/NAME.md`.
//!
//! Only `lib.rs` reads the registry. `build.rs` writes it from the folder, so that a new rule needs no line here.

use crate::rule::Rule;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));
