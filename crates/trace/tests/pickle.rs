//! The pickle reader: every protocol means the same, and no input of any kind makes it panic, hang or fill the memory.
//!
//! `pickles/protocol<N>.pickle` are one value, written by Python's own `pickle` at every protocol.
#![expect(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;
use trace::pickle::{Data, Limits, PickleErrorKind as Kind, Value, decode, decode_within};
use trace::{Action, Address, Bytes, Snapshot, StackId, read_snapshot};

const PROTOCOLS: [&[u8]; 6] = [
    include_bytes!("pickles/protocol0.pickle"),
    include_bytes!("pickles/protocol1.pickle"),
    include_bytes!("pickles/protocol2.pickle"),
    include_bytes!("pickles/protocol3.pickle"),
    include_bytes!("pickles/protocol4.pickle"),
    include_bytes!("pickles/protocol5.pickle"),
];

/// The value as Python would write it, or nearly.
fn show(value: Value<'_>) -> String {
    let join = |parts: &mut dyn Iterator<Item = String>| parts.collect::<Vec<_>>().join(", ");
    match value.data() {
        Data::None => "None".to_owned(),
        Data::Bool(value) => if value { "True" } else { "False" }.to_owned(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => format!("{value:?}"),
        Data::Str(text) => format!("{text:?}"),
        Data::Bytes(bytes) => format!("b{bytes:?}"),
        Data::List(items) => format!("[{}]", join(&mut items.map(show))),
        Data::Tuple(items) => format!("({})", join(&mut items.map(show))),
        Data::Dict(entries) => {
            format!("{{{}}}", join(&mut entries.map(|(key, value)| format!("{}: {}", show(key), show(value)))))
        }
    }
}

#[test]
fn every_protocol_gives_the_same_plain_values() {
    let plain = concat!(
        "[None, True, False, 0, -1, 255, 256, 65535, 65536, -2147483648, 2147483648, -9223372036854775808, ",
        "9223372036854775808, 18446744073709551615, -1267650600228229401496703205376, 1.5, -0.25, inf, ",
        "\"\", \"caf\u{e9}\", \"\u{20ac}\\n\\\\ \u{1f600}\", (), (1), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {}]"
    );
    for (protocol, pickle) in PROTOCOLS.iter().enumerate() {
        let document = decode(pickle).unwrap();
        let root = document.root();
        assert_eq!(show(root.get("plain").unwrap()), plain, "protocol {protocol}");
        let many = root.get("many").unwrap().items().unwrap().map(|item| item.as_int().unwrap());
        assert!(many.eq(0..2500), "protocol {protocol}");
    }
}

#[test]
fn what_a_pickle_shares_stays_one_value() {
    for (protocol, pickle) in PROTOCOLS.iter().enumerate() {
        let document = decode(pickle).unwrap();
        let traces = document.root().get("device_traces").unwrap().items().unwrap().next().unwrap();
        let frames: Vec<_> = traces.items().unwrap().map(|event| event.get("frames").unwrap().id()).collect();
        assert_eq!(frames[0], frames[1], "protocol {protocol}");
        assert_ne!(frames[1], frames[2], "protocol {protocol}");
    }
}

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

#[test]
fn instructions_that_python_3_does_not_write_are_read_too() {
    let cases: [(&[u8], &str); 13] = [
        (b"Nq\x00q\x000K\x05\x940h\x01.", "5"), // MEMOIZE counts the entries, not the instructions
        (b"S'it\\'s'\n.", "\"it's\""),
        (b"U\x02hi.", "\"hi\""),
        (b"T\x02\x00\x00\x00hi.", "\"hi\""),
        (b"\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi.", "\"hi\""),
        (b"\x96\x01\x00\x00\x00\x00\x00\x00\x00\x07.", "b[7]"),
        (b"\x8b\x02\x00\x00\x00\x00\x01.", "256"),
        (b"\x8a\x00.", "0"),
        (b"(K\x01K\x02l.", "[1, 2]"),
        (b"(K\x01K\x02d.", "{1: 2}"),
        (b"K\x01K\x020.", "1"),       // POP
        (b"K\x01(K\x02K\x031.", "1"), // POP_MARK
        (b"K\x01(0.trailing", "1"),   // POP of a mark; what follows the pickle is not looked at
    ];
    for (pickle, expected) in cases {
        assert_eq!(show(decode(pickle).unwrap().root()), expected, "{pickle:?}");
    }
}

#[test]
fn instructions_that_build_or_call_are_refused_by_name() {
    let cases: [(&[u8], usize, &str); 9] = [
        (b"cos\nsystem\n.", 0, "GLOBAL"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", 14, "STACK_GLOBAL"),
        (b"NN)R.", 3, "REDUCE"),
        (b"N}b.", 2, "BUILD"),
        (b"(ios\nsystem\n.", 1, "INST"),
        (b"N)\x81.", 2, "NEWOBJ"),
        (b"Pid\n.", 0, "PERSID"),
        (b"\x82\x01.", 0, "EXT1"),
        (b"\x80\x05\x97.", 2, "NEXT_BUFFER"),
    ];
    for (pickle, offset, opcode) in cases {
        check_refusal(pickle, offset, &Kind::Refused { opcode });
    }
}

#[test]
fn damaged_and_hostile_pickles_are_errors_that_say_where() {
    let cases: [(&[u8], usize, Kind); 22] = [
        (b"", 0, Kind::Truncated { needed: 1, left: 0 }),
        (b"K", 0, Kind::Truncated { needed: 1, left: 0 }),
        (b"N", 1, Kind::Truncated { needed: 1, left: 0 }),
        (b"I12", 0, Kind::Truncated { needed: 3, left: 2 }),
        (b"X\xff\xff\xff\xffhi", 0, Kind::Truncated { needed: 0xffff_ffff, left: 2 }),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffhi", 0, Kind::Truncated { needed: u64::MAX, left: 2 }),
        (b"\x80\x04\x95\x09\0\0\0\0\0\0\0N.", 2, Kind::Truncated { needed: 9, left: 2 }),
        (b"{\"json\": 1}", 0, Kind::UnknownOpcode(b'{')),
        (b"\x80\x06N.", 0, Kind::Protocol(6)),
        (b".", 0, Kind::StackEmpty),
        (b"N(.", 2, Kind::StackEmpty),
        (b"\x85.", 0, Kind::StackEmpty),
        (b"N(\x86.", 2, Kind::StackEmpty),
        (b"]e.", 1, Kind::NoMark),
        (b"NNa.", 2, Kind::WrongTarget { expected: "list", found: "None" }),
        (b"](NNu.", 4, Kind::WrongTarget { expected: "dict", found: "list" }),
        (b"}(Nu.", 3, Kind::OddPairs(1)),
        (b"h\x00.", 0, Kind::MemoMissing(0)),
        (b"Nr\xff\xff\xff\xff.", 1, Kind::MemoIndex(0xffff_ffff)),
        (b"\x8b\xff\xff\xff\xff.", 0, Kind::NegativeLength(-1)),
        (b"Ione\n.", 0, Kind::BadNumber("one".to_owned())),
        (b"]q\x00h\x00a.", 5, Kind::Cyclic),
    ];
    for (pickle, offset, kind) in cases {
        check_refusal(pickle, offset, &kind);
    }
}

fn check_refusal(pickle: &[u8], offset: usize, kind: &Kind) {
    let error = decode(pickle).unwrap_err();
    assert_eq!((error.offset, &error.kind), (offset, kind), "{pickle:?}");
}

#[test]
fn a_cycle_is_found_through_tuples_and_dicts() {
    // l = []; l.append({"k": (l,)})
    check_refusal(b"]q\x00}U\x01kh\x00\x85sa.", 9, &Kind::Cyclic);
}

#[test]
fn nesting_is_limited_and_neither_decoding_nor_dropping_recurses() {
    let nested = |levels: usize| [&b"N"[..], &vec![0x85; levels], b"."].concat();
    let limits = Limits { depth: 100, ..Limits::default() };
    assert!(decode_within(&nested(100), limits).is_ok());
    for levels in [101, 1_000_000] {
        assert_eq!(decode_within(&nested(levels), limits).unwrap_err().kind, Kind::TooDeep { limit: 100 });
    }
}

#[test]
fn depth_counts_the_longest_way_down_where_parts_are_shared() {
    // a = (None,); [a, ((a,),)] visits `a` first where it lies high.
    let pickle = b"N\x85q\x000](h\x00h\x00\x85\x85e.";
    let within = |depth| decode_within(pickle, Limits { depth, ..Limits::default() });
    assert!(within(4).is_ok());
    assert_eq!(within(3).unwrap_err().kind, Kind::TooDeep { limit: 3 });
}

#[test]
fn an_input_above_the_limit_is_not_looked_at() {
    let limits = Limits { bytes: 1, ..Limits::default() };
    assert_eq!(decode_within(b"N.", limits).unwrap_err().kind, Kind::TooLarge { bytes: 2, limit: 1 });
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

#[test]
fn every_prefix_of_a_pickle_is_an_error() {
    for pickle in PROTOCOLS {
        for end in 0..pickle.len() {
            assert!(decode(&pickle[..end]).is_err(), "the first {end} bytes");
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_snapshot(&bytes[..]);
    }

    /// Instructions only, so that more of them are reached than by bytes of any value.
    #[test]
    fn arbitrary_programs_never_panic(program in proptest::collection::vec(instruction(), 0..100)) {
        let pickle = [&program.concat()[..], b"."].concat();
        if let Ok(document) = decode(&pickle) {
            prop_assert!(document.item_count() <= pickle.len());
        }
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

fn instruction() -> impl Strategy<Value = Vec<u8>> {
    let plain = prop::sample::select(&b"(01N]})ltdaesu2.\x85\x86\x87\x94"[..]).prop_map(|opcode| vec![opcode]);
    let with_argument =
        (prop::sample::select(&b"Khq"[..]), 0u8..8).prop_map(|(opcode, argument)| vec![opcode, argument]);
    prop_oneof![plain, with_argument]
}
