//! Device memory that NCCL takes for itself.
//!
//! # Note [NCCL buffers]
//!
//! A connection from one rank to the next has, on the receiving device, a buffer per protocol and a header, in whole
//! pages of 2 MiB (`p2pRecvSetup` in `transport/p2p.cc`; sizes in `device.h`; NCCL 2.28): Simple 4 MiB
//! (`NCCL_BUFFSIZE`), LL 512 KiB, LL128 4800 KiB. Connections are made when first needed (`NCCL_RUNTIME_CONNECT`, 1 by
//! default): a ring has one per channel, the trees that an all-reduce may use two more (from above and from below), and
//! `ncclSend`/`ncclRecv` one per channel for each peer of the same machine; peers of other machines share buffers. The
//! number of channels is from logs of NCCL for whole machines (NVIDIA/nccl issues 713, 1041, 1259, 1685). Against
//! published measurements: a first all-reduce on A100 with NVLink took 544 MB in a group of two and 688 MB in larger ones
//! (issue 964), here 480 and 720 MiB.
//!
//! On Hopper and later a process's first communicator takes 660 MiB even with a single rank, and a first all-reduce takes
//! 255 MiB more with two ranks, 310 MiB with eight. The source is `nvidia-smi` in training logs, right after
//! `init_process_group` and `barrier` on H100 80GB HBM3, less a bare context of 510 to 526 MiB: 1,184, 1,440 and 1,496 MiB
//! (8 logs with one rank, 1 with two, 11 with eight; PyTorch 2.7 to 2.11, drivers 565 to 590). The ring's buffers explain
//! 240 MiB of the growth, so an all-reduce there counts the rest in the place of trees. Further communicators are taken
//! to share the 660 MiB. Other GPUs have no such figure: neither kernels, NVLS, `CollNet` nor proxies are counted on them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use wire::owner::NCCL;

use crate::{device, journal, ledger};

/// `NCCL_BUFFSIZE`'s default.
const SIMPLE_BYTES: u64 = 4 << 20;
/// `NCCL_LL_BUFF_SIZE` of `device.h`: 8 lines for each of 512 threads, 8 steps, 16 bytes a line.
const LL_BYTES: u64 = 8 * 512 * 8 * 16;
/// `NCCL_LL128_BUFF_SIZE` of `device.h`: 120 elements for each of 640 threads, 8 steps, 8 bytes an element.
const LL128_BYTES: u64 = 120 * 640 * 8 * 8;
/// `MAXCHANNELS` of `device.h`.
const MOST_CHANNELS: u64 = 64;
/// The memory of a process's first communicator on Hopper and later. See Note [NCCL buffers].
const FIRST_COMMUNICATOR_BYTES: u64 = 660 << 20;
/// The memory of a first all-reduce of two ranks on Hopper and later, beside the ring's buffers.
const REDUCING_TWO_BYTES: u64 = 15 << 20;
/// The same of more ranks.
const REDUCING_MANY_BYTES: u64 = 70 << 20;
/// The first generation with those figures.
const HOPPER: u32 = 9;
/// Channels to one peer of the same machine, at most (NVIDIA/nccl issue 1685); a power of two (`p2pnChannels`).
const MOST_CHANNELS_TO_A_PEER: u64 = 32;

/// The devices on which this process has had a communicator.
static STARTED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Connection {
    /// To the next rank of every ring.
    Ring,
    /// To the ranks above and below in every tree.
    Tree,
    /// To one peer.
    Peer(i32),
}

/// The connections of a communicator, and their memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    made: BTreeSet<Connection>,
    pieces: Vec<u64>,
}

/// NCCL's sizes by the user's environment and the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    channels: u64,
    connection_bytes: u64,
    /// The memory of the first communicator; zero before Hopper.
    first_bytes: u64,
}

/// Takes the memory of the first communicator on a device, which stays to the end of the process.
pub(super) fn start(on: i32) -> Result<(), ledger::OutOfMemory> {
    let sizes = Sizes::of_environment();
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if sizes.first_bytes == 0 || started.contains(&on) {
        return Ok(());
    }
    ledger::take(on.unsigned_abs(), NCCL, sizes.first_bytes)?;
    started.insert(on);
    sizes.note(0);
    Ok(())
}

