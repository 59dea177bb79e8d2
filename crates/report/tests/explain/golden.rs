//! Pages for the terminal, against texts written by hand.

use report::explain::ExplainReport;
use report::render::terminal::{Bars, Look, Styles, explain};

use crate::samples;

fn check(report: &ExplainReport, expected: &str) {
    assert_eq!(explain(report, &Look::default()), expected);
}

#[test]
fn a_log_with_one_error() {
    check(&samples::text_only(), include_str!("golden/text_only.txt"));
}

#[test]
fn a_snapshot_with_a_failed_request() {
    check(&samples::snapshot(), include_str!("golden/snapshot.txt"));
}

#[test]
fn a_snapshot_in_which_nothing_is_wrong() {
    check(&samples::healthy(), include_str!("golden/healthy.txt"));
}

#[test]
fn two_snapshots() {
    check(&samples::compared(), include_str!("golden/compared.txt"));
}

#[test]
fn the_log_of_a_job_of_several_ranks() {
    check(&samples::ranks(), include_str!("golden/ranks.txt"));
}

#[test]
fn nothing() {
    check(&samples::empty(), include_str!("golden/empty.txt"));
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    for report in samples::all() {
        let colored = explain(&report, &Look { styles: Styles::colored(), bars: Bars::Ascii });
        let mut pieces = colored.split("\u{1b}[");
        let first = pieces.next().unwrap_or_default().to_owned();
        let plain = pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest));
        assert_ne!(colored, plain);
        assert_eq!(plain, explain(&report, &Look::default()));
    }
}
