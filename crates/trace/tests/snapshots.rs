//! The snapshot reader: every protocol, every pickler and JSON give the same result, and hostile input is an error.
//!
//! `pickles/protocol<N>.pickle` are one value, written by Python's own `pickle` at every protocol.
#![expect(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;
use trace::{Action, Address, Bytes, Snapshot, StackId, read_snapshot};

const PROTOCOLS: [&[u8]; 6] = [
    include_bytes!("pickles/protocol0.pickle"),
    include_bytes!("pickles/protocol1.pickle"),
    include_bytes!("pickles/protocol2.pickle"),
    include_bytes!("pickles/protocol3.pickle"),
    include_bytes!("pickles/protocol4.pickle"),
    include_bytes!("pickles/protocol5.pickle"),
];

#[test]
fn every_protocol_gives_the_same_snapshot() {
    for pickle in PROTOCOLS {
        let snapshot = read_snapshot(pickle).unwrap();
        let shape: Vec<_> = snapshot.traces.iter().map(Vec::len).collect();
        assert_eq!(shape, [3, 0]);
        let [map, alloc, oom] = snapshot.traces[0][..] else { unreachable!("three events") };
        assert_eq!(
            (alloc.action, alloc.address, alloc.size),
            (Action::Alloc, Address(139_637_976_727_552), Bytes(1200))
        );
        assert_eq!((oom.action, oom.address, oom.stream.0, oom.mark), (Action::Oom, Address(1 << 40), u64::MAX, None));
        assert_eq!((map.stack, map.mark, oom.stack), (alloc.stack, Some(0), StackId::EMPTY));
        assert_eq!(snapshot.marks.len(), 1);
        assert_eq!(snapshot.marks[0].module, "h.0");
        assert_eq!(snapshot.settings.max_split_size, None);
        assert_eq!(snapshot.settings.roundup_power2_divisions, [(2, 4)]);
        assert_eq!(lines(&snapshot, alloc.stack), ["train.py:7 forward", "/home/user/caf\u{e9}/train.py:70000 main"]);
        assert_eq!(snapshot.segments[0].blocks[0].stack, alloc.stack);
        assert_eq!(snapshot.segments[0].blocks[1].size, Bytes(2_095_616));
    }
}

fn lines(snapshot: &Snapshot, stack: StackId) -> Vec<String> {
    snapshot.stacks.frames(stack).map(|frame| format!("{}:{} {}", frame.file, frame.line, frame.function)).collect()
}

/// A list of `n` times the same value, which is given as a pickle without its end.
fn repeat(value: &[u8], memo: u8, n: usize) -> Vec<u8> {
    let again = [b'h', memo].repeat(n);
    [value, &[b'q', memo, b'0', b']', b'('], &again, b"e"].concat()
}

#[test]
fn a_snapshot_that_repeats_itself_by_reference_is_refused_before_it_fills_the_memory() {
    let block = b"}(U\x04sizeK\x01U\x05stateU\x08inactiveu";
    let blocks = repeat(block, 0, 5000);
    let segment = [&b"}(U\x07addressK\x00U\x0atotal_sizeK\x01U\x06blocks"[..], &blocks, b"u"].concat();
    let honest = [&b"}U\x08segments"[..], &repeat(&segment, 1, 1), b"s."].concat();
    assert_eq!(read_snapshot(&honest[..]).unwrap().segments[0].blocks.len(), 5000);
    let bomb = [&b"}U\x08segments"[..], &repeat(&segment, 1, 100_000), b"s."].concat();
    let message = read_snapshot(&bomb[..]).unwrap_err().to_string();
    assert!(message.contains("the same values many times over"), "{message}");
}

#[test]
fn what_is_wrong_in_a_snapshot_is_named_with_its_place() {
    let cases: [(&[u8], &str); 7] = [
        (b"N.", "not a memory snapshot: expected a dict with `segments`, found a None"),
        (b"}.", "the snapshot's `segments`: expected a value, found no such key"),
        (b"}U\x08segmentsNs.", "the snapshot's `segments`: expected a list, found None"),
        (b"}U\x08segments]Nas.", "the snapshot's `segments[0]`: expected a dict, found None"),
        (b"}U\x08segments]}as.", "the snapshot's `segments[0].address`: expected a value, found no such key"),
        (
            b"}U\x08segments]}U\x0atotal_sizeJ\xff\xff\xff\xffsas.",
            "the snapshot's `segments[0].total_size`: expected a number of bytes, found -1",
        ),
        (
            b"}U\x0ddevice_traces]]}U\x06actionU\x04lazysaas.",
            "the snapshot's `device_traces[0][0].action`: expected an action of PyTorch 2.0 to 2.15, found `lazy`",
        ),
    ];
    for (pickle, message) in cases {
        assert_eq!(read_snapshot(pickle).unwrap_err().to_string(), message);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_snapshot(&bytes[..]);
    }

    #[test]
    fn damaged_snapshots_never_panic(
        protocol in 0..PROTOCOLS.len(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut pickle = PROTOCOLS[protocol].to_vec();
        for (place, byte) in damage {
            let place = place.index(pickle.len());
            pickle[place] = byte;
        }
        let _ = read_snapshot(&pickle[..]);
    }
}
