//! The table against the memory that processes on those models used, from `evidence/process_memory.csv`.
#![expect(clippy::unwrap_used, reason = "test")]

use std::collections::BTreeMap;

use gpus::{Field, Provenance, find};

/// The largest distance of a context from the median of the reports, in MiB, as gpus.toml states for its rule.
const RULE_MIB: f64 = 129.5;
/// The largest distance of a model's own figure, a whole number of 2 MiB pages.
const PAGE_MIB: f64 = 2.0;

/// MiB of an amount as PyTorch prints it.
fn mib(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap();
    let number: f64 = number.parse().unwrap();
    match unit {
        "GiB" => number * 1024.0,
        "MiB" => number,
        "KiB" => number / 1024.0,
        _ => panic!("{text}: expected KiB, MiB or GiB"),
    }
}

/// Memory of single processes outside the allocator, in MiB, by model, lowest first, without reports above twice the
/// lowest.
fn reports() -> BTreeMap<String, Vec<f64>> {
    let mut reports: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in include_str!("../evidence/process_memory.csv").lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let &[gpu, _, program, _, _, _, used, allocated, unallocated, _] = columns.as_slice() else {
            panic!("{line}: expected ten columns");
        };
        if program == "process" {
            reports.entry(gpu.to_owned()).or_default().push(mib(used) - mib(allocated) - mib(unallocated));
        }
    }
    for held in reports.values_mut() {
        held.sort_by(f64::total_cmp);
        let most = 2.0 * held[0];
        held.retain(|&mib| mib <= most);
    }
    reports
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "a context is below 2^53 bytes")]
fn each_context_is_what_processes_held() {
    let reports = reports();
    assert!(reports.len() >= 25);
    for (gpu, held) in reports {
        let profile = find(&gpu).unwrap();
        assert_eq!(profile.name, gpu);
        let context = profile.context_bytes.0 as f64 / f64::from(1 << 20);
        let (provenance, source) = profile.provenance(Field::ContextBytes);
        if provenance == Provenance::Measured {
            // A GPU at hand says more than messages, most of which end before the first step.
            continue;
        }
        let expected = if held.len() >= 3 { Provenance::Published } else { Provenance::Estimated };
        assert_eq!(provenance, expected, "{gpu}: {source}");
        let within = if held.len() >= 3 { PAGE_MIB } else { RULE_MIB };
        assert!((context - median(&held)).abs() <= within, "{gpu}: {context} MiB, processes held {held:?}");
    }
}
