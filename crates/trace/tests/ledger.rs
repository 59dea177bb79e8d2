//! The phantom's ledger of a process without other records.

use trace::{Bytes, DeviceIndex, PhantomRecord, Process};

fn memory(device: u32, owner: &str, delta: i64, used_bytes: u64) -> PhantomRecord {
    PhantomRecord::Memory { device, owner: owner.to_owned(), delta, used_bytes }
}

#[test]
fn the_largest_share_of_an_owner_counts_its_device_and_itself_alone() {
    let phantom = vec![
        memory(0, "context", 100, 100),
        memory(0, "pytorch", 20, 120),
        memory(1, "pytorch", 500, 500),
        memory(0, "pytorch", 30, 150),
        memory(0, "pytorch", -40, 110),
        memory(0, "libnccl.so.2", 900, 1010),
    ];
    let process = Process { phantom, ..Process::default() };
    let cases = [
        (0, "pytorch", Some(Bytes(50))),
        (0, "context", Some(Bytes(100))),
        (1, "pytorch", Some(Bytes(500))),
        (1, "context", None),
    ];
    for (device, owner, share) in cases {
        assert_eq!(process.share_peak(DeviceIndex(device), owner), share, "{owner} on {device}");
    }
    assert_eq!(process.device_peak(DeviceIndex(0)), Some(Bytes(1010)));
}
