//! Packed files: every packing of a snapshot has the same content; damaged packings are errors.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::io::{Cursor, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use trace::{ContainerError, ContentKind, container, read_snapshot};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const SNAPSHOT: &[u8] = include_bytes!("pickles/protocol4.pickle");

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    compress_to_vec(content, CompressionLevel::Fastest)
}

fn zip(members: &[(&str, &[u8])], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    zip(members, zip::CompressionMethod::Deflated)
}

/// Compares the result: the kind, the member, the content.
fn check(packed: &[u8], kind: ContentKind, member: Option<&str>, content: &[u8]) {
    let mut opened = container::open(Cursor::new(packed)).unwrap();
    let mut unpacked = Vec::new();
    opened.content.read_to_end(&mut unpacked).unwrap();
    assert_eq!((opened.kind, opened.member.as_deref()), (kind, member));
    assert_eq!(unpacked, content);
}

#[test]
fn whatever_it_is_packed_in_the_same_comes_out() {
    let two_frames = [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &zstd(&SNAPSHOT[..100]), &zstd(&SNAPSHOT[100..])].concat();
    let two_members = [gzip(&SNAPSHOT[..100]), gzip(&SNAPSHOT[100..])].concat();
    let streams = [SNAPSHOT.to_vec(), gzip(SNAPSHOT), zstd(SNAPSHOT), two_frames, two_members, zstd(&gzip(SNAPSHOT))];
    for packed in &streams {
        check(packed, ContentKind::Pickle, None, SNAPSHOT);
        let opened = container::open_stream(&packed[..]).unwrap();
        assert!(read_snapshot(opened.content).is_ok());
    }
    for packed in &streams {
        check(&deflated(&[("job/rank0", packed)]), ContentKind::Pickle, Some("job/rank0"), SNAPSHOT);
    }
    check(&zip(&[("a", SNAPSHOT)], zip::CompressionMethod::Stored), ContentKind::Pickle, Some("a"), SNAPSHOT);
    check(b"CUDA out of memory", ContentKind::Text, None, b"CUDA out of memory");
    check(b"", ContentKind::Text, None, b"");
}

/// Names and contents of the members; the expected member, its kind, its content.
type Case<'a> = (&'a [(&'a str, &'a [u8])], &'a str, ContentKind, &'a [u8]);

#[test]
fn of_a_zip_the_member_most_like_a_snapshot_is_read() {
    let json = b"{\"segments\": []}";
    let cases: [Case<'_>; 4] = [
        (
            &[("read.me", b"hello"), ("data", b"\0\x01"), ("s.pickle", SNAPSHOT)],
            "s.pickle",
            ContentKind::Pickle,
            SNAPSHOT,
        ),
        (&[("read.me", b"hello"), ("s.json", json)], "s.json", ContentKind::Json, json),
        (&[("empty", b""), ("log", b"hello"), ("log2", b"again")], "log", ContentKind::Text, b"hello"),
        // the members of torch.save
        (
            &[("archive/data.pkl", SNAPSHOT), ("archive/version", b"3\n")],
            "archive/data.pkl",
            ContentKind::Pickle,
            SNAPSHOT,
        ),
    ];
    for (members, member, kind, content) in cases {
        check(&deflated(members), kind, Some(member), content);
    }
}

#[test]
fn what_is_cut_or_holds_nothing_is_an_error() {
    let error = |packed: &[u8]| container::open(Cursor::new(packed)).err().unwrap();
    assert!(matches!(error(&deflated(&[("data", b"\0\x01")])), ContainerError::NoMember { members: 1 }));
    assert!(matches!(error(&deflated(&[])), ContainerError::NoMember { members: 0 }));
    assert!(matches!(error(&deflated(&[("a", SNAPSHOT)])[..200]), ContainerError::Zip(_)));
    assert!(matches!(error(&gzip(&gzip(&gzip(&gzip(b"x"))))), ContainerError::Layers));
    let (packed_gzip, packed_zstd) = (gzip(SNAPSHOT), zstd(SNAPSHOT));
    for packed in [&packed_gzip, &packed_zstd] {
        for end in 12..packed.len() - 9 {
            let read = container::open(Cursor::new(&packed[..end])).map(|opened| read_snapshot(opened.content).is_ok());
            assert!(!matches!(read, Ok(true)), "the first {end} bytes");
        }
    }
}

#[test]
fn a_bomb_is_refused_without_being_unpacked() {
    let bomb = gzip(&b"(".repeat(50 << 20));
    assert!(bomb.len() < 100 << 10);
    let opened = container::open(Cursor::new(gzip(&bomb))).unwrap();
    assert_eq!(opened.kind, ContentKind::Text);
    let pickled = gzip(&[&b"\x80\x02"[..], &b"(".repeat(50 << 20)].concat());
    let opened = container::open(Cursor::new(pickled)).unwrap();
    let message = read_snapshot(opened.content).unwrap_err().to_string();
    assert_eq!(message, "byte 10002 of the pickle: more than 10000 open containers");
}

/// Found by fuzzing: a decoder that keeps a frame's window in memory keeps everything if the window is 2 TiB.
#[test]
fn a_window_without_end_is_refused() {
    let magic_no_flags_window_and_an_empty_last_block = [0x28, 0xb5, 0x2f, 0xfd, 0, 0xf8, 1, 0, 0];
    let read = container::open(Cursor::new(magic_no_flags_window_and_an_empty_last_block));
    let error = read.map(|opened| opened.kind).unwrap_err().to_string();
    assert!(error.contains("window"), "{error}");
}
