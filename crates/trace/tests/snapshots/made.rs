//! Snapshots of any shape, as values: with shared stacks, marks, pools, several devices.

use proptest::prelude::*;

use crate::emit::{Plain, dict, list, text};

/// One event: action, address, size, stack (if any), mark, time, pool.
type Made = (usize, i64, i64, Option<usize>, usize, Option<i64>, Option<(i64, i64)>);

const ACTIONS: [&str; 6] = ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_map", "oom"];
const TEXTS: [&str; 4] = [
    "",
    "somebody's own",
    "oomph step=1 phase=forward census=0 module=h.0",
    "oomph step=2 phase=backward census=1 module=",
];

pub(crate) fn snapshot() -> impl Strategy<Value = Plain> {
    let event = (
        0..ACTIONS.len(),
        any::<i64>(),
        0..1_i64 << 40,
        prop::option::of(0..5_usize),
        0..TEXTS.len(),
        prop::option::of(1..1_i64 << 51),
        prop::option::of((0..3_i64, 0..3_i64)),
    );
    let devices = prop::collection::vec(prop::collection::vec(event, 0..20), 0..3);
    let segments = prop::collection::vec((0..2_i64, prop::collection::vec((1..1_i64 << 30, 0..3_usize), 0..4)), 0..4);
    (devices, segments).prop_map(|(devices, segments)| of(&devices, &segments))
}

fn of(devices: &[Vec<Made>], segments: &[(i64, Vec<(i64, usize)>)]) -> Plain {
    let stacks: Vec<Plain> = (0..5).map(stack).collect();
    let traces = devices.iter().map(|events| list(events.iter().map(|made| event(made, &stacks)).collect()));
    let segments = (0..).zip(segments).map(|(index, (device, blocks))| segment(index, *device, blocks, &stacks));
    dict([
        ("segments", list(segments.collect())),
        ("device_traces", list(traces.collect())),
        ("allocator_settings", dict([("garbage_collection_threshold", Plain::Float(0.5))])),
    ])
}

/// Stacks of 0 to 4 frames. The first frame is one shared dict, the others belong to each stack.
fn stack(depth: i64) -> Plain {
    list((0..depth).map(|line| frame("forward", "/home/ann/caf\u{e9}.py", line + depth % 2)).collect())
}

fn frame(name: &str, file: &str, line: i64) -> Plain {
    dict([("name", text(name)), ("filename", text(file)), ("line", Plain::Int(line))])
}

fn event(made: &Made, stacks: &[Plain]) -> Plain {
    let &(action, address, size, stack, mark, time, pool) = made;
    let address_key = if ACTIONS[action] == "oom" { "device_free" } else { "addr" };
    let mut entries = vec![
        ("action", text(ACTIONS[action])),
        (address_key, Plain::Int(address)),
        ("size", Plain::Int(size)),
        ("stream", Plain::Int(0)),
        ("user_metadata", text(TEXTS[mark])),
        ("what a later version adds", list(vec![Plain::None, Plain::Bool(true)])),
    ];
    entries.extend(stack.map(|stack| ("frames", stacks[stack].clone())));
    entries.extend(time.map(|time| ("time_us", Plain::Int(time))));
    entries.extend(pool.map(|pool| ("pool_id", pair_or_list(pool))));
    dict(entries)
}

pub(crate) fn pair((first, second): (i64, i64)) -> Plain {
    Plain::Tuple(vec![Plain::Int(first), Plain::Int(second)].into())
}

/// JSON has lists in place of tuples.
fn pair_or_list((first, second): (i64, i64)) -> Plain {
    if first == 2 { list(vec![Plain::Int(first), Plain::Int(second)]) } else { pair((first, second)) }
}

fn segment(index: i64, device: i64, blocks: &[(i64, usize)], stacks: &[Plain]) -> Plain {
    let states = ["active_allocated", "active_pending_free", "inactive"];
    let block = |&(size, state): &(i64, usize)| {
        dict([("size", Plain::Int(size)), ("state", text(states[state])), ("frames", stacks[state].clone())])
    };
    dict([
        ("device", Plain::Int(device)),
        ("address", Plain::Int(index << 40)),
        ("total_size", Plain::Int(blocks.iter().map(|(size, _)| size).sum())),
        ("segment_type", text("large")),
        ("segment_pool_id", pair((0, index))),
        ("blocks", list(blocks.iter().map(block).collect())),
    ])
}
