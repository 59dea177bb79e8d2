//! The corpus of pairs keeps its figures: recall and precision of each half do not fall.

use std::path::{Path, PathBuf};

#[path = "../examples/corpus.rs"]
#[expect(dead_code, reason = "the example prints what the test counts")]
mod corpus;

fn folder(half: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(half)
}

#[track_caller]
fn check(half: &str, least_found: usize, most_false_alarms: usize) {
    let total = corpus::measure(&folder(half));
    assert!(total.found >= least_found, "{half}: {} of {} pairs found", total.found, total.pairs);
    assert!(total.false_alarms <= most_false_alarms, "{half}: {} false alarms", total.false_alarms);
}

#[test]
fn the_seen_half_is_found() {
    check("seen", 274, 3);
}

#[test]
fn the_second_half_is_found() {
    check("more", 269, 10);
}

#[test]
fn the_blind_half_is_found() {
    check("blind", 220, 11);
}

#[test]
fn every_case_of_the_corpus_is_python() {
    for half in ["seen", "more", "blind"] {
        let unreadable = corpus::unreadable(&folder(half));
        assert!(unreadable.is_empty(), "{half}: {unreadable:?}");
    }
}

#[test]
fn every_rule_of_a_kind_exists() {
    let known: Vec<&str> = lint::rules().iter().map(|rule| rule.id.0).collect();
    let missing: Vec<&str> = corpus::rules_of_kinds().filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
