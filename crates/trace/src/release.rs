//! Versions of PyTorch, and the versions that oomph supports.
//!
//! The newest version also stands in `README.md` and `docs/COMPATIBILITY.md`; `tests/release.rs` compares the three.
//! CONTRIBUTING lists the steps for a new version.

use std::fmt;

/// A version of PyTorch, without its patch level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The 2 of 2.11.
    pub major: u8,
    /// The 11 of 2.11.
    pub minor: u8,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A range of versions, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Releases {
    /// The oldest version.
    pub first: Release,
    /// The newest version.
    pub last: Release,
}

/// The newest version whose allocator, snapshots and libraries were compared with oomph's.
pub const NEWEST: Release = Release { major: 2, minor: 15 };

/// The versions that run on the phantom.
pub const SUPPORTED: Releases = Releases { first: Release { major: 2, minor: 5 }, last: NEWEST };

/// The versions whose snapshots are read.
pub const READABLE: Releases = Releases { first: Release { major: 1, minor: 13 }, last: NEWEST };

impl Release {
    /// Parses the version at the start of `text`, as in `2.11.0+cu130`.
    pub fn parse(text: &str) -> Option<Release> {
        let mut parts = text.split('.');
        let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?);
        let digits = minor.find(|c: char| !c.is_ascii_digit()).map_or(minor, |end| &minor[..end]);
        Some(Release { major, minor: digits.parse().ok()? })
    }
}

impl Releases {
    /// Tests that a version is in the range.
    pub fn contains(self, release: Release) -> bool {
        (self.first..=self.last).contains(&release)
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.first, self.last)
    }
}
