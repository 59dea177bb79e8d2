//! The renderers of `fit`, against texts that were written by hand.
#![expect(clippy::unwrap_used, reason = "test")]

mod reread;

use report::fit::{
    Batch, BatchTried, Cost, Effect, Exactness, FitGpu, FitReport, FitVerdict, MaxBatch, NextGpu, OwnSetting, Placed,
    Plan, SizeKind, TimeSource, Tried, VramRow,
};
use report::render::terminal::{Detail, Look};
use report::render::{Format, Report, render};
use report::{Change, Usage};
use trace::Bytes;
use trace::run::RemedyAction;

fn written(report: &dyn Report, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
}

fn usage(mib: u64) -> Usage {
    Usage {
        allocated_bytes: Bytes::from_mib(mib - 600),
        reserved_bytes: Bytes::from_mib(mib - 400),
        device_bytes: Bytes::from_mib(mib),
    }
}

fn placed(remedy: &str, line: u32, text: &str) -> Placed {
    Placed {
        remedy: remedy.to_owned(),
        file: "/home/ann/gpt/train.py".to_owned(),
        line,
        action: None,
        text: text.to_owned(),
    }
}

fn cost(time_source: TimeSource) -> Cost {
    Cost { exactness: Exactness::UpToRounding, time_ratio: 1.07, time_source }
}

fn accumulation() -> Change {
    Change::new("gradient-accumulation").with("steps", 8)
}

fn part() -> Change {
    Change::new("batch-size").with("size", 8).with("arg", "--batch-size")
}

fn plan(changes: Vec<Change>, mib: u64, places: Vec<Placed>) -> Plan {
    Plan {
        changes,
        peak: usage(mib),
        fits: true,
        retries: false,
        cost: cost(TimeSource::Counted),
        places,
        settings: Vec::new(),
        command: Vec::new(),
    }
}

/// A setting of a pair with equal results.
fn fused(setting: u64) -> Tried {
    let why = "AdamW was made with fused=True".to_owned();
    Tried { change: Change::new("optimizer-fused").with("x", setting), effect: Effect::NotApplicable { why } }
}

/// A program that fits in eight parts, and the further trials.
fn with_plan() -> FitReport {
    let places = vec![
        placed("batch-size", 12, "--batch-size is 8 instead of 64"),
        placed("gradient-accumulation", 23, "(loss / 8).backward()"),
    ];
    let helps = Effect::Helps { peak: usage(16 << 10), cost: cost(TimeSource::Typical) };
    let why = "zero_grad sets gradients to None already".to_owned();
    FitReport {
        version: "0.1.0".to_owned(),
        gpu: FitGpu { name: "GPU".to_owned(), total_bytes: Bytes::from_gib(24), target_bytes: Bytes::from_gib(22) },
        verdict: FitVerdict::FitsWithPlan,
        before: usage(120 << 10),
        plans: vec![plan(vec![accumulation(), part()], 16 << 10, places)],
        tried: vec![
            Tried { change: accumulation(), effect: helps },
            Tried { change: Change::new("set-to-none"), effect: Effect::NotApplicable { why } },
            fused(2),
            fused(4),
        ],
        batch: Some(Batch {
            name: "--batch-size".to_owned(),
            size: 64,
            source: "option".to_owned(),
            file: "/home/ann/gpt/train.py".to_owned(),
            line: 12,
        }),
        runs: 36,
        seconds: 43.6,
        folder: "/home/ann/gpt".to_owned(),
        ..FitReport::default()
    }
}

/// The same where nothing that is allowed is enough.
fn without_plan() -> FitReport {
    let floor = Plan { fits: false, ..plan(vec![Change::new("set-to-none")], 30 << 10, Vec::new()) };
    FitReport {
        verdict: FitVerdict::DoesNotFit,
        plans: Vec::new(),
        floor: Some(floor),
        tried: Vec::new(),
        ..with_plan()
    }
}

const WITH_PLAN: &str = "\
fits GPU with gradient-accumulation:steps=8: 16.00 GiB needed, not 120.00 (22.00
of 24.00 GiB to use)

  change   train.py:12: --batch-size is 8 instead of 64
           train.py:23: (loss / 8).backward()
  memory   120.00 -> 16.00 GiB on the device, 119.41 -> 15.41 GiB allocated
  price    same up to rounding, 1.07x the time (counted)
  batch    --batch-size is 64
  search   36 dry runs, 43.6 s in all
  oomph    0.1.0

What each remedy does alone
  gradient-accumulation:steps=8       104.00 GiB less: 16.00 GiB, same up to
                                      rounding, 1.07x the time (typically)

What does not apply
  set-to-none                         zero_grad sets gradients to None already
  optimizer-fused                     AdamW was made with fused=True
";

/// The answer alone, with the next plan and the way to apply the first.
const ANSWER: &str = "\
fits GPU with gradient-accumulation:steps=8: 16.00 GiB needed, not 120.00 (22.00
of 24.00 GiB to use)

  change   train.py:12: --batch-size is 8 instead of 64
           train.py:23: (loss / 8).backward()
  memory   120.00 -> 16.00 GiB on the device, 119.41 -> 15.41 GiB allocated
  price    same up to rounding, 1.07x the time (counted)
  or       set-to-none: 20.00 GiB, same up to rounding, 1.07x the time (counted)
  apply    the same command with --apply; with --emit diff it prints the patch
  search   36 dry runs, 43.6 s in all; the program's own options come first
           (--prefer)
  more     -v: all plans, what each remedy does alone; --json the same
