//! A text in pieces has the artifacts of the whole text, wherever the pieces end, and however long the text is.

use proptest::prelude::*;
use trace::text::{Artifact, TextReader, read};

use crate::{allocator, outside};

/// More than the reader's window around an anchor, on either side.
const FAR: usize = 3 << 20;

/// Texts between which filling is put: messages, tracebacks, tables.
const PARTS: [&str; 8] = [
    "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 42, in <module>\n    main()\n",
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 7.61 MiB is free.\n",
    "Killed\n",
    "except torch.OutOfMemoryError:\n",
    "torch.cuda.OutOfMemoryError: \n",
    "index, name, memory.total [MiB], memory.used [MiB]\n0, NVIDIA A100, 81920 MiB, 1024 MiB\n",
    "{'allocated_bytes.all.current': 1, 'allocated_bytes.all.peak': 2, 'reserved_bytes.all.current': 3, 'num_ooms': 1}\n",
    "RuntimeError: CUDA err\u{1b}[0mor: out\n of │\n│ memory\n",
];

/// Filling without an anchor: lines, one long line, blanks.
const FILLINGS: [&str; 4] = ["step 17 loss 0.123 of 40\n", "50%|#####     | 17/40\r", "\n", "\0"];

fn in_pieces(text: &[u8], lengths: &[usize]) -> Vec<Artifact> {
    let (mut reader, mut rest) = (TextReader::default(), text);
    for length in lengths.iter().cycle() {
        let (piece, others) = rest.split_at(rest.len().min(*length));
        reader.feed(piece);
        rest = others;
        if rest.is_empty() {
            break;
        }
    }
    reader.finish()
}

fn check(text: &[u8], lengths: &[usize]) {
    let (found, expected) = (in_pieces(text, lengths), read(text));
    assert!(found == expected, "{} bytes in pieces of {lengths:?}: {found:#?}, expected {expected:#?}", text.len());
}

fn any_text() -> impl Strategy<Value = String> {
    let tables = allocator::TABLES.iter().chain(outside::TABLES);
    let texts: Vec<&str> = tables.flat_map(|table| table.iter()).map(|(text, _)| *text).chain(PARTS).collect();
    let part = prop::sample::select(texts).prop_map(str::to_owned);
    let filling = (prop::sample::select(&FILLINGS[..]), 0..40_usize);
    let filling = filling.prop_map(|(words, times)| words.repeat(times));
    prop::collection::vec(prop_oneof![2 => part, 1 => filling], 0..12).prop_map(|parts| parts.concat())
}

/// A part at the ends of the windows: filling of nearly the length of one, or of several.
fn any_long_text() -> impl Strategy<Value = String> {
    let length = (0..3_usize, 0..2000_usize).prop_map(|(windows, less)| ((windows + 1) << 20) - less);
    let filling = (prop::sample::select(&FILLINGS[..]), length);
    let filling = filling.prop_map(|(words, length)| words.repeat(length / words.len()));
    let part = prop::collection::vec(prop::sample::select(&PARTS[..]), 0..5).prop_map(|parts| parts.concat());
    prop::collection::vec((filling, part), 1..4)
        .prop_map(|parts| parts.iter().flat_map(|(a, b)| [a.as_str(), b]).collect())
}

proptest! {
    #[test]
    fn a_short_text_in_pieces_of_any_length_gives_the_same(text in any_text(), lengths in prop::collection::vec(1..200_usize, 1..8)) {
        check(text.as_bytes(), &lengths);
        let units: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        check(&units, &lengths);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_long_text_in_pieces_of_any_length_gives_the_same(text in any_long_text(), lengths in prop::collection::vec(1000..(2_usize << 20), 1..8)) {
        check(text.as_bytes(), &lengths);
    }
}

/// The artifacts of `parts` with enough filling in between for separate reads; line numbers are relative to the parts.
fn check_far(parts: &[&str]) {
    let filling = "step 17 loss 0.123 of 40\n";
    let times = FAR / filling.len();
    let (mut text, mut expected) = (String::new(), Vec::new());
    for (index, part) in parts.iter().enumerate() {
        text += &filling.repeat(times);
        text += part;
        let before = u32::try_from((index + 1) * times + index).unwrap();
        expected.extend(read(part.as_bytes()).iter().map(|artifact| before + artifact.first_line()));
    }
    let lines: Vec<u32> = in_pieces(text.as_bytes(), &[1 << 16]).iter().map(Artifact::first_line).collect();
    assert_eq!(lines, expected);
}

#[test]
fn errors_far_apart_have_their_own_lines() {
    check_far(&[
        "RuntimeError: CUDA error: out of memory\n",
        "Killed\n",
        "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED\n",
    ]);
}
