//! Growth of a loop without an optimizer: the loop, the bytes of a pass, and the pass that runs out.

use report::Location;
use trace::run::LoopRecord;
use trace::{Bytes, Run};

use super::program::{Program, SCRIPT, case};
use super::{MIB, check, line};

/// The loop's lines in every case; line 3 comes before.
const LOOP: (u32, u32) = (7, 9);

/// `program` after the allocator refused `requested` bytes at line 9.
fn run_out(mut program: Program, requested: u64) -> Run {
    let (line, last_line) = LOOP;
    program.process.loops = vec![LoopRecord { depth: 0, file: SCRIPT.to_owned(), line, last_line }];
    program.oom(9, requested, 0);
    program.raise("torch.OutOfMemoryError", "CUDA out of memory.", true)
}

/// One pass for each item: a batch at line 8, freed at the end, and at line 9 as many tensors of `mib` as the item says, which stay.
fn keep(kept: &[usize], mib: u64) -> Program {
    let mut program = Program::new();
    pass_on(&mut program, kept, mib);
    program
}

fn pass_on(program: &mut Program, kept: &[usize], mib: u64) {
    for count in kept {
        let batch = program.alloc(8, 10 * MIB);
        for _ in 0..*count {
            program.alloc(9, mib * MIB);
        }
        program.free(batch);
    }
}

/// A pass begins with its batch, so the refused request is of the next pass.
fn begin_pass(mut program: Program) -> Program {
    program.alloc(8, 10 * MIB);
    program
}

/// A pass that has left the first of its tensors.
fn stop_within(program: Program, mib: u64) -> Program {
    let mut program = begin_pass(program);
    program.alloc(9, mib * MIB);
    program
}

/// The last 14 results stay of 60.
fn keep_ring() -> Program {
    let mut program = Program::new();
    let mut ring = std::collections::VecDeque::new();
    for _ in 0..60 {
        let batch = program.alloc(8, 10 * MIB);
        ring.push_back(program.alloc(9, 20 * MIB));
        if ring.len() > 14 {
            program.free(ring.pop_front().unwrap());
        }
        program.free(batch);
    }
    program
}

/// Tensors of line 3, before the loop, and then passes that keep little.
fn fill_before() -> Program {
    let mut program = Program::new();
    for _ in 0..30 {
        program.alloc(3, 30 * MIB);
    }
    pass_on(&mut program, &[1; 20], 1);
    program
}

#[test]
fn a_loop_grows_if_its_passes_leave_what_fills_the_device() {
    type Expected = Option<(u64, u32)>;
    // The device has 1,000 MiB for the program.
    let cases: [(&str, Run, Expected); 10] = [
        ("one of each pass", run_out(begin_pass(keep(&[1; 24], 40)), 40 * MIB), Some((40, 25))),
        ("two of one line", run_out(begin_pass(keep(&[2; 12], 40)), 40 * MIB), Some((80, 13))),
        ("three of one line", run_out(begin_pass(keep(&[3; 20], 16)), 60 * MIB), Some((48, 21))),
        ("in the middle of a pass", run_out(stop_within(keep(&[2; 12], 36), 36), 100 * MIB), Some((72, 13))),
        ("thirteen passes", run_out(begin_pass(keep(&[1; 13], 70)), 90 * MIB), Some((70, 14))),
        ("eleven passes", run_out(begin_pass(keep(&[1; 11], 80)), 200 * MIB), None),
        ("a ring", run_out(keep_ring(), 900 * MIB), None),
        ("a cache that stopped", run_out(keep(&[[1; 14], [0; 14], [0; 14]].concat(), 40), 600 * MIB), None),
        ("tensors before the loop", run_out(fill_before(), 200 * MIB), None),
        ("a request beyond the device", run_out(begin_pass(keep(&[1; 20], 10)), 1100 * MIB), None),
    ];
    for (name, run, expected) in cases {
        let growth = check(&case(run)).growth;
        let (first, _) = LOOP;
        let at = |growth: &report::Growth| (growth.loop_at.clone(), growth.location.clone());
        let places: Option<(Option<Location>, Option<Location>)> = expected.map(|_| (Some(line(first)), Some(line(9))));
        assert_eq!(growth.as_ref().map(at), places, "{name}");
        let figures = growth.map(|growth| (growth.bytes_per_iteration, growth.full_at));
        assert_eq!(figures, expected.map(|(mib, pass)| (Bytes::from_mib(mib), Some(pass))), "{name}");
    }
}
