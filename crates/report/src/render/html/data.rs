//! The data of the page's drawings, packed into the page.
//!
//! # Note [Page data]
//! The element `page-data` is one JSON object, made so that a page with a million events could be read by the same
//! script: numbers come as columns, texts and frames once.
//!
//! ```text
//! { "format": "oomph-page", "version": 1,
//!   "categories": ["parameters", ..],            // words, by their number in "stack.category"
//!   "devices": [ {                               // the one that the report is about first
//!     "name": "rank 0, cuda:0", "events": 1700000,
//!     "peak_event": 812 | null, "oom_event": 990 | null,
//!     "total_bytes": 25e9 | null, "total_words": "the device has" | null,     // the limit, and the words before it
//!     "strings": ["forward", "/home/ann/train.py", ..],
//!     "columns": { "total.event": {"length": 4000, "delta": true, "data": "base64"}, .. } } ] }
//! ```
//!
//! A column holds `length` unsigned numbers. Each is written as LEB128 (seven bits a byte, lowest first, the high bit
//! says that more follow), all of them in base64. Where `delta` is true, what is written is the difference to the number
//! before (the first: to 0) in zigzag: `0, -1, 1, -2 ..` as `0, 1, 2, 3 ..`. Numbers from 2⁵³ on are rounded in reading.
//!
//! | columns | one row for each |
//! |---|---|
//! | `total.event` `total.time` `total.allocated` `total.reserved` | point of the totals; time in µs, 0 = unknown |
//! | `span.from` `span.length` `span.bytes` `span.stack` | large allocation, in the order they began; in events |
//! | `segment.address` `segment.bytes` `segment.kind` `segment.blocks` | segment; kind 0 unknown, 1 small, 2 large, +4 expandable; how many rows of `block` are its |
//! | `block.offset` `block.bytes` `block.stack` | block in use, segment by segment |
//! | `stack.bytes` `stack.count` `stack.category` `stack.frames` | stack; how many rows of `stackframe` are its |
//! | `stackframe.frame` | frame of a stack, innermost first: a row of `frame` |
//! | `frame.function` `frame.file` `frame.line` `frame.own` | frame; function and file are places in `strings` |
//! | `step.event` | step |
//!
//! A reader refuses a `version` it does not know. Columns may be added without a new version, never changed.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use trace::SegmentKind;

use super::contents::Drawing;
use crate::breakdown::Contents;
use crate::check::SiteFrame;
use crate::explain::{Picture, SegmentPicture, Span};
use crate::sanitize::clean;

/// The bytes of a page for devices; the report's main device is always included.
const ROOM: usize = 1_500_000;

/// The category names, indexed by `stack.category`.
const CATEGORIES: [Contents; 10] = [
    Contents::Parameters,
    Contents::Gradients,
    Contents::OptimizerState,
    Contents::Buffers,
    Contents::Activations,
    Contents::Temporaries,
    Contents::Inputs,
    Contents::Workspaces,
    Contents::Other,
    Contents::Unattributed,
];

/// The page data, and how much of the report it pictures.
pub(super) struct PageData {
    /// Note [Page data].
    pub(super) json: Value,
    /// The number of devices left out for lack of space.
    pub(super) left_out: usize,
}

/// Packs the devices that have a picture, the main device first; `None` without such a device.
pub(super) fn encode(devices: &[Drawing]) -> Option<PageData> {
    let devices = drawable(devices);
    let mut room = ROOM;
    let encoded = devices.iter().map(|device| encode_device(device)).enumerate();
    let encoded = encoded.map_while(|(index, device)| {
        let left = room.checked_sub(device.to_string().len());
        room = left.unwrap_or(0);
        (left.is_some() || index == 0).then_some(device)
    });
    let encoded: Vec<Value> = encoded.collect();
    let left_out = devices.len() - encoded.len();
    let json = json!({
        "format": "oomph-page",
        "version": 1,
        "categories": CATEGORIES.map(Contents::words),
        "devices": encoded,
    });
    (!devices.is_empty()).then_some(PageData { json, left_out })
}

/// The devices with a picture, the report's main device first.
fn drawable<'d>(devices: &'d [Drawing]) -> Vec<&'d Drawing<'d>> {
    let has_picture = |device: &&Drawing| !device.picture.totals.is_empty() || !device.picture.segments.is_empty();
    let mut devices: Vec<&Drawing> = devices.iter().filter(has_picture).collect();
    devices.sort_by_key(|device| !device.is_main);
    devices
}

fn encode_device(device: &Drawing) -> Value {
    let mut columns = Columns::default();
    let picture = device.picture;
    totals(&mut columns, picture);
    spans(&mut columns, picture);
    segments(&mut columns, &picture.segments);
    let strings = stacks(&mut columns, picture);
    columns.delta("step.event", picture.steps.iter().map(|&event| event.into()));
    json!({
        "name": clean(&device.name),
        "events": device.events,
        "peak_event": device.peak.event,
        "oom_event": device.oom_event,
        "total_bytes": device.limit.map(|(_, bytes)| bytes),
        "total_words": device.limit.map(|(words, _)| words),
        "strings": strings,
        "columns": columns.0,
    })
}

fn totals(columns: &mut Columns, picture: &Picture) {
    let totals = || picture.totals.iter();
    columns.delta("total.event", totals().map(|point| point.event.into()));
    columns.delta("total.time", totals().map(|point| point.time_us.unwrap_or(0)));
    columns.delta("total.allocated", totals().map(|point| point.allocated_bytes.0));
    columns.delta("total.reserved", totals().map(|point| point.reserved_bytes.0));
}

