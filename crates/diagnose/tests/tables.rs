//! `explain` on the tables that people paste: PyTorch's counters and `nvidia-smi`.
#![expect(clippy::unwrap_used, reason = "test")]

use std::fmt::Write as _;

use diagnose::{ExplainCase, ExplainInput, InputContents, explain};
use report::explain::{ExplainReport, TableSource};
use trace::Bytes;

fn explained(text: &str) -> ExplainReport {
    let contents = InputContents::Text(trace::text::read(text.as_bytes()));
    let input = ExplainInput { path: "crash.log".to_owned(), rank: None, contents };
    explain(&ExplainCase { inputs: vec![input], version: "0.1.0".to_owned(), folder: String::new() }).report(Vec::new())
}

/// `memory_stats()` as Python prints it; sizes in MiB.
fn stats(allocated: u64, reserved: u64, split: u64, retries: u64, ooms: u64) -> String {
    format!(
        "{{'allocated_bytes.all.current': {}, 'reserved_bytes.all.current': {}, 'reserved_bytes.all.peak': {}, \
         'inactive_split_bytes.all.current': {}, 'num_alloc_retries': {retries}, 'num_ooms': {ooms}}}",
        allocated << 20,
        reserved << 20,
        reserved << 20,
        split << 20,
    )
}

/// `nvidia-smi --query-gpu` and `--query-compute-apps` of one GPU, as csv.
fn smi(total_mib: u64, processes: &[(u32, u64)]) -> String {
    let used: u64 = processes.iter().map(|(_, mib)| mib).sum();
    let mut text =
        format!("index, name, memory.total [MiB], memory.used [MiB]\n0, NVIDIA A10, {total_mib} MiB, {used} MiB\n\n");
    text.push_str("pid, process_name, used_gpu_memory [MiB]\n");
    for (pid, mib) in processes {
        writeln!(text, "{pid}, python, {mib} MiB").unwrap();
    }
    text
}

/// An error in PyTorch's words before 2.1, without processes. Total, allocated, free, reserved.
fn error(request: &str, total: &str, allocated: &str, free: &str, reserved: &str) -> String {
    format!(
        "RuntimeError: CUDA out of memory. Tried to allocate {request} (GPU 0; {total} total capacity; {allocated} already \
         allocated; {free} free; {reserved} reserved in total by PyTorch)\n"
    )
}

#[test]
fn what_a_table_shows_is_found() {
    let full = error("2.00 GiB", "22.00 GiB", "3.00 GiB", "1.00 GiB", "3.20 GiB");
    let alone = error("2.00 GiB", "22.00 GiB", "20.00 GiB", "1.00 GiB", "20.20 GiB");
    let cases: [(&str, String, &[&str]); 9] = [
        ("idle", smi(22_528, &[]), &[]),
        ("a small one", smi(22_528, &[(7, 300)]), &[]),
        ("a large one", smi(22_528, &[(7, 18_000)]), &["other-process-memory"]),
        ("it explains the error", full.clone() + &smi(22_528, &[(7, 17_000)]), &["other-process-memory"]),
        (
            "there is no room for it in the error",
            alone + &smi(22_528, &[(7, 17_000)]),
            &["need-exceeds-device", "other-process-memory"],
        ),
        ("counters without trouble", stats(900, 1000, 50, 0, 0), &[]),
        ("the cache was emptied", stats(900, 1000, 50, 3, 0), &["cache-flushed"]),
        ("an error, in pieces", stats(500, 1000, 400, 1, 1), &["fragmentation"]),
        ("an error, and no more", stats(950, 1000, 20, 1, 1), &["unclear"]),
    ];
    for (what, text, expected) in cases {
        let report = explained(&text);
        let found: Vec<&str> = report.findings.iter().map(|finding| finding.rule.name()).collect();
        assert_eq!(found, expected, "{what}: {:#?}", report.findings);
    }
}

#[test]
fn tables_are_in_the_report() {
    let report = explained(&(stats(500, 1000, 400, 1, 1) + "\n" + &smi(22_528, &[(7, 300)])));
    let counters = &report.counters[0];
    assert_eq!(counters.reserved_bytes.unwrap().nearest, Bytes::from_mib(1000));
    assert_eq!((counters.retries, counters.ooms, counters.source), (Some(1), Some(1), TableSource::MemoryStats));
    let processes = report.cards.iter().flat_map(|card| card.processes.iter().flatten());
    let processes: Vec<_> = processes.map(|process| (process.pid, process.bytes.unwrap().nearest)).collect();
    assert_eq!(processes, [(Some(7), Bytes::from_mib(300))]);
    let names: Vec<_> = report.cards.iter().filter_map(|card| card.name.as_deref()).collect();
    assert_eq!(names, ["NVIDIA A10"]);
}
