//! The rules of Notes `[Values on a phantom]` and `[Unknown reads]` as tables of writes and reads.

use proptest::prelude::*;

use super::*;

use IslandCall::{
    Answer, AnswerAt, Collect, CopyIn, CopyInHidden, CopyOnDevice, Fill, FillForeign, Forget, Launch, Read,
    ReadOnDevice,
};

const BASE: usize = 0x1234_0000_0000;
/// The distance of two blocks.
const BLOCK: usize = 1 << 30;
const SECOND: usize = BLOCK;
const THIRD: usize = 2 * BLOCK;

/// A call of a program, or of the agent. Addresses count from `BASE`; lengths are bytes.
#[derive(Clone, Copy, Debug)]
enum IslandCall {
    /// A copy of equal bytes from the host: address, length, value.
    CopyIn(usize, usize, u8),
    /// A copy from the host with an agent.
    CopyInHidden(usize, usize, u8),
    Fill(usize, usize, u8),
    /// A fill that PyTorch did not issue.
    FillForeign(usize, usize, u8),
    /// A copy to an address, from an address, of a length.
    CopyOnDevice(usize, usize, usize),
    /// A collective, in the same order.
    Collect(usize, usize, usize),
    Forget(usize, usize),
    /// A launch of a kernel without an agent.
    Launch,
    Answer(Option<u64>),
    AnswerAt(usize, u8),
    /// A read of the host.
    Read(usize, usize),
    /// A read of the agent or of a collective.
    ReadOnDevice(usize, usize),
}

/// The bytes of a read as lengths and values; zeros are unknown bytes.
type Runs<'a> = &'a [(usize, u8)];

/// Makes calls, and compares the bytes of each read and the number of its known bytes. Other calls have no runs.
fn check(steps: &[(IslandCall, Runs)]) {
    let mut islands = Islands::EMPTY;
    for (index, (call, runs)) in steps.iter().enumerate() {
        let expected: Vec<u8> = runs.iter().flat_map(|(count, value)| vec![*value; *count]).collect();
        let known = expected.iter().filter(|byte| **byte != 0).count();
        let mut found = vec![0xee; expected.len()];
        let found_known = match *call {
            Read(at, bytes) if bytes == found.len() => islands.read_to_host(BASE + at, &mut found),
            ReadOnDevice(at, bytes) if bytes == found.len() => islands.read(BASE + at, &mut found, ReadBy::Device),
            _ => {
                make(&mut islands, *call);
                0
            }
        };
        assert_eq!((found_known, found), (known, expected), "{steps:?}\nstep {index}: {call:?}");
    }
}

fn make(islands: &mut Islands, call: IslandCall) {
    match call {
        CopyIn(at, bytes, value) => islands.copy_from_host(BASE + at, &vec![value; bytes], false),
        CopyInHidden(at, bytes, value) => islands.copy_from_host(BASE + at, &vec![value; bytes], true),
        Fill(at, bytes, value) => islands.fill(BASE + at, value, bytes, false),
        FillForeign(at, bytes, value) => islands.fill_foreign(BASE + at, value, bytes),
        CopyOnDevice(to, from, bytes) => islands.copy_on_device(BASE + to, BASE + from, bytes),
        Collect(to, from, bytes) => islands.share(BASE + to, BASE + from, bytes),
        Forget(at, bytes) => islands.forget(BASE + at, bytes),
        Launch => islands.note_launch(),
        Answer(answer) => islands.set_answer(answer),
        AnswerAt(at, value) => islands.set_verdict(BASE + at, value),
        Read(..) | ReadOnDevice(..) => panic!("the runs of {call:?} have another length"),
    }
}

#[test]
fn a_read_from_the_start_of_a_block_needs_an_island_of_its_extent() {
    check(&[
        (CopyIn(0, 256, 7), &[]),
        (Read(0, 4), &[(4, 0)]),   // a result in a reused block
        (Read(0, 64), &[(64, 0)]), // several results
        (Read(8, 4), &[(4, 7)]),   // an element of the labels
        (Read(0, 256), &[(256, 7)]),
        (Read(200, 100), &[(56, 7), (44, 0)]),
        (CopyIn(SECOND, 4, 8), &[]),
        (Read(SECOND - 256, 512), &[(256, 0), (4, 8), (252, 0)]),
        (CopyIn(0, 4, 9), &[]),
        (Read(0, 4), &[(4, 9)]), // a scalar that was copied there
        (Read(THIRD, 8), &[(8, 0)]),
    ]);
}

#[test]
fn a_scalar_is_read_until_a_kernel_is_launched_without_an_agent() {
    check(&[
        (CopyIn(0, 8, 7), &[]),
        (CopyIn(SECOND, 16, 8), &[]),
        (Read(0, 8), &[(8, 7)]),
        (Launch, &[]),
        (Read(0, 8), &[(8, 0)]),          // a result in a reused block
        (Read(SECOND + 8, 8), &[(8, 0)]), // a result in a part of a reused block
        (Read(SECOND, 16), &[(16, 8)]),   // two labels
        (ReadOnDevice(0, 8), &[(8, 7)]),
        (CopyIn(0, 8, 9), &[]),
        (Read(0, 8), &[(8, 9)]), // a scalar that was copied after the kernel
    ]);
}

