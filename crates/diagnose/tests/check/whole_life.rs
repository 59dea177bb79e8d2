//! Programs that visit their whole life, with shortened loops.

use report::{Condition, Verdict};
use trace::run::{BatchesRecord, EndReason};
use trace::{LifeStage, Run, ShortenedReason};

use super::{MIB, Model, check, ended, fits, line};
use crate::program::{Program, Tensor, case};

/// A row: the stage, the allocated bytes, the bytes of this stage alone, their line, the line of the peak, and true if the stage fits.
type Row = (LifeStage, u64, u64, Option<u32>, Option<u32>, Option<bool>);

fn rows(run: Run, unlimited: Option<Run>) -> Vec<Row> {
    let mut asked = case(run);
    asked.runs.unlimited = unlimited.map(ended);
    let stages = check(&asked).life.stages;
    let line_of = |location: Option<report::Location>| location.map(|location| location.line);
    let row = |row: report::StageUse| {
        let (peak, only) = (row.peak_allocated_bytes.0 / MIB, row.only_there_bytes.0 / MIB);
        (row.stage, peak, only, line_of(row.only_there_location), line_of(row.location), row.fits)
    };
    stages.into_iter().map(row).collect()
}

/// 100 MiB from the load on, and a step of 200 MiB more.
fn begin() -> (Program, Tensor) {
    let mut program = Program::new();
    program.visit(LifeStage::Load, 1);
    let weights = program.alloc(3, 100 * MIB);
    program.visit(LifeStage::Steps, 10);
    step(&mut program, 11);
    (program, weights)
}

fn step(program: &mut Program, line: u32) {
    let activations = program.alloc(line, 200 * MIB);
    program.free(activations);
    program.end_step();
}

/// An evaluation that keeps 50 MiB of outputs beside `mib` MiB, until it ends.
fn evaluate(program: &mut Program, mib: u64) {
    program.visit(LifeStage::Evaluation, 20);
    let outputs = program.alloc(21, 50 * MIB);
    let logits = program.alloc(22, mib * MIB);
    program.free(logits);
    program.free(outputs);
}

/// The whole life, with an evaluation of 50 + `mib` MiB.
fn live(mib: u64) -> Run {
    let (mut program, _) = begin();
    evaluate(&mut program, mib);
    // Nothing is allocated in a save.
    program.visit(LifeStage::Save, 30);
    program.visit(LifeStage::LaterSteps, 10);
    step(&mut program, 11);
    step(&mut program, 11);
    evaluate(&mut program, mib / 2);
    program.end(EndReason::Exit)
}

/// The beginning of that life on a device that refuses the logits.
fn die(mib: u64) -> Run {
    let (mut program, _) = begin();
    program.visit(LifeStage::Evaluation, 20);
    program.alloc(21, 50 * MIB);
    program.oom(22, mib * MIB, 0);
    program.raise("torch.OutOfMemoryError", "CUDA out of memory.", true)
}

#[test]
fn each_stage_has_its_own_peak_and_what_is_only_there() {
    use LifeStage::{Evaluation, LaterSteps, Load, Save, Steps};
    let yes = Some(true);
    let expected = vec![
        (Load, 100, 0, None, Some(3), yes),
        (Steps, 300, 200, Some(11), Some(11), yes),
        (Evaluation, 350, 250, Some(22), Some(22), yes),
        (Save, 100, 0, None, None, yes),
        (LaterSteps, 300, 200, Some(11), Some(11), yes),
    ];
    assert_eq!(rows(live(200), None), expected);
}

#[test]
fn a_stage_fits_if_it_ran_within_the_limit() {
    use LifeStage::{Evaluation, LaterSteps, Load, Save, Steps};
    let of = |rows: Vec<Row>| rows.into_iter().map(|row| (row.0, row.1, row.4, row.5)).collect::<Vec<_>>();
    let (yes, no) = (Some(true), Some(false));
    // The device has 1000 MiB for the program.
    let all = vec![
        (Load, 100, Some(3), yes),
        (Steps, 300, Some(11), yes),
        (Evaluation, 1150, Some(22), no),
        (Save, 100, None, yes),
        (LaterSteps, 300, Some(11), yes),
    ];
    assert_eq!(of(rows(die(1000), Some(live(1000)))), all);
    // Without a run without a limit, the row has the memory and the line of the error.
    let seen = vec![(Load, 100, Some(3), yes), (Steps, 300, Some(11), yes), (Evaluation, 150, Some(22), no)];
    assert_eq!(of(rows(die(1000), None)), seen);
}

#[test]
fn a_program_without_stages_has_no_rows() {
    let mut program = Program::new();
    step(&mut program, 11);
    assert_eq!(rows(program.end(EndReason::Exit), None), vec![]);
}