";

/// An answer of the program's own options: the command line is all there is to change.
const OWN: &str = "\
fits GPU with --accumulate 8: 16.00 GiB needed, not 120.00 (22.00 of 24.00 GiB
to use)

  change   --accumulate 8 (now 1)
  run      python train.py --accumulate 8
  memory   120.00 -> 16.00 GiB on the device, 119.41 -> 15.41 GiB allocated
  price    same up to rounding, 1.07x the time (counted)
  search   36 dry runs, 43.6 s in all
  more     -v: all plans, what each remedy does alone; --json the same
";

const WITHOUT_PLAN: &str = "\
does not fit GPU, and no allowed change makes it fit: 120.00 GiB needed, 22.00
of 24.00 GiB to use

  now      120.00 GiB on the device, 119.61 GiB reserved, 119.41 GiB allocated
  floor    30.00 GiB: set-to-none
  batch    --batch-size is 64; --max-batch finds the largest that fits
  search   36 dry runs, 43.6 s in all
  oomph    0.1.0
";

#[test]
fn reports_are_read_back() {
    let action = RemedyAction::SetSize { name: "--batch-size".to_owned(), size: 8, previous: 64 };
    let place = Placed { action: Some(action), ..placed("batch-size", 12, "--batch-size is 8 instead of 64") };
    let plan = plan(vec![part()], 16 << 10, vec![place]);
    let max_batch = MaxBatch {
        size: 8,
        runs: 2,
        tried: vec![BatchTried { size: 8, fits: true }, BatchTried { size: 16, fits: false }],
        peak: Some(usage(16 << 10)),
        bytes_per_sample: Some(Bytes(123)),
        independent: false,
        what: SizeKind::Batch,
        name: "--batch-size".to_owned(),
        with: vec![Change::new("autocast")],
        next_gpu: Some(NextGpu { gpu: with_plan().gpu, size: 24 }),
    };
    let tried =
        [Effect::Nothing { peak: usage(1 << 10), why: None }, Effect::Fails { message: "RuntimeError".to_owned() }];
    reread::check(&with_plan());
    reread::check(&without_plan());
    reread::check(&FitReport {
        plans: vec![plan.clone()],
        tried: tried.map(|effect| Tried { change: part(), effect }).to_vec(),
        by_vram: vec![VramRow { total_bytes: Bytes(3), target_bytes: Bytes(2), plan: Some(plan) }],
        max_batch: Some(max_batch),
        smallest_gpu: Some(with_plan().gpu),
        ..with_plan()
    });
}

#[test]
fn a_terminal_shows_the_plan_first() {
    let check = |report: &FitReport, expected: &str| assert_eq!(written(report, Format::Terminal), expected);
    check(&with_plan(), WITH_PLAN);
    check(&without_plan(), WITHOUT_PLAN);
    let unfinished = FitReport { interrupted: true, ..without_plan() };
    let head = "no plan was found before the interruption: 120.00 GiB needed on GPU, 22.00 of\n24.00 GiB to use\n";
    assert!(written(&unfinished, Format::Terminal).starts_with(head), "{}", written(&unfinished, Format::Terminal));
}

#[test]
fn the_answer_has_the_next_plans_and_the_command_for_the_patch() {
    let words = ["oomph", "fit", "--emit", "diff", "train.py"].map(str::to_owned).to_vec();
    let mut report = FitReport { next: Some(words), ..with_plan() };
    report.plans.push(plan(vec![Change::new("set-to-none")], 20 << 10, Vec::new()));
    let look = Look { detail: Detail::Brief, ..Look::default() };
    assert_eq!(render(&report, Format::Terminal, look).unwrap(), ANSWER);
}

#[test]
fn an_answer_of_own_options_has_the_command_line() {
    let change = Change::new("own-options").with("--accumulate", 8);
    let setting = OwnSetting { key: "--accumulate".to_owned(), from: 1.into(), to: 8.into() };
    let command = ["python", "train.py", "--accumulate", "8"].map(str::to_owned).to_vec();
    let own = Plan { settings: vec![setting], command, ..plan(vec![change], 16 << 10, Vec::new()) };
    let report = FitReport { plans: vec![own], next: Some(Vec::new()), ..with_plan() };
    let look = Look { detail: Detail::Brief, ..Look::default() };
    assert_eq!(render(&report, Format::Terminal, look).unwrap(), OWN);
}

#[test]
fn other_formats_have_a_line_for_each_place() {
    assert_eq!(
        written(&with_plan(), Format::Concise),
        "fits GPU with gradient-accumulation:steps=8: 16.00 GiB needed, not 120.00 (22.00 of 24.00 GiB to use)\n\
         train.py:12: [batch-size] --batch-size is 8 instead of 64\n\
         train.py:23: [gradient-accumulation] (loss / 8).backward()\n"
    );
    assert_eq!(
        written(&with_plan(), Format::Github),
        "::warning title=oomph fit::fits GPU with gradient-accumulation:steps=8: 16.00 GiB needed, not 120.00 (22.00 of \
         24.00 GiB to use)\n\
         ::notice file=train.py,line=12,title=batch-size::--batch-size is 8 instead of 64\n\
         ::notice file=train.py,line=23,title=gradient-accumulation::(loss / 8).backward()\n"
    );
}
