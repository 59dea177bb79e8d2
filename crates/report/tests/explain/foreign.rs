//! Properties of any report with hostile strings: Note [Foreign text] in `sanitize.rs`.

use proptest::prelude::*;
use report::explain::ExplainReport;
use report::render::{Format, html};

use crate::{samples, written};

/// Puts `text` wherever a report holds a string from outside.
fn fill(report: &mut ExplainReport, text: &str) {
    let fill = |target: &mut String| text.clone_into(target);
    report.notes = vec![text.to_owned()];
    fill(&mut report.version);
    for input in &mut report.inputs {
        fill(&mut input.path);
        input.torch.iter_mut().for_each(fill);
    }
    for finding in &mut report.findings {
        fill(&mut finding.message);
        finding.location.iter_mut().for_each(|location| fill(&mut location.file));
        for remedy in &mut finding.remedies {
            fill(&mut remedy.remedy);
            fill(&mut remedy.how);
        }
        for evidence in &mut finding.evidence {
            fill(&mut evidence.what);
            evidence.value = report::Value::Text(text.to_owned());
        }
    }
    for oom in &mut report.ooms {
        fill(&mut oom.message);
        oom.traceback.iter_mut().for_each(|frame| fill(&mut frame.file));
        oom.traceback.iter_mut().for_each(|frame| fill(&mut frame.function));
    }
    report.peak.iter_mut().for_each(|peak| peak.place.module = Some(text.to_owned()));
    fill_stacks(report, text);
}

fn fill_stacks(report: &mut ExplainReport, text: &str) {
    let sites = report.sites.iter_mut().flat_map(|site| site.frames.iter_mut());
    let pictures = report.devices.iter_mut().flat_map(|device| device.picture.stacks.iter_mut());
    let pictures = pictures.flat_map(|stack| stack.frames.iter_mut());
    let compared = report.comparison.iter_mut().flat_map(|comparison| comparison.sites.iter_mut());
    let compared = compared.flat_map(|site| site.frames.iter_mut());
    for frame in sites.chain(pictures).chain(compared) {
        text.clone_into(&mut frame.file);
        text.clone_into(&mut frame.function);
    }
    report
        .sites
        .iter_mut()
        .filter_map(|site| site.location.as_mut())
        .for_each(|place| text.clone_into(&mut place.file));
    if let Some(comparison) = &mut report.comparison {
        comparison.sides.iter_mut().for_each(|side| text.clone_into(side));
    }
}

fn filled(text: &str) -> Vec<ExplainReport> {
    let mut reports = samples::all();
    for report in &mut reports {
        fill(report, text);
    }
    reports
}

/// Some of the characters that are not seen but change how the rest is shown.
const INVISIBLE: [char; 6] = ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{200b}', '\u{feff}'];

/// A terminal's columns, counted as the renderers must not: every character that is not plain counts for two.
fn columns(line: &str) -> usize {
    line.chars().map(|letter| if letter.is_ascii() || ('\u{80}'..='\u{2ff}').contains(&letter) { 1 } else { 2 }).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_is_wider_than_80_columns(text in "[a-z/ .:\u{0}-\u{1f}模型é\u{202e}]{0,200}") {
        for report in filled(&text) {
            for line in written(&report, Format::Terminal).lines() {
                prop_assert!(columns(line) <= 80, "{line}");
            }
        }
    }

    #[test]
    fn no_control_character_reaches_a_terminal_or_a_log(text in any::<String>()) {
        for report in filled(&text) {
            for format in [Format::Terminal, Format::Concise, Format::Github, Format::Markdown, Format::Json] {
                let page = written(&report, format);
                let harmful = page.chars().find(|letter| letter.is_control() && *letter != '\n');
                prop_assert_eq!(harmful, None);
                prop_assert_eq!(page.find(INVISIBLE), None);
            }
        }
    }

    #[test]
    fn a_finding_is_one_line_whatever_it_says(text in any::<String>()) {
        for report in filled(&text) {
            let findings = report.findings.len().max(1);
            prop_assert_eq!(written(&report, Format::Concise).lines().count(), findings);
            prop_assert_eq!(written(&report, Format::Github).lines().count(), findings);
        }
    }

    #[test]
    fn an_item_of_markdown_is_one_line_whatever_it_says(text in any::<String>()) {
        for (report, tame) in filled(&text).iter().zip(filled("a")) {
            let lines = |report| written(report, Format::Markdown).lines().count();
            prop_assert_eq!(lines(report), lines(&tame));
        }
    }

    #[test]
    fn the_page_has_the_same_elements_whatever_is_written_in_it(text in "[<>&\"'a-z/!\\-=;#\\\\\u{0}-\u{1f}]{0,40}") {
        for (report, tame) in filled(&text).iter().zip(filled("a")) {
            prop_assert_eq!(elements(&html::explain(report)), elements(&html::explain(&tame)));
        }
    }
}

/// The number of angle brackets in a page: a browser's elements.
fn elements(page: &str) -> (usize, usize) {
    (page.matches('<').count(), page.matches('>').count() - json_closing_brackets(page))
}

/// `>` is harmless within the page data, where it is not escaped.
fn json_closing_brackets(page: &str) -> usize {
    let data = page.split("id=\"page-data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    data.map_or(0, |data| data.matches('>').count())
}

#[test]
fn an_escape_sequence_is_shown_in_letters() {
    let report = &filled("\u{1b}]0;owned\u{7}train.py")[1];
    assert!(written(report, Format::Terminal).contains("\\x1b]0;owned\\x07train.py"));
    assert!(written(report, Format::Concise).contains("\\x1b]0;owned\\x07train.py"));
    assert!(html::explain(report).contains("\\x1b]0;owned\\x07train.py"));
}

#[test]
fn script_in_a_name_is_text_on_the_page() {
    let page = html::explain(&filled("</script><script>alert(1)</script><img src=x onerror=alert(1)>")[2]);
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)"));
    assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)"), "the same in the page data");
    assert_eq!(page.matches("<script").count(), 2, "the page data and the page's own script");
    assert_eq!(page.matches("<img").count(), 0);
}
