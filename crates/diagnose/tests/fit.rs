//! The search for a plan on made-up programs whose peaks are a formula: the result is compared with a scan of every
//! set.

#![expect(clippy::unwrap_used, reason = "tests")]

use diagnose::{Allowed, BatchSearch, Depth, Ending, FitCase, FitRuns, FoundPlans, Search, Trial, Variant, fit};
use proptest::prelude::*;
use report::fit::{Effect, Exactness, FitGpu, FitReport, FitVerdict, Placed};
use report::{Change, Usage};
use trace::Bytes;

const MIB: u64 = 1 << 20;
/// The number of a toy's blocks. A checkpointed block keeps a quarter.
const BLOCKS: u64 = 8;

/// A program of weights, optimizer state, temporaries and activations, all in MiB.
#[derive(Clone, Copy, Debug)]
struct Toy {
    weights: u64,
    state: u64,
    temporaries: u64,
    activations: u64,
    /// Reserved bytes beyond the allocated ones.
    cached: u64,
    /// True if a part of a batch has statistics of its own.
    has_batch_norm: bool,
    /// True if the toy has layers for adapters.
    has_linears: bool,
}

impl Toy {
    fn peak(self, changes: &[Change]) -> u64 {
        let has = |name: &str| changes.iter().find(|change| change.remedy == name);
        let mut activations = self.activations;
        if let Some(change) = has("gradient-accumulation") {
            activations /= change.settings["steps"].as_u64().unwrap();
        }
        activations /= if has("autocast").is_some() { 2 } else { 1 };
        if let Some(change) = has("activation-checkpointing") {
            let blocks = change.settings.get("blocks").map_or(BLOCKS, |blocks| blocks.as_u64().unwrap().min(BLOCKS));
            activations = activations * (BLOCKS - blocks) / BLOCKS + activations * blocks / BLOCKS / 4;
        }
        let mut state = if has("optimizer-8bit").is_some() { self.state / 4 } else { self.state };
        let temporaries = if has("optimizer-fused").is_some() { 0 } else { self.temporaries };
        let (mut weights, mut gradients) = (self.weights, self.weights);
        if has("lora").is_some() && self.has_linears {
            // Adapters have next to no gradients and states, and what is frozen can be packed.
            (gradients, state) = (gradients / 100, state / 100);
            weights /= if has("weights-8bit").is_some() { 4 } else { 1 };
        }
        let gpus = has("fully-shard").map_or(1, |change| change.settings["gpus"].as_u64().unwrap());
        (weights + gradients + state) / gpus + activations.max(temporaries)
    }

    /// True if a remedy has an effect here beside `changes`.
    fn applies(self, remedy: &str, changes: &[Change]) -> bool {
        const HELPING: [&str; 6] = [
            "gradient-accumulation",
            "autocast",
            "activation-checkpointing",
            "optimizer-8bit",
            "optimizer-fused",
            "fully-shard",
        ];
        let has_lora = changes.iter().any(|change| change.remedy == "lora");
        HELPING.contains(&remedy) || (self.has_linears && (remedy == "lora" || (remedy == "weights-8bit" && has_lora)))
    }

    fn trial(self, variant: &Variant) -> Trial {
        let allocated = self.peak(&variant.changes);
        let usage = |cached: u64| Usage {
            allocated_bytes: Bytes(allocated * MIB),
            reserved_bytes: Bytes((allocated + cached) * MIB),
            device_bytes: Bytes((allocated + cached + 400) * MIB),
        };
        let (ending, usage) = match variant.limit {
            None => (Ending::Done, usage(self.cached)),
            Some(limit) if usage(0).device_bytes > limit => (Ending::RanOut, usage(0)),
            Some(_) => (Ending::Done, usage(0)),
        };
        let applied = variant.changes.iter().filter(|change| self.applies(&change.remedy, &variant.changes));
        let applied = applied.map(|change| Placed {
            remedy: change.remedy.clone(),
            file: "train.py".to_owned(),
            line: 1,
            action: None,
            text: "x".to_owned(),
        });
        let alters =
            self.has_batch_norm && variant.changes.iter().any(|change| change.remedy == "gradient-accumulation");
        Trial { ending, usage, applied: applied.collect(), alters, ..Trial::default() }
    }
}