#[test]
fn small_copies_are_kept_and_large_ones_end_the_islands_below() {
    check(&[
        (Fill(SECOND, KEPT_BYTES, 6), &[]),
        (Read(SECOND, KEPT_BYTES), &[(KEPT_BYTES, 6)]),
        (CopyOnDevice(THIRD, SECOND, KEPT_BYTES), &[]),
        (Read(THIRD, KEPT_BYTES), &[(KEPT_BYTES, 6)]),
        (CopyOnDevice(THIRD, SECOND, KEPT_BYTES + 1), &[]),
        (Read(THIRD, KEPT_BYTES), &[(KEPT_BYTES, 0)]),
        (Fill(SECOND, KEPT_BYTES + 1, 6), &[]),
        (Read(SECOND, KEPT_BYTES), &[(KEPT_BYTES, 0)]),
    ]);
    check(&[
        (CopyIn(0, 64, 7), &[]),
        (Fill(16, 32, 0), &[]),
        (Read(0, 64), &[(48, 0), (16, 7)]), // The start of the block is an island of 16 bytes by now.
        (Read(8, 56), &[(8, 7), (32, 0), (16, 7)]),
        (Forget(60, 1000), &[]),
        (Read(48, 16), &[(12, 7), (4, 0)]),
    ]);
}

#[test]
fn writes_of_no_bytes_change_nothing() {
    for call in [CopyIn(0, 0, 9), Fill(0, 0, 9), FillForeign(0, 0, 9), CopyOnDevice(0, SECOND, 0)] {
        check(&[(CopyIn(0, 16, 7), &[]), (call, &[]), (Read(0, 16), &[(16, 7)])]);
    }
}

#[test]
fn an_answer_is_of_the_next_read_of_one_byte() {
    check(&[
        (CopyIn(0, 16, 7), &[]),
        (AnswerAt(0, 3), &[]),
        (Read(0, 16), &[(16, 7)]),
        (Read(0, 1), &[(1, 3)]),
        (Read(0, 16), &[(16, 7)]),
    ]);
}

#[test]
fn copied_islands_are_hidden_from_the_host_with_an_agent() {
    check(&[
        (CopyInHidden(0, 16, 7), &[]),
        (CopyIn(512, 16, 8), &[]),
        (Read(0, 16), &[(16, 0)]),
        (Read(512, 16), &[(16, 8)]),
        (ReadOnDevice(0, 16), &[(16, 7)]),
        (FillForeign(512, 16, 9), &[]),
        (Read(512, 16), &[(16, 0)]),
        (ReadOnDevice(512, 16), &[(16, 9)]),
    ]);
}

#[test]
fn copies_of_hidden_islands_are_hidden_and_results_of_collectives_are_not() {
    check(&[
        (CopyInHidden(0, 16, 7), &[]),
        (CopyOnDevice(SECOND, 0, 16), &[]),
        (Read(SECOND, 16), &[(16, 0)]),
        (ReadOnDevice(SECOND, 16), &[(16, 7)]),
        (Collect(THIRD, SECOND, 16), &[]),
        (Read(THIRD, 16), &[(16, 7)]),
        (CopyOnDevice(SECOND, THIRD, 16), &[]),
        (Read(SECOND, 16), &[(16, 7)]),
        (Read(0, 16), &[(16, 0)]),
        // A source with an unknown byte leaves no known byte.
        (Collect(THIRD, 4, 16), &[]),
        (ReadOnDevice(THIRD, 16), &[(16, 0)]),
    ]);
}

#[test]
fn set_answers_make_reads_known() {
    check(&[
        (CopyIn(0, 4, 7), &[]),
        (Answer(Some(0x0505_0505_0505_0505)), &[]),
        (Read(0, 4), &[(4, 5)]),
        (Read(SECOND, 8), &[(8, 5)]),
        (Read(SECOND, 9), &[(9, 0)]), // no scalar
        (ReadOnDevice(0, 4), &[(4, 7)]),
        (AnswerAt(SECOND, 1), &[]),
        (Read(SECOND, 1), &[(1, 1)]),
        (Read(SECOND, 1), &[(1, 5)]), // An answer to one address counts once.
        (Answer(None), &[]),
        (Read(SECOND, 1), &[(1, 0)]),
        (Read(0, 4), &[(4, 7)]),
    ]);
}

#[test]
fn the_islands_written_longest_ago_are_dropped_wherever_they_lie() {
    const KEPT: usize = KEPT_TOTAL_BYTES / KEPT_BYTES;
    let mut islands = Islands::EMPTY;
    let address = |index: usize| BASE + (2 * KEPT - index) * KEPT_BYTES;
    for index in 0..=KEPT {
        islands.write(address(index), vec![1; KEPT_BYTES]);
    }
    let is_known = |index| islands.read(address(index), &mut vec![0; KEPT_BYTES], ReadBy::Host) == KEPT_BYTES;
    assert_eq!([0, 1, KEPT].map(is_known), [false, true, true]);
    assert_eq!(islands.by_age.len(), islands.by_address.len());
}

proptest! {
    /// The islands against a plain array of bytes.
    #[test]
    fn islands_equal_an_array(ops in prop::collection::vec((0usize..200, 1usize..60, any::<bool>(), 1u8..), 1..60)) {
        let mut islands = Islands::EMPTY;
        let mut array = [0u8; 300];
        for (offset, bytes, write, value) in ops {
            if write {
                islands.write(BASE + 1 + offset, vec![value; bytes]);
                array[offset..offset + bytes].fill(value);
            } else {
                islands.forget(BASE + 1 + offset, bytes);
                array[offset..offset + bytes].fill(0);
            }
            let mut read = vec![0xee; 300];
            islands.read(BASE + 1, &mut read, ReadBy::Host);
            prop_assert_eq!(read, array.to_vec());
            prop_assert_eq!(islands.total_bytes, islands.by_address.values().map(|island| island.bytes.len()).sum::<usize>());
        }
    }
}
