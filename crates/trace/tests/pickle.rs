//! The pickle reader: every protocol leads to the same value, and no input makes it panic, hang or fill the memory.
//!
//! `pickles/protocol<N>.pickle` hold the same value, written by Python's own `pickle` at every protocol.
#![expect(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;
use trace::pickle::{Data, Limits, PickleErrorKind as Kind, PickleValue, Plain, decode, decode_within};

const PROTOCOLS: [&[u8]; 6] = [
    include_bytes!("pickles/protocol0.pickle"),
    include_bytes!("pickles/protocol1.pickle"),
    include_bytes!("pickles/protocol2.pickle"),
    include_bytes!("pickles/protocol3.pickle"),
    include_bytes!("pickles/protocol4.pickle"),
    include_bytes!("pickles/protocol5.pickle"),
];

/// The value in Python's notation, or nearly.
fn show(value: PickleValue<'_, Plain>) -> String {
    let join = |parts: &mut dyn Iterator<Item = String>| parts.collect::<Vec<_>>().join(", ");
    match value.data() {
        Data::None => "None".to_owned(),
        Data::Bool(value) => if value { "True" } else { "False" }.to_owned(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => format!("{value:?}"),
        Data::Str(text) => format!("{text:?}"),
        Data::Bytes(bytes) => format!("b{bytes:?}"),
        Data::Folded(_) => unreachable!("nothing is folded"),
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
        let document = decode(&pickle[..]).unwrap();
        let root = document.root();
        assert_eq!(show(root.get("plain").unwrap()), plain, "protocol {protocol}");
        let many = root.get("many").unwrap().items().unwrap().map(|item| item.as_int().unwrap());
        assert!(many.eq(0..2500), "protocol {protocol}");
    }
}

#[test]
fn what_a_pickle_shares_stays_one_value() {
    for (protocol, pickle) in PROTOCOLS.iter().enumerate() {
        let document = decode(&pickle[..]).unwrap();
        let traces = document.root().get("device_traces").unwrap().items().unwrap().next().unwrap();
        let frames: Vec<_> = traces.items().unwrap().map(|event| event.get("frames").unwrap().node()).collect();
        assert_eq!(frames[0], frames[1], "protocol {protocol}");
        assert_ne!(frames[1], frames[2], "protocol {protocol}");
    }
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
    let cases: [(&[u8], u64, &str); 9] = [
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
    let cases: [(&[u8], u64, Kind); 22] = [
        (b"", 0, Kind::Truncated { needed: 1, left: 0 }),
        (b"K", 0, Kind::Truncated { needed: 1, left: 0 }),
        (b"N", 1, Kind::Truncated { needed: 1, left: 0 }),
        (b"I12", 0, Kind::Truncated { needed: 3, left: 2 }),
        (b"X\xff\xff\xff\x0fhi", 0, Kind::Truncated { needed: 0x0fff_ffff, left: 2 }),
        (b"X\xff\xff\xff\xffhi", 0, Kind::TooLong { length: 0xffff_ffff, limit: 256 << 20 }),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffhi", 0, Kind::TooLong { length: u64::MAX, limit: 256 << 20 }),
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
        (b"K\x01q\x000}h\x00a.", 8, Kind::WrongTarget { expected: "list", found: "dict" }),
    ];
    for (pickle, offset, kind) in cases {
        check_refusal(pickle, offset, &kind);
    }
}

fn check_refusal(pickle: &[u8], offset: u64, kind: &Kind) {
    let error = decode(pickle).unwrap_err();
    assert_eq!((error.offset, &error.kind), (offset, kind), "{pickle:?}");
}

#[test]
fn what_a_pickle_may_ask_for_is_limited() {
    let limits = Limits { nodes: 3, values: 4, text: 5, stack: 6, depth: 2 };
    let within = |pickle: &[u8]| decode_within(pickle, limits).map(|document| show(document.root()));
    let too_many = |limit, what| Kind::TooMany { limit, what };
    let cases: [(&[u8], &[u8], Kind); 6] = [
        (b"]]]00.", b"]]]]000.", too_many(3, "containers")),
        (b"](NNNe.", b"](NNNNe.", too_many(4, "values")),
        (b"U\x04five.", b"U\x05fives.", too_many(5, "bytes of text")),
        (b"U\x02teU\x02xt0.", b"U\x02teU\x03xts0.", too_many(5, "bytes of text")),
        (b"NNNNNN00000.", b"NNNNNNN000000.", too_many(6, "values on the stack")),
        (b"((00K\x01.", b"(((000K\x01.", too_many(2, "open containers")),
    ];
    for (most, more, kind) in cases {
        assert!(within(most).is_ok(), "{most:?}");
        assert_eq!(within(more).unwrap_err().kind, kind, "{more:?}");
    }
}

#[test]
fn neither_decoding_nor_dropping_recurses_and_cycles_are_only_references() {
    let nested = [&b"N"[..], &vec![0x85; 1_000_000], b"."].concat();
    assert_eq!(decode(&nested[..]).unwrap().item_count(), 1_000_000);
    let cyclic = decode(&b"]q\x00h\x00a."[..]).unwrap();
    let inner = cyclic.root().items().unwrap().next().unwrap();
    assert_eq!(inner.node(), cyclic.root().node());
}

/// A reader that returns a byte at a time, so that every value crosses the end of a buffer.
struct Drop<'a>(&'a [u8]);

impl std::io::Read for Drop<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (Some((&first, rest)), Some(place)) = (self.0.split_first(), buffer.first_mut()) else { return Ok(0) };
        *place = first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn values_may_lie_across_the_ends_of_buffers() {
    for (protocol, pickle) in PROTOCOLS.iter().enumerate() {
        let whole = decode(&pickle[..]).unwrap();
        let drops = decode(Drop(pickle)).unwrap();
        assert_eq!(show(drops.root()), show(whole.root()), "protocol {protocol}");
    }
}

#[test]
fn every_prefix_of_a_pickle_is_an_error() {
    for pickle in PROTOCOLS {
        for end in (0..1000).chain(pickle.len() - 1000..pickle.len()) {
            assert!(decode(&pickle[..end]).is_err(), "the first {end} bytes");
        }
    }
}

proptest! {
    /// Instructions only, so that the test reaches more of them than arbitrary bytes would.
    #[test]
    fn arbitrary_programs_never_panic(program in proptest::collection::vec(instruction(), 0..100)) {
        let pickle = [&program.concat()[..], b"."].concat();
        if let Ok(document) = decode(&pickle[..]) {
            prop_assert!(document.item_count() <= pickle.len());
        }
    }
}

fn instruction() -> impl Strategy<Value = Vec<u8>> {
    let plain = prop::sample::select(&b"(01N]})ltdaesu2.\x85\x86\x87\x94"[..]).prop_map(|opcode| vec![opcode]);
    let with_argument =
        (prop::sample::select(&b"Khq"[..]), 0u8..8).prop_map(|(opcode, argument)| vec![opcode, argument]);
    prop_oneof![plain, with_argument]
}