/// Searches to the end; what was found, and after how many runs.
fn search(toy: Toy, target: u64, allowed: Allowed) -> (report::fit::FitReport, u32) {
    let mut search = Search::new(vec![Bytes(target * MIB)], allowed);
    loop {
        let next = search.next(2, Depth::Everything);
        if next.is_empty() {
            break;
        }
        for variant in next {
            search.learn(&variant, toy.trial(&variant));
        }
    }
    let gpu = FitGpu { name: "toy".to_owned(), total_bytes: Bytes(target * MIB), target_bytes: Bytes(target * MIB) };
    (report(&FitCase { gpu, ..FitCase::default() }, &search), search.runs())
}

/// The report of a search without later runs.
fn report(case: &FitCase, search: &Search) -> FitReport {
    fit(case, search, FoundPlans::of(search, case.gpu.target_bytes), FitRuns::default())
}

const GPT: Toy = Toy {
    weights: 500,
    state: 1000,
    temporaries: 500,
    activations: 20_000,
    cached: 200,
    has_batch_norm: false,
    has_linears: false,
};

#[test]
fn the_cheapest_kind_of_change_comes_first() {
    let check = |target: u64, keep: bool, verdict: FitVerdict, expected: &[&str]| {
        let (report, _) = search(GPT, target, Allowed { keep_numerics: keep, ..Allowed::default() });
        let found: Vec<String> =
            report.plans.first().map_or(Vec::new(), |plan| plan.changes.iter().map(Change::to_string).collect());
        assert_eq!(
            (report.verdict, found),
            (verdict, expected.iter().map(|name| (*name).to_owned()).collect()),
            "{target}"
        );
    };
    check(23_000, false, FitVerdict::Fits, &[]);
    // Its cache alone is above the target: PyTorch releases it and gets through.
    check(22_450, false, FitVerdict::Fits, &[]);
    check(13_000, false, FitVerdict::FitsWithPlan, &["gradient-accumulation:steps=2"]);
    check(8_000, false, FitVerdict::FitsWithPlan, &["gradient-accumulation:steps=4"]);
    check(2_800, false, FitVerdict::FitsWithPlan, &["optimizer-fused", "gradient-accumulation:steps=64"]);
    // 1000 of weights and gradients, 1000 of state, 78 of activations, and 400 beside: exact changes come before 8-bit states.
    check(
        2_500,
        false,
        FitVerdict::FitsWithPlan,
        // A sixty-fourth of the batch has 312 of activations; 100 are left for them, which takes all blocks.
        &["optimizer-fused", "gradient-accumulation:steps=64", "activation-checkpointing"],
    );
    check(2_300, true, FitVerdict::DoesNotFit, &[]);
    check(2_300, false, FitVerdict::FitsWithPlan, &["gradient-accumulation:steps=64", "optimizer-8bit"]);
    check(1_000, false, FitVerdict::DoesNotFit, &[]);
}

#[test]
fn what_is_not_on_this_machine_is_named() {
    let mut search = Search::new(vec![Bytes(1 << 40)], Allowed::default());
    let first = search.next(1, Depth::Everything);
    let missing = vec!["the weights of model are not on this machine".to_owned()];
    search.learn(&first[0], Trial { missing: missing.clone(), ..GPT.trial(&first[0]) });
    assert_eq!(report(&FitCase::default(), &search).notes, missing);
}

#[test]
fn what_is_denied_is_not_tried() {
    let deny = vec!["gradient-accumulation".to_owned()];
    let (report, _) = search(GPT, 8_000, Allowed { deny, ..Allowed::default() });
    // 500 and 500 of weights and gradients, 1000 of state, 400 beside leave 5600 for activations: 20000 less 1875 for each block.
    assert_eq!(report.plans[0].changes, [Change::new("activation-checkpointing")]);
    let (report, _) =
        search(GPT, 13_000, Allowed { deny: vec!["gradient-accumulation".to_owned()], ..Allowed::default() });
    assert_eq!(report.plans[0].changes, [Change::new("activation-checkpointing").with("blocks", 6)]);
    assert!(report.tried.iter().all(|tried| tried.change.remedy != "gradient-accumulation"));
}

