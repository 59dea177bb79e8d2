//! The stages of a program's life, its shortened loops and its scanned batches, in words.

use trace::{Bytes, LifeStage};

use super::layout::{grouped, line_of, short_line};
use crate::check::{CheckReport, Oom};
use crate::finding::Location;
use crate::life::{ScannedBatches, ShortenedLoop, StageUse, describe_time, is_early, name_stage};
use crate::words::count;

/// At most this many shortened loops are named.
const NAMED: usize = 2;

/// The rows of the stages; none for a program of a single stage.
pub(super) fn list_rows(report: &CheckReport) -> &[StageUse] {
    let stages = report.life.stages.as_slice();
    if stages.len() > 1 { stages } else { &[] }
}

/// `evaluation after step 500 does not fit, eval.py:41, 4.10 GiB only there (eval.py:39)`.
pub(super) fn words_of_row(row: &StageUse, folder: &str) -> String {
    let is_plural = matches!(row.stage, LifeStage::Steps | LifeStage::WorstBatches | LifeStage::LaterSteps);
    let fits = match row.fits {
        Some(false) if is_plural => " do not fit",
        Some(false) => " does not fit",
        _ => "",
    };
    let line = row.location.as_ref().map(|at| line_of(at, folder));
    let only = (row.only_there_bytes > Bytes::ZERO).then(|| {
        let of = row.only_there_location.as_ref().filter(|at| Some(*at) != row.location.as_ref());
        let of = of.map_or_else(String::new, |at| format!(" ({})", line_of(at, folder)));
        format!("{} only there{of}", row.only_there_bytes)
    });
    let stage = name_stage(row.stage).to_owned() + &describe_time(row.stage, row.step).unwrap_or_default() + fits;
    [Some(stage), line, only].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The row with its figures, for a list without columns.
pub(super) fn words_of_whole_row(row: &StageUse, folder: &str) -> String {
    let (allocated, reserved) = (row.peak_allocated_bytes, row.peak_reserved_bytes);
    let figures = format!("{} on the device ({allocated} allocated, {reserved} reserved)", row.peak_device_bytes);
    format!("{figures}: {}", words_of_row(row, folder))
}

/// `it runs out in the first evaluation, after step 500 (eval.py:41)`; `None` for an error in the load or in the first steps.
pub(super) fn words_of_error(report: &CheckReport) -> Option<String> {
    let oom = report.oom.as_ref()?;
    let stage = oom.place.stage.filter(|stage| !is_early(*stage))?;
    let time = describe_time(stage, oom.place.step).map_or_else(String::new, |time| format!(",{time}"));
    let line = oom.location.as_ref().map_or_else(String::new, |at| format!(" ({})", short_line(at, &report.folder)));
    Some(format!("it runs out {}{time}{line}", words_of_stage(stage, is_first(report, oom, stage))))
}

/// True if the error is in the stage's first visit.
fn is_first(report: &CheckReport, oom: &Oom, stage: LifeStage) -> bool {
    let begins = report.life.find(stage).and_then(|row| row.begins_step);
    begins.is_some() && begins == oom.place.step
}

/// `in the first evaluation`, `with the largest batches`.
fn words_of_stage(stage: LifeStage, is_first: bool) -> String {
    let first = if is_first { "first " } else { "" };
    match stage {
        LifeStage::Load => "in the load".to_owned(),
        LifeStage::Steps => "in the first steps".to_owned(),
        LifeStage::WorstBatches => "with the largest batches".to_owned(),
        LifeStage::Evaluation | LifeStage::Generation | LifeStage::Save => {
            format!("in the {first}{}", name_stage(stage))
        }
        LifeStage::LaterSteps => "in the later steps".to_owned(),
        LifeStage::NextEpoch => "in the next epoch".to_owned(),
        LifeStage::End => "after the training".to_owned(),
    }
}

/// The warning of a real run, before the program starts: `oomph check` counted `need` in a stage, and the GPU has `free`.
pub fn describe_shortage(row: &StageUse, need: Bytes, free: Bytes, folder: &str) -> String {
    let is_first = row.begins_step.is_some() && row.begins_step == row.step;
    let time = describe_time(row.stage, row.step).map_or_else(String::new, |time| format!(",{time}"));
    let line = row.location.as_ref().map_or_else(String::new, |at| format!(" ({})", short_line(at, folder)));
    let place = format!("{}{time}{line}", words_of_stage(row.stage, is_first));
    format!(
        "the last check of this command counted {need} {place}, and the GPU has {free} free: this run will run out of memory there"
    )
}

/// `3 loops shortened: train.py:40 ran 4 of 30,000 passes, eval.py:12 2 of 80, 1 more`; `None` without a shortened loop.
pub(super) fn words_of_shortened(report: &CheckReport) -> Option<String> {
    let mut loops: Vec<&ShortenedLoop> = report.life.shortened.iter().collect();
    loops.sort_by_key(|one| std::cmp::Reverse(one.total.unwrap_or(u64::MAX).saturating_sub(one.passes)));
    let number = u64::try_from(loops.len()).unwrap_or(u64::MAX);
    let named = loops.iter().take(NAMED).enumerate().map(|(index, one)| words_of_loop(one, index == 0, &report.folder));
    let more = loops.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    let all = named.chain(more).collect::<Vec<_>>().join(", ");
    (number > 0).then(|| format!("{} shortened: {all}", count(number, "loop", "loops")))
}

fn words_of_loop(one: &ShortenedLoop, is_first: bool, folder: &str) -> String {
    let place = words_of_place(one.location.as_ref(), folder);
    let (passes, unit) = (grouped(one.passes), if one.passes == 1 && one.total.is_none() { "pass" } else { "passes" });
    let (ran, unit) = if is_first { ("ran ", format!(" {unit}")) } else { ("", String::new()) };
    let total = one.total.map_or_else(String::new, |total| format!(" of {}", grouped(total)));
    format!("{place} {ran}{passes}{total}{unit}")
}

fn words_of_place(location: Option<&Location>, folder: &str) -> String {
    location.map_or_else(|| "a library's loop".to_owned(), |at| short_line(at, folder))
}

/// `the largest of 4,200 batches is number 2,321 with [8, 2048] (train.py:40)`.
pub(super) fn words_of_batches(batches: &ScannedBatches, folder: &str) -> String {
    let place = batches.location.as_ref().map_or_else(String::new, |at| format!(" ({})", short_line(at, folder)));
    let scanned = grouped(batches.scanned);
    let of = match batches.total {
        Some(total) if total != batches.scanned => format!("{scanned} of {} batches", grouped(total)),
        _ => format!("{scanned} batches"),
    };
    let shape = if batches.shape.is_empty() { String::new() } else { format!(" with {}", batches.shape) };
    let bound = if batches.bound.is_empty() { String::new() } else { format!("; {}", batches.bound) };
    match batches.largest {
        Some(position) => format!("the largest of {of} is number {}{shape}{place}{bound}", grouped(position + 1)),
        None => format!("{of} scanned, the largest is not known{place}{bound}"),
    }
}

/// The figures of the shortened loops and the scanned batches.
pub(super) fn list_figures(report: &CheckReport) -> Vec<(&'static str, String)> {
    let loops = words_of_shortened(report).map(|text| ("loops", text));
    let batches = report.life.batches.iter().map(|batches| ("batches", words_of_batches(batches, &report.folder)));
    loops.into_iter().chain(batches).collect()
}

#[cfg(test)]
mod tests {
    use trace::run::ShortenedReason;

    use super::*;

    fn at(line: u32) -> Location {
        Location { file: "/home/ann/eval.py".to_owned(), line, column: None }
    }

    fn row(stage: LifeStage, step: Option<u32>, fits: Option<bool>, only_at: u32) -> StageUse {
        StageUse {
            stage,
            step,
            begins_step: step,
            peak_allocated_bytes: Bytes::from_mib(900),
            peak_reserved_bytes: Bytes::from_mib(1000),
            peak_device_bytes: Bytes::from_mib(1024),
            only_there_bytes: Bytes::from_mib(u64::from(only_at)),
            only_there_location: Some(at(only_at)),
            location: Some(at(41)),
            begins_at: Some(at(9)),
            fits,
        }
    }

    #[test]
    fn a_row_names_the_stage_its_line_and_what_is_only_there() {
        use LifeStage::{Evaluation, LaterSteps, Load, Save, WorstBatches};
        let cases = [
            (row(Load, Some(1), Some(true), 0), "load, eval.py:41"),
            (
                row(Evaluation, Some(501), Some(false), 41),
                "evaluation after step 500 does not fit, eval.py:41, 41.00 MiB only there",
            ),
            (row(Save, Some(1), None, 8), "save, eval.py:41, 8.00 MiB only there (eval.py:8)"),
            (row(WorstBatches, Some(2321), Some(true), 0), "largest batches at step 2,321, eval.py:41"),
            (row(LaterSteps, None, Some(false), 0), "later steps do not fit, eval.py:41"),
        ];
        for (row, expected) in cases {
            assert_eq!(words_of_row(&row, "/home/ann"), expected);
        }
        let whole = words_of_whole_row(&row(Load, None, Some(true), 0), "/home/ann");
        assert_eq!(whole, "1.00 GiB on the device (900.00 MiB allocated, 1000.00 MiB reserved): load, eval.py:41");
    }

    #[test]
    fn a_loop_has_the_passes_that_ran_and_all() {
        let one =
            |passes, total| ShortenedLoop { location: Some(at(12)), passes, total, reason: ShortenedReason::Alike };
        let cases = [
            (one(4, Some(30_000)), true, "eval.py:12 ran 4 of 30,000 passes"),
            (one(2, Some(80)), false, "eval.py:12 2 of 80"),
            (one(1, None), true, "eval.py:12 ran 1 pass"),
        ];
        for (one, is_first, expected) in cases {
            assert_eq!(words_of_loop(&one, is_first, "/home/ann"), expected);
        }
    }

    #[test]
    fn batches_have_the_largest_and_the_bound() {
        let batches = |scanned, total, largest, bound: &str| ScannedBatches {
            location: Some(at(12)),
            scanned,
            total,
            largest,
            shape: "[8, 2048]".to_owned(),
            bound: bound.to_owned(),
        };
        let cases = [
            (
                batches(4200, Some(4200), Some(2320), ""),
                "the largest of 4,200 batches is number 2,321 with [8, 2048] (eval.py:12)",
            ),
            (
                batches(500, Some(4200), None, "at most 4,096 tokens"),
                "500 of 4,200 batches scanned, the largest is not known (eval.py:12); at most 4,096 tokens",
            ),
        ];
        for (batches, expected) in cases {
            assert_eq!(words_of_batches(&batches, "/home/ann"), expected);
        }
    }
}
