//! Remedies of a real run that changed nothing.

use report::Change;
use report::real_run::UnappliedRemedy;
use trace::Run;
use trace::run::RemedyRecord;

/// Lists the asked changes without effect, with the reasons. Settings of the allocator stand in the environment, and always have an effect.
pub(super) fn list_unapplied(run: &Run, asked: &[Change]) -> Vec<UnappliedRemedy> {
    let asked = asked.iter().filter(|change| change.remedy != remedies::ALLOCATOR_SETTINGS);
    asked.filter_map(|change| explain(run, &change.remedy)).collect()
}

/// The reason why a remedy changed nothing; `None` if it changed something.
fn explain(run: &Run, remedy: &str) -> Option<UnappliedRemedy> {
    let records =
        || run.processes.iter().flat_map(|process| &process.remedies).filter(|record| record.remedy == remedy);
    if records().any(|record| record.applied) {
        return None;
    }
    let reason = records().next().map_or_else(unrecorded, words_of_record);
    Some(UnappliedRemedy { remedy: remedy.to_owned(), reason })
}

fn words_of_record(record: &RemedyRecord) -> String {
    let place = if record.line > 0 { format!(" (line {})", record.line) } else { String::new() };
    format!("{}{place}", record.text)
}

/// For a program that used no GPU, or was killed before the remedy found a thing to change.
fn unrecorded() -> String {
    "it had changed nothing when the program ended".to_owned()
}

#[cfg(test)]
mod tests {
    use trace::Process;

    use super::*;

    fn record(remedy: &str, applied: bool, text: &str) -> RemedyRecord {
        RemedyRecord { remedy: remedy.to_owned(), applied, text: text.to_owned(), ..RemedyRecord::default() }
    }

    #[test]
    fn a_remedy_without_an_edit_is_named_with_the_reason() {
        let remedies = vec![
            record("sdpa", false, "no softmax is seen"),
            record("lora", false, "no layer in one model"),
            record("lora", true, "Linear"),
        ];
        let run = Run { processes: vec![Process { remedies, ..Process::default() }] };
        let check = |remedy: &str, expected: Option<&str>| {
            let found = list_unapplied(&run, &[Change::new(remedy)]);
            let expected =
                expected.map(|reason| UnappliedRemedy { remedy: remedy.to_owned(), reason: reason.to_owned() });
            assert_eq!(found, Vec::from_iter(expected), "{remedy}");
        };
        check("sdpa", Some("no softmax is seen"));
        check("lora", None);
        check("autocast", Some("it had changed nothing when the program ended"));
        check("allocator-settings", None);
    }
}
