//! Differences between PyTorch versions, as data.

use trace::Release;

/// The order of free blocks of equal size on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// Lowest address first (up to 2.11).
    Address,
    /// Oldest block first, counting every split (2.12; pull request 178362).
    BlockNumber,
    /// Oldest segment first, then the lowest address (2.13 and later; pull request 183591).
    SegmentNumber,
}

/// The behaviour of one PyTorch version, where versions differ. Settings unknown to a version are rejected by the
/// parser and never reach the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a change of PyTorch that came by itself")]
pub struct Rules {
    /// The order among equal sizes.
    pub tie: Tie,
    /// Setting the memory fraction to 1 sets a limit, and thereby enables garbage collection (up to 2.9).
    pub whole_fraction_limits: bool,
    /// A share of the device is rounded down in 2.11, to the nearest byte in 2.15; 2.12 to 2.14 are untested.
    pub fraction_is_rounded: bool,
    /// Allocating to any private pool, not only a capture of the current stream, suspends events and recovery from OOM
    /// (up to 2.12).
    pub pools_suspend_recovery: bool,
    /// Of several private pools for a request, the one begun first serves it (up to 2.6), else the last.
    pub first_pool_wins: bool,
    /// A request beyond the address space of a new expandable segment fails and takes that segment with it (2.15 and later).
    pub unfit_segment_is_dropped: bool,
    /// Releasing oversize blocks stops with an internal assertion at an expandable one (2.1 to 2.5; pull request 123548).
    pub oversize_release_asserts: bool,
    /// Pools with an allocator of their own never use expandable segments (2.11 and later).
    pub custom_pools_never_expand: bool,
}

impl Rules {
    /// The rules of a version. Older than 2.0 count as 2.0, newer than 2.15 as 2.15: the range that was compared.
    pub fn of(release: Release) -> Rules {
        let at_least = |minor| release >= Release { major: 2, minor };
        Rules {
            tie: match () {
                () if at_least(13) => Tie::SegmentNumber,
                () if at_least(12) => Tie::BlockNumber,
                () => Tie::Address,
            },
            whole_fraction_limits: !at_least(10),
            fraction_is_rounded: at_least(15),
            pools_suspend_recovery: !at_least(13),
            first_pool_wins: !at_least(7),
            unfit_segment_is_dropped: at_least(15),
            oversize_release_asserts: !at_least(6),
            custom_pools_never_expand: at_least(11),
        }
    }
}
