//! Every wording, wrapped, prefixed, cut and escaped: the corpus of texts that people have after a crash.
//!
//! The wordings are PyTorch's and the drivers'; the sentences around them and all numbers are ours. Each number is
//! written in the table with the range of sizes that PyTorch prints so, which comes from its formatting and not from the
//! reader.
#![expect(clippy::unwrap_used, reason = "tests")]

mod allocator;
mod expect;
mod hostile;
mod logs;
mod look_alikes;
mod outside;
mod sizes;
mod tables;
mod wrappings;
