//! The guards of a dry run: the user's files are as they were when it ends. The first guard is a copy of the file system for one
//! program, the second a journal of its changes ([`undo`]).
//!
//! The writes, renames and removals of a program in a world of its own land in layers; the program sees
//! them as real, and the user's files stay as they were.
//!
//! # Note [World]
//!
//! A program enters a world in its own process, before it starts: [`enter`] makes a mount namespace (with a user namespace for users
//! without the right), lays an overlay over every folder below `/` whose file system takes one, and makes the result the root.
//! What the kernel cannot layer is mounted as it is and named in the record ([`Record`]): the file systems of the kernel (`/proc`,
//! `/sys`, `/dev`), `/run` with the sockets of daemons, read-only mounts, and folders that an overlay refuses.
//!
//! An overlay must not contain its own upper folder, so each overlay takes a scratch folder that lies elsewhere ([`Spec::scratches`]).
//! An overlay cannot have a folder with locked mounts below it as its lower folder (`clone_private_mount`, fs/namespace.c, Linux 6.18),
//! and in a user namespace every inherited mount is locked: such a folder is split, which means that its entries are mounted one by one.
//!
//! Layers are folders of the scratch, and outlive the namespace: [`count`] reads the changes from them, and [`remove`] deletes them.

mod effects;
mod enter;
mod layer;
mod loopback;
mod mounts;
mod owners;
mod record;
mod scratch;
mod spec;
pub mod undo;

pub use effects::{Change, ChangeKind, Effects, count};
pub use enter::{EnterError, enter};
pub use record::{Layer, Record, Uncovered};
pub use scratch::remove;
pub use spec::{Spec, SpecError};