impl Held {
    /// Makes a connection of a communicator of `count` ranks; `Err` where the device has no room for its buffers.
    pub(super) fn connect(&mut self, connection: Connection, count: i32, on: i32) -> Result<(), ledger::OutOfMemory> {
        if count < 2 || self.made.contains(&connection) || self.is_elsewhere(connection) {
            return Ok(());
        }
        let sizes = Sizes::of_environment();
        let bytes = sizes.bytes_of(connection, count);
        ledger::take(on.unsigned_abs(), NCCL, bytes)?;
        self.made.insert(connection);
        self.pieces.push(bytes);
        sizes.note(self.pieces.iter().sum());
        Ok(())
    }

    /// Peers of other machines share buffers. The number of ranks on this machine is unknown: the number of devices is
    /// assumed.
    fn is_elsewhere(&self, connection: Connection) -> bool {
        let peers = self.made.iter().filter(|made| matches!(made, Connection::Peer(_))).count();
        matches!(connection, Connection::Peer(_)) && peers + 1 >= device::count() as usize
    }

    /// The communicator is gone.
    pub(super) fn release(&self, on: i32) {
        for bytes in &self.pieces {
            ledger::give_back(on.unsigned_abs(), NCCL, *bytes);
        }
    }
}

impl Sizes {
    fn of_environment() -> Sizes {
        let profile = device::profile();
        let default = channels_of(&profile.name, profile.compute_capability);
        let first_bytes = first_bytes_of(&profile.name, profile.compute_capability);
        Sizes::of(default, first_bytes, |name| std::env::var(name).ok()?.trim().parse().ok())
    }

    /// `NCCL_MAX_CTAS` and `NCCL_MIN_CTAS` are the newer names, and win.
    fn of(default_channels: u64, first_bytes: u64, variable: impl Fn(&str) -> Option<u64>) -> Sizes {
        let most = variable("NCCL_MAX_CTAS").or_else(|| variable("NCCL_MAX_NCHANNELS")).filter(|most| *most > 0);
        let least = variable("NCCL_MIN_CTAS").or_else(|| variable("NCCL_MIN_NCHANNELS")).unwrap_or(0);
        let channels = default_channels.min(most.unwrap_or(MOST_CHANNELS)).max(least).clamp(1, MOST_CHANNELS);
        let simple = variable("NCCL_BUFFSIZE").filter(|bytes| (1..=1 << 40).contains(bytes)).unwrap_or(SIMPLE_BYTES);
        let header = 1; // `struct ncclRecvMem`: a page of the host at most, and it opens a page of the device.
        let connection_bytes = (simple + LL_BYTES + LL128_BYTES + header).next_multiple_of(ledger::PAGE_BYTES);
        Sizes { channels, connection_bytes, first_bytes }
    }

    /// Returns the memory of the connections of one kind.
    fn bytes_of(self, connection: Connection, count: i32) -> u64 {
        let connections = match connection {
            Connection::Ring => self.channels,
            Connection::Tree if self.first_bytes > 0 && count == 2 => return REDUCING_TWO_BYTES,
            Connection::Tree if self.first_bytes > 0 => return REDUCING_MANY_BYTES,
            Connection::Tree if count == 2 => self.channels,
            Connection::Tree => 2 * self.channels,
            Connection::Peer(_) => self.channels.next_power_of_two().min(MOST_CHANNELS_TO_A_PEER),
        };
        connections * self.connection_bytes
    }

    /// Notes the memory of a communicator with `bytes` of connections.
    fn note(self, bytes: u64) {
        let Sizes { channels, connection_bytes, first_bytes } = self;
        let buffers = format!("{channels} channels, {} MiB a connection", connection_bytes >> 20);
        let text = if first_bytes > 0 {
            let first_mib = first_bytes >> 20;
            format!(
                "NCCL takes {first_mib} MiB, as measured on H100, and buffers by its documented defaults: {buffers}"
            )
        } else {
            format!(
                "NCCL's buffers follow its documented defaults: {buffers}; its kernels, NVLS and proxies are not counted"
            )
        };
        journal::record_assumption("nccl-buffers", &text, first_bytes + bytes);
    }
}

