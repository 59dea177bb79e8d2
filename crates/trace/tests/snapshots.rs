//! The snapshot reader: every protocol, every pickler and JSON lead to the same result, and hostile input is an error.
//!
//! `pickles/protocol<N>.pickle` hold the same value, written by Python's own `pickle` at every protocol.
#![expect(clippy::unwrap_used, reason = "a test")]

#[path = "snapshots/emit.rs"]
mod emit;
#[path = "snapshots/made.rs"]
mod made;

use emit::{Plain, STYLES, dict, json, list, pickle, text};
use proptest::prelude::*;
use trace::{
    Action, Address, Bytes, DeviceIndex, Mark, Pool, Release, Segment, Snapshot, SnapshotSettings, StackId, Stage,
    Stream, Time, TorchVersions, UnknownAction, read_snapshot,
};

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

type EventMeaning = (Action, Address, Bytes, Stream, Option<Time>, Option<Pool>, Option<Mark>, Vec<String>);
type SegmentMeaning = (DeviceIndex, Address, Bytes, Option<Pool>, Vec<(Address, Bytes, Vec<String>)>);

/// The content of a snapshot, independent of the numbers in its tables.
#[derive(Debug, PartialEq)]
struct Meaning {
    segments: Vec<SegmentMeaning>,
    traces: Vec<Vec<EventMeaning>>,
    settings: SnapshotSettings,
    torch: TorchVersions,
}

fn meaning(snapshot: &Snapshot) -> Meaning {
    let pool = |id: Option<_>| id.map(|id| snapshot.pool(id));
    let event = |event: &trace::Event| {
        let mark = event.mark.map(|mark| snapshot.marks[mark as usize].clone());
        let stack = lines(snapshot, event.stack);
        (event.action, event.address, event.size, event.stream, event.time, pool(event.pool), mark, stack)
    };
    let segment = |segment: &Segment| {
        let blocks = segment.blocks.iter().map(|block| (block.address, block.size, lines(snapshot, block.stack)));
        (segment.device, segment.address, segment.total_size, pool(segment.pool), blocks.collect())
    };
    Meaning {
        segments: snapshot.segments.iter().map(segment).collect(),
        traces: snapshot.traces.iter().map(|trace| trace.iter().map(event).collect()).collect(),
        settings: snapshot.settings.clone(),
        torch: snapshot.torch,
    }
}

/// The content of a value, after checks that every pickler's form and JSON have the same content.
fn read(value: &Plain) -> Snapshot {
    let snapshot = read_snapshot(json(value).as_bytes()).unwrap();
    for style in STYLES {
        let pickled = read_snapshot(&pickle(value, style)[..]).unwrap_or_else(|error| panic!("{style:?}: {error}"));
        assert_eq!(meaning(&pickled), meaning(&snapshot), "{style:?}");
    }
    snapshot
}

