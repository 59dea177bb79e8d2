//! The phantom's ledger of a process.

use trace::run::{Ledger, MemoryChange};
use trace::{Bytes, DeviceIndex, PhantomRecord};

fn memory(device: u32, owner: &str, delta: i64, used_bytes: u64) -> PhantomRecord {
    PhantomRecord::Memory(MemoryChange { device, owner: owner.to_owned(), delta, used_bytes })
}

#[test]
fn the_largest_share_of_an_owner_counts_its_device_and_itself_alone() {
    let records = [
        memory(0, "context", 100, 100),
        memory(0, "pytorch", 20, 120),
        memory(1, "pytorch", 500, 500),
        memory(0, "pytorch", 30, 150),
        memory(0, "pytorch", -40, 110),
        memory(0, "libnccl.so.2", 900, 1010),
    ];
    let ledger: Ledger = records.into_iter().collect();
    let cases = [
        (0, "pytorch", Some(Bytes(50))),
        (0, "context", Some(Bytes(100))),
        (1, "pytorch", Some(Bytes(500))),
        (1, "context", None),
    ];
    for (device, owner, share) in cases {
        assert_eq!(ledger.share_peak(DeviceIndex(device), owner), share, "{owner} on {device}");
    }
    assert_eq!(ledger.peak(DeviceIndex(0)), Some(Bytes(1010)));
    assert_eq!(ledger.peak(DeviceIndex(2)), None);
}