#[test]
fn each_remedy_alone_is_told() {
    let (report, _) = search(GPT, 13_000, Allowed { tries_all: true, ..Allowed::default() });
    let of = |name: &str| report.tried.iter().find(|tried| tried.change.remedy == name).map(|tried| &tried.effect);
    assert!(matches!(of("autocast"), Some(Effect::Helps { cost, .. }) if cost.exactness == Exactness::OtherNumerics));
    assert!(matches!(of("optimizer-fused"), Some(Effect::Nothing { .. })), "{:?}", of("optimizer-fused"));
    assert!(matches!(of("lora"), Some(Effect::NotApplicable { .. })));
    assert!(matches!(of("empty-cache"), Some(Effect::NotApplicable { .. })));
}

/// Accumulation is the same up to rounding, but not where a part of a batch is normalised by itself.
#[test]
fn what_alters_results_here_is_said_and_can_be_forbidden() {
    let toy = Toy { has_batch_norm: true, ..GPT };
    let check = |keep_numerics, expected: Change, exactness| {
        let (report, _) = search(toy, 13_000, Allowed { keep_numerics, ..Allowed::default() });
        assert_eq!((&report.plans[0].changes[..], report.plans[0].cost.exactness), (&[expected][..], exactness));
    };
    check(false, Change::new("gradient-accumulation").with("steps", 2), Exactness::OtherNumerics);
    check(true, Change::new("activation-checkpointing").with("blocks", 6), Exactness::Identical);
}

/// If temporaries hide the saving of accumulation, its strongest option is still part of the strongest set.
#[test]
fn what_is_hidden_alone_is_done_in_full() {
    let toy = Toy {
        weights: 1173,
        state: 882,
        temporaries: 740,
        activations: 1248,
        cached: 0,
        has_batch_norm: false,
        has_linears: false,
    };
    let (report, _) = search(toy, 3630, Allowed::default());
    assert_eq!(report.verdict, FitVerdict::FitsWithPlan);
}

/// Packed weights do nothing without adapters, which do not suffice alone: the two are found together.
#[test]
fn what_needs_a_partner_is_tried_beside_it() {
    let toy = Toy { weights: 8000, state: 16_000, activations: 100, temporaries: 0, has_linears: true, ..GPT };
    let deny = ["autocast", "optimizer-8bit", "fully-shard"].map(str::to_owned).to_vec();
    // Adapters alone leave 8000 of weights; packed, they are 2000.
    let (report, _) = search(toy, 4_000, Allowed { deny: deny.clone(), ..Allowed::default() });
    let found: Vec<String> = report.plans[0].changes.iter().map(Change::to_string).collect();
    assert_eq!(found, ["lora:rank=16", "weights-8bit"]);
    let alone = report.tried.iter().find(|tried| tried.change.remedy == "weights-8bit").map(|tried| &tried.effect);
    assert!(matches!(alone, Some(Effect::NotApplicable { .. })), "{alone:?}");
    // Without adapters, packed weights have no effect.
    let without = deny.into_iter().chain(["lora".to_owned()]).collect();
    let (report, _) = search(toy, 4_000, Allowed { deny: without, ..Allowed::default() });
    assert_eq!(report.verdict, FitVerdict::DoesNotFit);
}

/// A program is divided among no more GPUs than there are, and among several only where that was asked for.
#[test]
fn a_program_is_divided_among_the_gpus_that_there_are() {
    let toy = Toy { weights: 4000, state: 8000, activations: 100, temporaries: 0, ..GPT };
    let deny = vec!["optimizer-8bit".to_owned()];
    let found = |gpus: u64, allow: &[&str], target: u64| {
        let allow = allow.iter().map(|name| (*name).to_owned()).collect();
        let (report, _) = search(toy, target, Allowed { gpus, allow, deny: deny.clone(), ..Allowed::default() });
        let tried = report.tried.iter().filter(|tried| tried.change.remedy == "fully-shard").count();
        let first = report.plans.first().map(|plan| plan.changes.iter().map(Change::to_string).collect::<Vec<_>>());
        (tried, first.unwrap_or_default().join(","))
    };
    // 16000 of weights, gradients and state: 8000 for each of two, 4000 for each of four, 2000 for each of eight.
    assert_eq!(found(1, &[], 9_000), (0, String::new()));
    assert_eq!(found(2, &[], 9_000), (1, "fully-shard:gpus=2".to_owned()));
    assert_eq!(found(2, &[], 5_000), (1, String::new()));
    assert_eq!(found(4, &[], 5_000), (2, "fully-shard:gpus=4".to_owned()));
    assert_eq!(found(1, &["fully-shard"], 3_000), (3, "fully-shard:gpus=8".to_owned()));
}