fn event(more: impl IntoIterator<Item = (&'static str, Plain)>) -> Plain {
    let known = [
        ("action", text("alloc")),
        ("addr", Plain::Int(1 << 40)),
        ("size", Plain::Int(512)),
        ("stream", Plain::Int(0)),
    ];
    dict(known.into_iter().chain(more))
}

fn segment(more: impl IntoIterator<Item = (&'static str, Plain)>) -> Plain {
    let known = [("address", Plain::Int(1 << 30)), ("total_size", Plain::Int(2 << 20)), ("blocks", list(Vec::new()))];
    dict(known.into_iter().chain(more))
}

#[test]
fn what_versions_added_is_read() {
    let stage = |name, time| {
        dict([("name", text("step")), ("stage", text(name)), ("device", Plain::Int(1)), ("time_us", Plain::Int(time))])
    };
    let snapshot = read(&dict([
        ("segments", list(vec![segment([("segment_pool_id", made::pair((0, 7)))])])),
        (
            "device_traces",
            list(vec![list(vec![event([("time_us", Plain::Int(99)), ("pool_id", made::pair((0, 7)))])])]),
        ),
        ("host_segments", list(vec![segment([("device", Plain::Int(-1))])])),
        ("host_traces", list(vec![list(vec![event([])]), list(vec![])])),
        ("external_annotations", list(vec![stage("START", 5), stage("END", 6), dict([("name", text("other"))])])),
        (
            "allocator_settings",
            dict([
                ("PYTORCH_CUDA_ALLOC_CONF", text("garbage_collection_threshold:0.75")),
                ("garbage_collection_threshold", Plain::Float(0.75)),
                ("release_lock_on_cudamalloc", Plain::Bool(true)),
                ("max_split_size", Plain::Int(20 << 20)),
                ("max_round_threshold", Plain::Int(-1)),
            ]),
        ),
    ]));
    let first = snapshot.traces[0][0];
    assert_eq!((first.time, snapshot.pool(first.pool.unwrap())), (Time::from_micros(99), Pool { first: 0, second: 7 }));
    assert_eq!(snapshot.segments[0].pool, first.pool);
    assert_eq!((snapshot.host_segments.len(), snapshot.host_traces[0].len(), snapshot.host_traces[1].len()), (1, 1, 0));
    let said: Vec<_> =
        snapshot.annotations.iter().map(|said| (&*said.name, said.stage, said.device, said.time)).collect();
    let device = Some(DeviceIndex(1));
    assert_eq!(
        said,
        [("step", Stage::Start, device, Time::from_micros(5)), ("step", Stage::End, device, Time::from_micros(6))]
    );
    assert_eq!(snapshot.settings.garbage_collection_threshold, Some(0.75));
    assert!(snapshot.settings.release_lock_on_cudamalloc);
    assert_eq!(snapshot.settings.max_split_size, Some(Bytes::from_mib(20)));
    assert_eq!((snapshot.torch.from, snapshot.torch.before), (Release { major: 2, minor: 14 }, None));
}

#[test]
fn snapshots_of_old_versions_are_read() {
    let block = |size| {
        let frames = list(vec![dict([("name", text("f")), ("filename", text("a.py")), ("line", Plain::Int(3))])]);
        let history = list(vec![dict([("addr", Plain::Int(0)), ("real_size", Plain::Int(size)), ("frames", frames)])]);
        dict([("size", Plain::Int(size)), ("state", text("active_allocated")), ("history", history)])
    };
    let blocks = list(vec![block(512), block(1024)]);
    let snapshot = read(&list(vec![segment([("device", Plain::Int(1)), ("blocks", blocks)])]));
    let blocks = &snapshot.segments[0].blocks;
    assert_eq!(blocks.iter().map(|block| block.address.0).collect::<Vec<_>>(), [1 << 30, (1 << 30) + 512]);
    assert_eq!(lines(&snapshot, blocks[1].stack), ["a.py:3 f"]);
    assert_eq!(snapshot.segments[0].allocated_size, Bytes(1536));
    assert_eq!((snapshot.torch.before, snapshot.traces.len()), (Some(Release { major: 2, minor: 0 }), 0));
}

#[test]
fn an_empty_snapshot_is_one() {
    assert!(read(&list(vec![])).segments.is_empty());
    assert!(read(&dict([("segments", list(vec![])), ("device_traces", list(vec![]))])).traces.is_empty());
}

#[test]
fn histories_and_stacks_longer_than_a_picklers_batch_stay_whole() {
    let frame = |line| dict([("name", text("f")), ("filename", text("a.py")), ("line", Plain::Int(line))]);
    let events = (0..2500).map(|time| event([("time_us", Plain::Int(time + 1))]));
    let deep = event([("frames", list((0..2500).map(frame).collect()))]);
    let snapshot = read(&dict([
        ("segments", list(vec![])),
        ("device_traces", list(vec![list(vec![event([])]), list(events.collect()), list(vec![deep])])),
    ]));
    assert_eq!(snapshot.traces.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2500, 1]);
    assert!((1..=2500).eq(snapshot.traces[1].iter().map(|event| event.time.unwrap().micros())));
    assert_eq!(snapshot.stacks.frame_ids(snapshot.traces[2][0].stack).len(), 2500);
}

#[test]
fn a_history_that_two_devices_share_is_read_twice() {
    let shared = list(vec![event([]), event([])]);
    let snapshot = read(&dict([("segments", list(vec![])), ("device_traces", list(vec![shared.clone(), shared]))]));
    assert_eq!(snapshot.traces[0], snapshot.traces[1]);
    assert_eq!(snapshot.traces[0].len(), 2);
}

/// A list of `n` copies of a value, which is given as a pickle without its end.
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
fn what_a_pickle_would_run_is_named_and_not_run() {
    let cases: [(&[u8], &str); 4] = [
        // pickle.dumps of an object whose __reduce__ returns (os.system, ("id",)), protocols 0, 2 and 4
        (b"cposix\nsystem\np0\n(Vid\np1\ntp2\nRp3\n.", "byte 0 of the pickle: GLOBAL is refused"),
        (b"\x80\x02cposix\nsystem\nq\x00X\x02\0\0\0idq\x01\x85q\x02Rq\x03.", "byte 2 of the pickle: GLOBAL is refused"),
        (
            b"\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x02id\x94\x85\x94R\x94.",
            "byte 28 of the pickle: STACK_GLOBAL is refused",
        ),
        // within a snapshot
        (b"\x80\x02}(X\x08\0\0\0segments]X\x01\0\0\0xcbuiltins\neval\n", "byte 24 of the pickle: GLOBAL is refused"),
    ];
    for (pickle, start) in cases {
        let message = read_snapshot(pickle).unwrap_err().to_string();
        assert!(message.starts_with(start), "{message}");
    }
}

/// An event with nothing but an action.
fn of_action(name: &str) -> Plain {
    dict([("action", text(name))])
}

fn with_trace(events: Vec<Plain>) -> Plain {
    dict([("segments", list(Vec::new())), ("device_traces", list(vec![list(events)]))])
}

#[test]
fn actions_of_later_versions_keep_their_places_and_their_names() {
    let long = "x".repeat(100);
    let snapshot = read(&with_trace(vec![
        of_action("segment_move"),
        event([]),
        of_action("compact"),
        event([("action", text("segment_move")), ("what a later version adds", Plain::None)]),
        of_action(&long),
    ]));
    let actions: Vec<Action> = snapshot.traces[0].iter().map(|event| event.action).collect();
    let unknown = |place| Action::Unknown(UnknownAction(place));
    assert_eq!(actions, [unknown(0), Action::Alloc, unknown(1), unknown(0), unknown(2)]);
    assert_eq!(
        snapshot.unknown_actions.iter().map(|name| &**name).collect::<Vec<_>>(),
        ["segment_move", "compact", &long[..40]]
    );
    assert_eq!((snapshot.traces[0][0].address, snapshot.traces[0][0].size), (Address(0), Bytes(0)));
    assert_eq!((snapshot.traces[0][3].address, snapshot.traces[0][3].size), (Address(1 << 40), Bytes(512)));
}

#[test]
fn hundreds_of_unknown_actions_are_no_later_version() {
    let trace = |count: usize| with_trace((0..count).map(|n| of_action(&format!("a{n}"))).collect());
    assert_eq!(read(&trace(256)).unknown_actions.len(), 256);
    let message = read_snapshot(json(&trace(257)).as_bytes()).unwrap_err().to_string();
    let expected = "the snapshot's `device_traces[0][256].action`: expected an action of a known PyTorch, found `a256`";
    assert_eq!(message, expected);
}

#[test]
fn what_is_wrong_in_a_snapshot_is_named_with_its_place() {
    let cases: [(&[u8], &str); 10] = [
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
            b"}U\x0ddevice_traces]]}U\x06actionK\x07saas.",
            "the snapshot's `device_traces[0][0].action`: expected a string, found 7",
        ),
        (
            br#"{"device_traces": [[{"action": "alloc", "addr": 1, "size": 1}, {"action": "oom", "size": "big"}]]}"#,
            "the snapshot's `device_traces[0][1].size`: expected a number of bytes, found `big`",
        ),
        (
            br#"{"device_traces": [[{"action": "alloc", "addr": 1, "size": 1, "frames": [{"filename": 3}]}]]}"#,
            "the snapshot's `device_traces[0][0].frames[0].filename`: expected a string, found 3",
        ),
        (br#"{"segments": [}"#, "the snapshot's JSON: expected value at line 1 column 15"),
    ];
    for (input, message) in cases {
        assert_eq!(read_snapshot(input).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_list_that_contains_itself_is_no_snapshot() {
    let cases: [&[u8]; 3] = [b"]q\x00h\x00a.", b"}U\x08segments]q\x00h\x00as.", b"}q\x00U\x08segmentsh\x00s."];
    for pickle in cases {
        let message = read_snapshot(pickle).unwrap_err().to_string();
        assert!(message.contains("expected a"), "{message}");
    }
}

#[test]
fn json_is_nested_at_most_as_deep_as_its_parser_goes() {
    let deep = [&b"{\"x\": "[..], &b"[".repeat(100_000)].concat();
    let message = read_snapshot(&deep[..]).unwrap_err().to_string();
    assert!(message.contains("recursion limit exceeded"), "{message}");
}

/// A small snapshot in every form.
fn forms() -> impl Iterator<Item = Vec<u8>> {
    let frame = dict([("name", text("f")), ("filename", text("a.py")), ("line", Plain::Int(3))]);
    let stack = list(vec![frame.clone(), frame]);
    let value = dict([
        ("segments", list(vec![segment([("segment_pool_id", made::pair((0, 1)))])])),
        ("device_traces", list(vec![list(vec![event([("frames", stack.clone())]), event([("frames", stack)])])])),
    ]);
    let pickles = STYLES.map(|style| pickle(&value, style));
    pickles.into_iter().chain([json(&value).into_bytes()])
}

#[test]
fn a_snapshot_cut_anywhere_is_an_error() {
    for whole in forms() {
        assert!(read_snapshot(&whole[..]).is_ok());
        for end in 0..whole.len() {
            assert!(read_snapshot(&whole[..end]).is_err(), "the first {end} bytes of {whole:?}");
        }
    }
}

#[test]
fn every_flipped_bit_is_survived() {
    for mut whole in forms() {
        let mut read = 0;
        for bit in 0..whole.len() * 8 {
            whole[bit / 8] ^= 1 << (bit % 8);
            read += usize::from(read_snapshot(&whole[..]).is_ok());
            whole[bit / 8] ^= 1 << (bit % 8);
        }
        // Some flips change an unread number or name, all others are errors.
        assert!((1..whole.len() * 8).contains(&read), "{read}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_snapshot(&bytes[..]);
    }

    #[test]
    fn every_pickler_and_json_mean_the_same(value in made::snapshot()) {
        read(&value);
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
