//! Functions of libraries that a release has changed since oomph was tested with the library.

use std::collections::{BTreeMap, BTreeSet};

use trace::Run;

/// The changed functions of a library that a sentence names.
const MOST_FUNCTIONS: usize = 3;

/// Returns a sentence on the replaced functions with unknown parameters (Note `[Replacements]` in `python/oomph/agent/hooks`), if there are any.
pub fn name_changed(run: &Run) -> Option<String> {
    let replaced = run.processes.iter().flat_map(|process| &process.replaced);
    let mut libraries: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for record in replaced.filter(|record| !record.is_known) {
        let name = record.name.rsplit(':').next().unwrap_or_default();
        let change = if record.found == "absent" { " (gone)" } else { "" };
        libraries.entry(&record.library).or_default().insert(format!("{name}{change}"));
    }
    let parts: Vec<String> = libraries.iter().map(|(library, names)| describe(library, names)).collect();
    (!parts.is_empty())
        .then(|| format!("oomph replaces functions that have changed since it was last tested: {}", parts.join("; ")))
}

fn describe(library: &str, names: &BTreeSet<String>) -> String {
    let first: Vec<&str> = names.iter().take(MOST_FUNCTIONS).map(String::as_str).collect();
    let more = names.len().saturating_sub(MOST_FUNCTIONS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest} of {library}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use trace::run::{Process, ReplacedRecord};

    use super::*;

    fn replaced(name: &str, library: &str, found: &str, is_known: bool) -> ReplacedRecord {
        ReplacedRecord {
            name: name.to_owned(),
            library: library.to_owned(),
            found: found.to_owned(),
            is_known,
            is_run: false,
        }
    }

    #[test]
    fn changed_functions_are_named_by_library() {
        let known = replaced("torch:load", "torch 2.11.0", "f", true);
        let renamed = |name: &str| replaced(&format!("timm.models:{name}"), "timm 99.1", "file", false);
        let gone = replaced("transformers.modeling_utils:_get_files", "transformers 7.0", "absent", false);
        let process = |replaced: Vec<ReplacedRecord>| Process { replaced, ..Process::default() };
        let run = |processes| Run { processes };
        assert_eq!(name_changed(&run(vec![process(vec![known.clone()])])), None);
        let both = run(vec![
            process(vec![known, renamed("d"), renamed("c"), renamed("b"), renamed("a")]),
            process(vec![gone, renamed("a")]),
        ]);
        assert_eq!(
            name_changed(&both).as_deref(),
            Some(
                "oomph replaces functions that have changed since it was last tested: a, b, c and 1 more of timm 99.1; \
             _get_files (gone) of transformers 7.0"
            )
        );
    }
}