/// Channels of a whole machine of such GPUs. Without NVLink there is a single ring, used twice ("2 coll channels");
/// with NVLink, execution channels are twice the search's, which finds one for each link (issues 713 and 1041; 24 on
/// H100, 1259).
fn channels_of(name: &str, compute_capability: (u32, u32)) -> u64 {
    match compute_capability.0 {
        _ if !has_nvlink(name) => 2,
        0..8 => 12,
        _ => 24,
    }
}

/// Returns the memory of a first communicator: known of Hopper with NVLink, and taken for later GPUs with NVLink.
fn first_bytes_of(name: &str, compute_capability: (u32, u32)) -> u64 {
    let is_known = compute_capability.0 >= HOPPER && has_nvlink(name);
    if is_known { FIRST_COMMUNICATOR_BYTES } else { 0 }
}

fn has_nvlink(name: &str) -> bool {
    ["SXM", "HBM3", "NVL", "B100", "B200", "B300", "H200", "GH200"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn sizes_follow_the_environment() {
        type Variables = &'static [(&'static str, u64)];
        let cases: [(Variables, u64, u64); 5] = [
            (&[], 24, 10),
            (&[("NCCL_BUFFSIZE", 8 * MIB)], 24, 14),
            (&[("NCCL_MAX_NCHANNELS", 4)], 4, 10),
            (&[("NCCL_MIN_NCHANNELS", 32)], 32, 10),
            (&[("NCCL_MAX_NCHANNELS", 4), ("NCCL_MAX_CTAS", 8), ("NCCL_MIN_NCHANNELS", 6)], 8, 10),
        ];
        for (set, channels, mib) in cases {
            let sizes = Sizes::of(24, 0, |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| *value));
            assert_eq!(sizes, Sizes { channels, connection_bytes: mib * MIB, first_bytes: 0 }, "{set:?}");
        }
    }

    #[test]
    fn links_are_told_by_name() {
        let cases = [
            ("NVIDIA GeForce RTX 4090", (8, 9), 2),
            ("NVIDIA A100 80GB PCIe", (8, 0), 2),
            ("NVIDIA A100-SXM4-80GB", (8, 0), 24),
            ("NVIDIA H100 80GB HBM3", (9, 0), 24),
            ("Tesla V100-SXM2-32GB", (7, 0), 12),
        ];
        for (name, capability, expected) in cases {
            assert_eq!(channels_of(name, capability), expected, "{name}");
        }
    }

    /// Each figure is that of `nvidia-smi` less a context of 524 to 526 MiB.
    #[test]
    fn a_barrier_on_h100_takes_what_nvidia_smi_shows() {
        let first_bytes = first_bytes_of("NVIDIA H100 80GB HBM3", (9, 0));
        let sizes = Sizes::of(24, first_bytes, |_| None);
        for (count, smi_mib) in [(1, 1_184), (2, 1_440), (8, 1_496)] {
            let reduces = [Connection::Ring, Connection::Tree].map(|connection| sizes.bytes_of(connection, count));
            let connected: u64 = if count == 1 { 0 } else { reduces.iter().sum() };
            let context_mib = smi_mib - (first_bytes + connected) / MIB;
            assert!((510..=526).contains(&context_mib), "{count} ranks leave {context_mib} MiB");
        }
        assert_eq!(first_bytes_of("NVIDIA A100-SXM4-80GB", (8, 0)), 0);
        assert_eq!(first_bytes_of("NVIDIA GeForce RTX 5090", (12, 0)), 0);
    }

    #[test]
    fn connections_are_made_once_and_given_back() {
        const DEVICE: i32 = 61; // No other test uses it.
        let held_by_nccl = || ledger::used_bytes(61);
        let before = held_by_nccl();
        let mut held = Held::default();
        assert_eq!(held.connect(Connection::Ring, 1, DEVICE), Ok(()));
        assert_eq!(held_by_nccl(), before, "alone, there is nobody to connect to");
        for _ in 0..2 {
            assert_eq!(held.connect(Connection::Ring, 4, DEVICE), Ok(()));
        }
        assert_eq!(held.connect(Connection::Tree, 4, DEVICE), Ok(()));
        assert_eq!(held.pieces, [2 * 10 * MIB, 4 * 10 * MIB]);
        held.release(DEVICE);
    }
}