fn spans(columns: &mut Columns, picture: &Picture) {
    let mut in_order: Vec<&Span> = picture.spans.iter().collect();
    in_order.sort_by_key(|span| span.from);
    let spans = || in_order.iter();
    columns.delta("span.from", spans().map(|span| span.from.into()));
    columns.plain("span.length", spans().map(|span| span.to.saturating_sub(span.from).into()));
    columns.plain("span.bytes", spans().map(|span| span.bytes.0));
    columns.plain("span.stack", spans().map(|span| span.stack.into()));
}

fn segments(columns: &mut Columns, segments: &[SegmentPicture]) {
    columns.delta("segment.address", segments.iter().map(|segment| segment.address.0));
    columns.plain("segment.bytes", segments.iter().map(|segment| segment.bytes.0));
    columns.plain("segment.kind", segments.iter().map(kind));
    columns.plain("segment.blocks", segments.iter().map(|segment| segment.blocks.len() as u64));
    let blocks = || segments.iter().flat_map(|segment| segment.blocks.iter());
    columns.delta("block.offset", blocks().map(|block| block.offset));
    columns.plain("block.bytes", blocks().map(|block| block.bytes.0));
    columns.plain("block.stack", blocks().map(|block| block.stack.into()));
}

fn kind(segment: &SegmentPicture) -> u64 {
    let size_class = match segment.kind {
        None => 0,
        Some(SegmentKind::Small) => 1,
        Some(SegmentKind::Large) => 2,
    };
    size_class + if segment.is_expandable { 4 } else { 0 }
}

/// Writes the stacks and their frames, and returns the strings (Note [Foreign text]).
fn stacks<'a>(columns: &mut Columns, picture: &'a Picture) -> Vec<Cow<'a, str>> {
    let stacks = || picture.stacks.iter();
    columns.plain("stack.bytes", stacks().map(|stack| stack.bytes.0));
    columns.plain("stack.count", stacks().map(|stack| stack.count));
    columns.plain("stack.category", stacks().map(|stack| category(stack.category)));
    columns.plain("stack.frames", stacks().map(|stack| stack.frames.len() as u64));
    let mut frames: Interned<&SiteFrame, (&str, &str, u32, bool)> = Interned::default();
    let all = picture.stacks.iter().flat_map(|stack| stack.frames.iter());
    let ids: Vec<u64> =
        all.map(|frame| frames.id(frame, (&frame.function, &frame.file, frame.line, frame.own))).collect();
    columns.plain("stackframe.frame", ids.into_iter());
    let mut strings: Interned<&str, &str> = Interned::default();
    let functions: Vec<u64> = frames.items.iter().map(|frame| strings.id(&*frame.function, &*frame.function)).collect();
    let files: Vec<u64> = frames.items.iter().map(|frame| strings.id(&*frame.file, &*frame.file)).collect();
    columns.plain("frame.function", functions.into_iter());
    columns.plain("frame.file", files.into_iter());
    columns.plain("frame.line", frames.items.iter().map(|frame| frame.line.into()));
    columns.plain("frame.own", frames.items.iter().map(|frame| frame.own.into()));
    strings.items.into_iter().map(clean).collect()
}

fn category(category: Contents) -> u64 {
    CATEGORIES.iter().position(|&other| other == category).unwrap_or(0) as u64
}

/// Distinct values in the order of their first occurrence.
struct Interned<T, K> {
    items: Vec<T>,
    ids: HashMap<K, u64>,
}

impl<T, K> Default for Interned<T, K> {
    fn default() -> Interned<T, K> {
        Interned { items: Vec::new(), ids: HashMap::new() }
    }
}

impl<T, K: std::hash::Hash + Eq> Interned<T, K> {
    fn id(&mut self, item: T, key: K) -> u64 {
        let next = self.items.len() as u64;
        *self.ids.entry(key).or_insert_with(|| {
            self.items.push(item);
            next
        })
    }
}

/// Columns by name.
#[derive(Default)]
struct Columns(Map<String, Value>);

impl Columns {
    fn plain(&mut self, name: &str, numbers: impl Iterator<Item = u64>) {
        self.add(name, false, numbers.map(u128::from));
    }

    fn delta(&mut self, name: &str, numbers: impl Iterator<Item = u64>) {
        let differences = numbers.scan(0i128, |last, number| {
            let number = i128::from(number);
            Some(zigzag(number - std::mem::replace(last, number)))
        });
        self.add(name, true, differences);
    }

    fn add(&mut self, name: &str, delta: bool, numbers: impl Iterator<Item = u128>) {
        let mut bytes = Vec::new();
        let length = numbers.map(|number| leb128(&mut bytes, number)).count();
        let column = json!({"length": length, "delta": delta, "data": STANDARD.encode(&bytes)});
        self.0.insert(name.to_owned(), column);
    }
}

fn zigzag(number: i128) -> u128 {
    let doubled = number.unsigned_abs() * 2;
    if number < 0 { doubled - 1 } else { doubled }
}

fn leb128(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_seven_bits_a_byte() {
        let cases: [(u128, &[u8]); 5] =
            [(0, &[0]), (127, &[0x7f]), (128, &[0x80, 1]), (300, &[0xac, 2]), (1 << 14, &[0x80, 0x80, 1])];
        for (number, expected) in cases {
            let mut bytes = Vec::new();
            leb128(&mut bytes, number);
            assert_eq!(bytes, expected, "{number}");
        }
    }

    #[test]
    fn differences_may_be_negative() {
        assert_eq!([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
        let mut columns = Columns::default();
        columns.delta("x", [5, 3, u64::MAX].into_iter());
        assert_eq!(columns.0["x"]["length"], 3);
        assert_eq!(columns.0["x"]["delta"], true);
    }
}
