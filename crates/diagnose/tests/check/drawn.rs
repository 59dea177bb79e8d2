//! The picture of a run, for the page of `check`.

use diagnose::CheckCase;
use report::explain::{DeviceMemory, Extent, Holder};
use report::{Contents, RunPicture};
use trace::run::EndReason;
use trace::{Bytes, Run};

use crate::program::{Program, case};
use crate::{MIB, check, ended, out_of_memory, training};

fn drawn(case: &CheckCase) -> RunPicture {
    diagnose::check(case).draw()
}

/// The highest point of the first drawing, in MiB.
fn highest(run: &RunPicture) -> u64 {
    let totals = run.devices.iter().take(1).flat_map(|device| &device.picture.totals);
    totals.map(|point| point.allocated_bytes.0 / MIB).max().unwrap_or_default()
}

/// The holders of the memory, in MiB.
fn holders(run: &RunPicture) -> Vec<(Holder, u64)> {
    let parts = run.memory.iter().flat_map(DeviceMemory::parts);
    parts.map(|part| (part.holder, part.bytes.0 / MIB)).collect()
}

fn allocating(mib: u64) -> Run {
    let mut program = Program::new();
    program.alloc(1, mib * MIB);
    program.end(EndReason::Exit)
}

/// A run of 1 GiB that runs out, and a run without a limit that takes 1.5 GiB.
fn not_fitting() -> CheckCase {
    let mut case = case(out_of_memory(400 * MIB, 0));
    case.runs.unlimited = Some(ended(allocating(1500)));
    case
}

#[test]
fn a_program_that_fits_is_drawn_as_it_ran_on_the_device() {
    let run = drawn(&case(training(3, true)));
    assert!(!run.is_unlimited);
    assert_eq!((run.devices.len(), highest(&run)), (1, 564));
    assert_eq!(run.devices[0].peak.allocated_bytes, Bytes::from_mib(564));
    let allocated = |contents, mib| (Holder::Allocated(Some(contents)), mib);
    let expected = [
        allocated(Contents::Activations, 300),
        allocated(Contents::OptimizerState, 128),
        allocated(Contents::Parameters, 64),
        allocated(Contents::Gradients, 64),
        allocated(Contents::Inputs, 8),
        (Holder::OutsidePytorch, 24),
        (Holder::Free, 1024 - 588),
    ];
    assert_eq!(holders(&run), expected);
    assert_eq!(run.memory.map(|memory| memory.extent()), Some(Extent::Device));
}

#[test]
fn a_program_that_does_not_fit_is_drawn_up_to_its_need() {
    let case = not_fitting();
    let run = drawn(&case);
    assert!(run.is_unlimited);
    assert_eq!((highest(&run), run.devices[0].oom_event), (1500, None));
    let memory = run.memory.unwrap();
    assert_eq!((memory.total(), memory.extent()), (check(&case).need.usage.device_bytes, Extent::Used));
    assert_eq!(memory.total(), Bytes::from_mib(1524));
}

#[test]
fn without_a_run_that_shows_the_need_the_run_with_the_error_is_drawn() {
    let run = drawn(&case(out_of_memory(400 * MIB, 0)));
    assert!(!run.is_unlimited);
    assert_eq!(highest(&run), 64 + 128 + 600);
    assert!(run.devices[0].oom_event.is_some());
}

#[test]
fn a_program_that_fits_by_emptying_the_cache_is_drawn_within_the_limit() {
    let mut program = Program::new();
    program.alloc(1, MIB);
    program.empty_cache_and_retry();
    let mut case = case(program.end(EndReason::Exit));
    case.runs.unlimited = Some(ended(allocating(1500)));
    let run = drawn(&case);
    assert_eq!((run.is_unlimited, highest(&run)), (false, 1));
}

#[test]
fn the_device_of_the_report_comes_first_and_all_are_drawn() {
    let process = |rank, mib| {
        let mut program = Program::of_rank(rank);
        program.alloc(1, mib * MIB);
        program.end(EndReason::Steps).processes.remove(0)
    };
    let run = drawn(&case(Run { processes: vec![process(0, 100), process(1, 300), process(2, 200)] }));
    let devices: Vec<(u32, u64)> =
        run.devices.iter().map(|device| (device.rank, device.peak.allocated_bytes.0 / MIB)).collect();
    assert_eq!(devices, [(1, 300), (0, 100), (2, 200)]);
    let others = holders(&run).into_iter().find(|(holder, _)| *holder == Holder::OtherProcesses);
    assert_eq!(others, Some((Holder::OtherProcesses, 100 + 24 + 200 + 24)), "the three share the device");
}

#[test]
fn a_run_without_a_device_has_no_picture() {
    assert_eq!(drawn(&case(Run::default())), RunPicture::default());
}