#[test]
fn the_error_names_its_stage_and_the_programs_step() {
    let (mut program, _) = begin();
    program.shorten(10, ShortenedReason::Alike, Some(498));
    step(&mut program, 11);
    program.visit(LifeStage::Evaluation, 20);
    program.oom(22, 2000 * MIB, 0);
    let report = check(&case(program.raise("torch.OutOfMemoryError", "CUDA out of memory.", true)));
    let place = report.oom.unwrap().place;
    assert_eq!((place.stage, place.step), (Some(LifeStage::Evaluation), Some(501)));
    let mut program = begin().0;
    program.oom(11, 2000 * MIB, 0);
    let report = check(&case(program.raise("torch.OutOfMemoryError", "CUDA out of memory.", true)));
    let place = report.oom.unwrap().place;
    assert_eq!((place.stage, place.step), (Some(LifeStage::Steps), Some(2)));
}

/// The verdict on a whole life with a loop that was shortened for `reason`, ended for `end`.
fn shortened(reason: ShortenedReason, end: EndReason) -> Verdict {
    let (mut program, _) = begin();
    program.shorten(10, reason, Some(29_996));
    step(&mut program, 11);
    program.visit(LifeStage::End, 40);
    step(&mut program, 40);
    check(&case(program.end(end))).verdict
}

#[test]
fn only_a_life_without_open_loops_fits() {
    use ShortenedReason::{Alike, Cut, Largest, Varying};
    let location = Some(line(10));
    let cases = [
        (Alike, EndReason::Exit, vec![]),
        (Largest, EndReason::Exit, vec![]),
        (Varying, EndReason::Exit, vec![Condition::Varying { location: location.clone() }]),
        (Cut, EndReason::Exit, vec![Condition::Cut { location }]),
        // A stopped program has later steps.
        (Alike, EndReason::Steps, vec![Condition::LaterSteps]),
    ];
    for (reason, end, expected) in cases {
        let conditions = match shortened(reason, end.clone()) {
            Verdict::FitsSoFar { conditions, .. } => conditions,
            verdict => {
                assert_eq!(verdict, fits(700), "{reason:?} {end:?}");
                vec![]
            }
        };
        assert_eq!(conditions, expected, "{reason:?} {end:?}");
    }
}

/// A run of steps 1, 2, 3, 500, 1000, 1500 and 2000; 10 MiB stay of each of the last four.
fn keep_every_500(skips: [Option<u32>; 4]) -> Run {
    let mut program = Program::new();
    let mut model = Model::new(&mut program);
    program.visit(LifeStage::Steps, 10);
    for _ in 0..3 {
        model.step(&mut program);
        model.zero_grad(&mut program);
    }
    for skipped in skips {
        program.shorten(10, ShortenedReason::Alike, skipped);
        program.alloc(55, 10 * MIB);
        model.step(&mut program);
        model.zero_grad(&mut program);
    }
    let mut run = program.end(EndReason::Steps);
    run.processes[0].shortened.truncate(1);
    run
}

#[test]
fn growth_is_measured_in_the_steps_of_the_program() {
    let report = check(&case(keep_every_500([496, 995, 1494, 1993].map(Some))));
    let growth = report.growth.unwrap();
    // 40 MiB from step 2 to step 2000; 396 MiB are left at its peak of 604 MiB.
    let rise = 40 * MIB / 1998;
    assert_eq!((growth.bytes_per_iteration.0, growth.first_iteration), (rise, 500));
    assert_eq!(growth.full_at.map(u64::from), Some(2000 + 396 * MIB / rise + 1));
    assert_eq!(report.peak.place.step, Some(2000));
    // Without a count of omitted steps, the rise of one step may be the rise of many.
    let report = check(&case(keep_every_500([None; 4])));
    assert_eq!((report.growth, report.peak.place.step), (None, None));
}

#[test]
fn the_loops_and_the_batches_are_in_the_report() {
    let (mut program, _) = begin();
    program.shorten(10, ShortenedReason::Largest, Some(29_996));
    let batches = BatchesRecord { scanned: 500, largest: Some(7), shape: "[8, 64]".to_owned(), ..Default::default() };
    program.process.batches_scanned.push(batches);
    step(&mut program, 11);
    let life = check(&case(program.end(EndReason::Exit))).life;
    let loops = life.shortened.iter().map(|one| (one.location.clone(), one.passes, one.total, one.reason));
    assert_eq!(loops.collect::<Vec<_>>(), [(Some(line(10)), 4, Some(30_000), ShortenedReason::Largest)]);
    let batches = life.batches.iter().map(|one| (one.location.clone(), one.scanned, one.largest, one.shape.as_str()));
    assert_eq!(batches.collect::<Vec<_>>(), [(None, 500, Some(7), "[8, 64]")]);
}
