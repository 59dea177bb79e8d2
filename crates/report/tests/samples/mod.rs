//! Reports of `check` for tests.
#![allow(dead_code, reason = "no test uses all of them")]

use causes::CauseId;
use report::{
    Assumption, Breakdown, CheckReport, Condition, Contents, Evidence, Finding, Gpu, Growth, LifeReport, Location,
    Need, Oom, Part, Peak, Place, Rank, Recovery, Remark, Remedy, Severity, Site, SiteFrame, SizeSearch, Standing,
    Usage, Value, ValueShape, Verdict,
};
use trace::{Bytes, Phase};

pub(crate) fn place(step: u32, phase: Phase, module: &str) -> Place {
    Place { step: Some(step), phase: Some(phase), module: Some(module.to_owned()), ..Place::default() }
}

pub(crate) fn usage(allocated: u64, reserved: u64, device: u64) -> Usage {
    Usage {
        allocated_bytes: Bytes::from_mib(allocated),
        reserved_bytes: Bytes::from_mib(reserved),
        device_bytes: Bytes::from_mib(device),
    }
}

pub(crate) fn breakdown(parts: &[(Contents, u64)]) -> Breakdown {
    let part = |&(category, mib)| Part { category, bytes: Bytes::from_mib(mib) };
    let parts: Vec<Part> = parts.iter().map(part).collect();
    Breakdown::new(parts.iter().map(|part| part.bytes).sum(), parts).unwrap()
}

pub(crate) fn at(line: u32) -> Location {
    Location { file: "/home/ann/gpt/train.py".to_owned(), line, column: None }
}

pub(crate) fn frame(function: &str, file: &str, line: u32, own: bool) -> SiteFrame {
    SiteFrame { function: function.to_owned(), file: file.to_owned(), line, own }
}

pub(crate) fn site(mib: u64, count: u64, line: u32) -> Site {
    Site {
        bytes: Bytes::from_mib(mib),
        count,
        category: Contents::Activations,
        location: Some(at(line)),
        frames: vec![
            frame("forward", "/v/site-packages/torch/nn/modules/linear.py", 134, false),
            frame("forward", "/home/ann/gpt/train.py", line, true),
        ],
        place: place(2, Phase::Forward, "transformer.h.3"),
    }
}

pub(crate) fn fits() -> CheckReport {
    CheckReport {
        life: LifeReport::default(),
        mistake: None,
        made_up_data: Vec::new(),
        unapplied: Vec::new(),
        version: "0.1.0".to_owned(),
        torch: Some("2.11.0+cu130".to_owned()),
        gpu: Gpu {
            name: "NVIDIA GeForce RTX 4090".to_owned(),
            total_bytes: Bytes::from_mib(24_200),
            others_bytes: Bytes::ZERO,
            context_bytes: Bytes::from_mib(440),
            usable_bytes: Bytes::from_mib(23_760),
            assumed: false,
        },
        verdict: Verdict::Fits { spare_bytes: Bytes::from_mib(21_200), search: None },
        steps: 3,
        only_first_step: false,
        untrained_bytes: None,
        peak: Peak { usage: usage(2048, 2560, 3000), place: place(2, Phase::Backward, "transformer.h.3") },
        need: Need { usage: usage(2048, 2560, 3000), ..Need::default() },
        oom: None,
        breakdown: breakdown(&[
            (Contents::Parameters, 512),
            (Contents::OptimizerState, 256),
            (Contents::Activations, 1280),
        ]),
        sites: vec![site(1024, 12, 41)],
        growth: None,
        stop: None,
        findings: Vec::new(),
        assumptions: Vec::new(),
        value_shapes: Vec::new(),
        ranks: Vec::new(),
        notes: Vec::new(),
        effects: None,
        seconds: 4.25,
        next: None,
        larger: None,
        folder: "/home/ann/gpt".to_owned(),
    }
}

pub(crate) fn full() -> CheckReport {
    CheckReport {
        life: LifeReport::default(),
        mistake: None,
        made_up_data: Vec::new(),
        unapplied: Vec::new(),
        verdict: Verdict::Oom { spare_bytes: -(2840 << 20), assumed: Vec::new() },
        steps: 0,
        need: Need { usage: usage(26_000, 26_600, 27_040), ..Need::default() },
        oom: Some(refused()),
        growth: Some(Growth {
            keeper: None,
            loop_at: None,
            bytes_per_iteration: Bytes(512),
            first_iteration: 2,
            of_iterations: None,
            full_at: Some(48_660_481),
            location: Some(at(60)),
        }),
        stop: None,
        findings: vec![Finding {
            without: None,
            rule: CauseId::GrowingCollection,
            severity: Severity::Warning,
            message: "each step leaves 512 B behind, made at train.py:60".to_owned(),
            location: Some(at(60)),
            evidence: vec![Evidence {
                what: "growth per step".to_owned(),
                value: Value::Bytes(Bytes(512)),
                source: "memory_stats after each step".into(),
            }],
            remedies: vec![Remedy {
                remedy: "keep the number, not the tensor".to_owned(),
                standing: Standing::Estimated,
                before_bytes: Some(Bytes::from_mib(2048)),
                after_bytes: Some(Bytes::from_mib(2000)),
                how: "losses.append(loss.item())".to_owned(),
            }],
        }],
        assumptions: vec![Assumption {
            id: "cudnn-convolution-workspace".to_owned(),
            text: "cuDNN takes the workspace of its first heuristic choice".to_owned(),
            bytes: Bytes::from_mib(64),
        }],
        value_shapes: vec![ValueShape { op: "aten::nonzero".to_owned(), location: at(33), count: 3, fraction: 0.5 }],
        ranks: vec![
            Rank { rank: 0, device: 0, peak: usage(2048, 2560, 3000), oom: true },
            Rank { rank: 1, device: 1, peak: usage(1024, 1280, 1720), oom: false },
        ],
        notes: vec![Remark::note("the initialisers of 3 large tensors were skipped".to_owned())],
        ..fits()
    }
}

fn refused() -> Oom {
    Oom {
        requested_bytes: Some(Bytes::from_mib(2048)),
        rank: None,
        place: place(1, Phase::Forward, "lm_head"),
        location: Some(at(57)),
        message: "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
                  23.63 GiB of which 1.20 GiB is free."
            .to_owned(),
        caught: None,
    }
}

pub(crate) fn searched(recovery: Recovery, lowers: Option<&str>) -> SizeSearch {
    let (lowers, caught_at, refused_at) = (lowers.map(str::to_owned), at(50), Some(at(42)));
    SizeSearch { lowers, tried: vec![], settled: None, caught_at, errors: 2, recovery, refused_at }
}

/// A program that fits so far, with 1 GiB to spare.
pub(crate) fn so_far(stopped: Option<&str>, conditions: Vec<Condition>) -> CheckReport {
    let stopped = stopped.map(str::to_owned);
    let spare_bytes = Bytes::from_mib(1024);
    CheckReport { verdict: Verdict::FitsSoFar { spare_bytes, search: None, stopped, conditions }, ..fits() }
}
