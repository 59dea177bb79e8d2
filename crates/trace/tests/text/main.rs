//! Every wording, wrapped, prefixed, cut and escaped: a corpus of texts from crashes.
//!
//! The wordings are those of PyTorch and the drivers; the sentences around them and all numbers are made up. Each
//! number is in the table with the range of sizes that PyTorch prints in the same form, computed from PyTorch's
//! formatting, not by the reader.
#![expect(clippy::unwrap_used, reason = "tests")]

mod allocator;
mod expect;
mod hostile;
mod logs;
mod look_alikes;
mod outside;
mod pieces;
mod sizes;
mod tables;
mod wrappings;