proptest! {
    /// A plan fits, and where none is found no set of the helping options fits.
    #[test]
    fn a_plan_fits_and_none_is_missed(
        weights in 1u64..2000, state in 1u64..4000, temporaries in 1u64..2000, activations in 1u64..40_000,
        cached in 0u64..500, target in 500u64..40_000,
    ) {
        let toy = Toy { weights, state, temporaries, activations, cached, has_batch_norm: false, has_linears: false };
        let (report, runs) = search(toy, target, Allowed::default());
        let all = ["gradient-accumulation:steps=64", "autocast", "activation-checkpointing", "optimizer-8bit"];
        let strongest: Vec<Change> = all.iter().map(|text| text.parse().unwrap()).collect();
        let fused: Vec<Change> = ["gradient-accumulation:steps=64", "autocast", "activation-checkpointing", "optimizer-fused"]
            .iter().map(|text| text.parse().unwrap()).collect();
        let floor = toy.peak(&strongest).min(toy.peak(&fused)) + 400;
        prop_assert_eq!(report.verdict == FitVerdict::DoesNotFit, floor > target, "floor {}", floor);
        for plan in &report.plans {
            prop_assert!(toy.peak(&plan.changes) + 400 <= target);
        }
        prop_assert!(runs <= 100, "{} runs", runs);
    }

    /// Of the first plan nothing can be left out: what remains does not fit.
    #[test]
    fn nothing_of_the_first_plan_can_be_left_out(
        weights in 1u64..2000, state in 1u64..4000, temporaries in 1u64..2000, activations in 1u64..40_000,
        target in 500u64..40_000,
    ) {
        let toy = Toy { weights, state, temporaries, activations, cached: 0, has_batch_norm: false, has_linears: true };
        let (report, _) = search(toy, target, Allowed::default());
        let changes = report.plans.first().map_or(Vec::new(), |plan| plan.changes.clone());
        for left_out in 0..changes.len() {
            let fewer: Vec<Change> =
                changes.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, change)| change.clone()).collect();
            let whole = fewer.iter().all(|change| toy.applies(&change.remedy, &fewer));
            prop_assert!(!whole || toy.peak(&fewer) + 400 > target, "{:?} of {:?}", fewer, changes);
        }
    }
}

/// A batch fits if its peak does; a part of the sizes is an exception.
#[test]
fn the_largest_batch_is_found_without_replays() {
    let check = |base: u64, each: u64, target: u64, first: u64| {
        let usage = |size: u64| {
            let bytes = Bytes((base + each * size) * MIB);
            Usage { allocated_bytes: bytes, reserved_bytes: bytes, device_bytes: bytes }
        };
        let mut sizes = BatchSearch::new(Bytes(target * MIB), first);
        loop {
            let runs = sizes.next();
            if runs.is_empty() {
                break;
            }
            for run in runs {
                let over = run.limited && usage(run.size).device_bytes > Bytes(target * MIB);
                let ending = if over { Ending::RanOut } else { Ending::Done };
                sizes.learn(run, &Trial { ending, usage: usage(run.size), ..Trial::default() });
            }
        }
        let answer = sizes.answer();
        assert_eq!(answer.size, (target.saturating_sub(base)) / each, "{base} {each} {target} {first}");
        assert!(answer.runs <= 8, "{} runs: {base} {each} {target} {first}", answer.runs);
    };
    check(1000, 100, 10_000, 8);
    check(1000, 100, 10_000, 500);
    check(1000, 100, 1050, 8);
    check(1000, 1, 10_000, 1);
}
