//! The guards of a dry run: the user's files are unchanged at the end. The first guard is a copy of the file system for one
//! program, the second a journal of its changes ([`undo`]).
//!
//! The writes, renames and removals of a program in a private world land in layers; the program sees
//! the changes as real, and the user's files stay unchanged.
//!
//! # Note [World]
//!
//! A program's process enters a world before the program starts: [`enter`] makes a mount namespace (with a user namespace for users
//! without the right), lays an overlay over every folder below `/` with a suitable file system, and makes the result the root.
//! Folders without a layer are mounted unchanged and named in the record ([`Record`]): the file systems of the kernel (`/proc`,
//! `/sys`, `/dev`), `/run` with the sockets of daemons, read-only mounts, and folders refused by the kernel.
//!
//! An overlay must not contain the overlay's upper folder: each overlay takes a scratch folder elsewhere ([`Spec::scratches`]).
//! A folder above locked mounts cannot be a lower folder (`clone_private_mount`, fs/namespace.c, Linux 6.18),
//! and in a user namespace every inherited mount is locked: such a folder is split, with a separate mount for each entry.
//!
//! Layers are folders of the scratch, and outlive the namespace: [`count`] reads the changes there, and [`remove`] deletes the layers.

#![allow(rustdoc::broken_intra_doc_links, reason = "the headings of notes are in brackets, and are no items")]

mod confine;
mod effects;
mod enter;
mod inputs;
mod layer;
mod loopback;
mod mounts;
mod owners;
mod record;
mod scratch;
mod settings;
mod spec;
pub mod undo;

pub use effects::{Effects, FileChange, FileChangeKind, count, was_renamed};
pub use enter::{EnterError, Entered, enter};
pub use record::{Layer, Record, Uncovered};
pub use scratch::remove;
pub use spec::{Addition, Input, Spec, SpecError};
