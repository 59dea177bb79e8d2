//! One sentence on the effects of a dry run.

use trace::Bytes;
use trace::run::{Effects, PathChange, RefusedAct};

use crate::words::{count, relative};

/// The most hosts that are named.
const HOSTS_SHOWN: usize = 3;

/// Describes the effects, such as `the program wrote 6 files and removed 1 folder (undone), and connected to api.example.org`; `None` without
/// any. `connects_once`: true if later runs had no network.
pub fn describe(effects: &Effects, connects_once: bool) -> Option<String> {
    let hosts = describe_hosts(effects, connects_once);
    let parts: Vec<String> =
        describe_files(effects).into_iter().chain(hosts).chain(describe_refusals(effects)).collect();
    (!parts.is_empty()).then(|| format!("the program {}", parts.join(", and ")))
}

/// Describes the files that stayed as they were although new files are kept, relative to `folder`; `None` without any.
pub fn describe_spared(effects: &Effects, folder: &str) -> Option<String> {
    effects.files_kept?;
    let is_spared = |change| matches!(change, PathChange::Changed | PathChange::Removed);
    let mut spared = effects.paths.iter().filter(|path| is_spared(path.change));
    let first = relative(&spared.next()?.path, folder).to_owned();
    let (more, were) = match spared.count() as u64 {
        0 => (String::new(), "was"),
        more => (format!(" and {}", count(more, "more file", "more files")), "were"),
    };
    Some(format!("{first}{more} {were} there already: the dry run did not write over existing files, or remove them"))
}

/// The warning about the values in kept files; `None` without such files.
pub fn describe_kept_values(effects: &Effects) -> Option<String> {
    let is_any_kept = effects.files_kept.is_some_and(|kept| kept > 0);
    is_any_kept.then(|| {
        "checkpoints in the kept files hold zeros where a GPU would have computed something: training should not resume from them".to_owned()
    })
}

/// Describes the inherited descriptors that were closed; `None` without any.
pub fn describe_closed(effects: &Effects) -> Option<String> {
    let numbers: Vec<String> = effects.closed_descriptors.iter().map(u32::to_string).collect();
    let closed = count(numbers.len() as u64, "descriptor", "descriptors");
    (!numbers.is_empty()).then(|| format!("closed {closed} of the shell for the program: {}", join(&numbers)))
}

/// Describes the refused acts on other processes. Queries have no effect, and are left out.
fn describe_refusals(effects: &Effects) -> Option<String> {
    let targets = |act| effects.refused.iter().filter(move |it| it.act == act).map(|it| it.target.clone());
    let processes = ("other process", "other processes");
    let kinds = [
        (RefusedAct::Signal, "signalled", processes),
        (RefusedAct::Settings, "changed settings of", processes),
        (RefusedAct::Memory, "reached into", processes),
        (RefusedAct::Queue, "used", ("shared object of others", "shared objects of others")),
    ];
    let reached = kinds.iter().filter_map(|(act, verb, (one, many))| {
        let number = targets(*act).count() as u64;
        (number > 0).then(|| format!("{verb} {}", count(number, one, many)))
    });
    let calls: Vec<String> = targets(RefusedAct::Machine).collect();
    let machine = (!calls.is_empty()).then(|| format!("changed the machine by {}", join(&calls)));
    let parts: Vec<String> = reached.chain(machine).collect();
    (!parts.is_empty()).then(|| format!("{} (not done)", join(&parts)))
}

/// Describes the folders that the guard did not cover, and a weaker guard where files were written.
pub fn describe_gaps(effects: &Effects) -> Option<String> {
    let [first, more @ ..] = effects.uncovered.as_slice() else { return None };
    let others = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("changes in {} ({}){others} are not undone", first.path, first.reason))
}

fn describe_files(effects: &Effects) -> Option<String> {
    let counts = [
        ("wrote", effects.files_written, "file", "files"),
        ("removed", effects.files_removed, "file", "files"),
        ("made", effects.folders_made, "folder", "folders"),
        ("removed", effects.folders_removed, "folder", "folders"),
    ];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, number, ..)| *number > 0)
        .map(|(verb, number, one, many)| format!("{verb} {}", count(*number, one, many)))
        .collect();
    let is_all_new = effects.files_removed + effects.folders_removed == 0;
    let after = match effects.files_kept {
        None | Some(0) => "undone".to_owned(),
        Some(kept) if kept == effects.files_written && is_all_new => "kept".to_owned(),
        Some(kept) => format!("{} kept, the rest undone", count(kept, "new file", "new files")),
    };
    let kept = match effects.downloads_kept {
        0 => String::new(),
        kept => format!(", {} kept", count(kept, "download", "downloads")),
    };
    let size = Bytes(effects.written_bytes);
    let size = if size < Bytes(1 << 20) { String::new() } else { format!(" of {size}") };
    (!parts.is_empty()).then(|| format!("{}{size} ({after}{kept})", join(&parts)))
}

fn describe_hosts(effects: &Effects, connects_once: bool) -> Option<String> {
    let names: Vec<String> = effects.hosts.iter().map(|host| format!("{}:{}", host.name, host.port)).collect();
    let shown = names.iter().take(HOSTS_SHOWN).cloned().collect::<Vec<_>>();
    let more = names.len().saturating_sub(HOSTS_SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let runs = if connects_once { " (in one run only)" } else { "" };
    (!names.is_empty()).then(|| format!("connected to {}{more}{runs}", shown.join(", ")))
}

/// Joins parts by commas, the last by `and`.
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::run::{ChangedPath, Host, Refusal, UncoveredFolder};

    #[test]
    fn existing_files_that_stay_are_named() {
        let path = |name: &str, change| ChangedPath { path: format!("/home/ann/{name}"), change };
        let paths = [
            path("a.pt", PathChange::Made),
            path("best.pt", PathChange::Changed),
            path("old", PathChange::FolderRemoved),
            path("old/1.pt", PathChange::Removed),
        ];
        let check = |number: usize, files_kept, expected: Option<&str>| {
            let effects = Effects { files_kept, paths: paths[..number].to_vec(), ..Effects::default() };
            let described = describe_spared(&effects, "/home/ann");
            assert_eq!(described.as_deref().and_then(|text| text.split(':').next()), expected);
        };
        check(4, Some(1), Some("best.pt and 1 more file were there already"));
        check(2, Some(0), Some("best.pt was there already"));
        check(1, Some(1), None);
        check(4, None, None);
    }

    #[test]
    fn effects_are_one_sentence() {
        let none = Effects::default();
        let files = Effects { files_written: 6, folders_removed: 1, ..none.clone() };
        let host = Host { name: "api.example.org".to_owned(), port: 443, connections: 2 };
        let both = Effects { written_bytes: 5 << 30, hosts: vec![host], downloads_kept: 2, ..files.clone() };
        let [undone, partly] = [0, 1].map(|kept| Effects { files_kept: Some(kept), ..files.clone() });
        let new = Effects { files_written: 2, files_kept: Some(2), ..none.clone() };
        let cases = [
            (none, None),
            (files, Some("the program wrote 6 files and removed 1 folder (undone)")),
            (
                both,
                Some(
                    "the program wrote 6 files and removed 1 folder of 5.00 GiB (undone, 2 downloads kept), and connected to \
                     api.example.org:443 (in one run only)",
                ),
            ),
            (undone, Some("the program wrote 6 files and removed 1 folder (undone)")),
            (partly, Some("the program wrote 6 files and removed 1 folder (1 new file kept, the rest undone)")),
            (new, Some("the program wrote 2 files (kept)")),
        ];
        for (effects, expected) in cases {
            assert_eq!(describe(&effects, true).as_deref(), expected);
        }
        let refusal = |act, target: &str| Refusal { act, target: target.to_owned() };
        let refused = vec![
            refusal(RefusedAct::Signal, "71"),
            refusal(RefusedAct::Query, "1"),
            refusal(RefusedAct::Settings, "71"),
            refusal(RefusedAct::Settings, "72"),
            refusal(RefusedAct::Machine, "sethostname"),
        ];
        let reaching = Effects { refused, closed_descriptors: vec![3, 9], ..Effects::default() };
        let expected = "the program signalled 1 other process, changed settings of 2 other processes and changed the machine by \
                        sethostname (not done)";
        assert_eq!(describe(&reaching, true).as_deref(), Some(expected));
        let expected = "closed 2 descriptors of the shell for the program: 3 and 9";
        assert_eq!(describe_closed(&reaching).as_deref(), Some(expected));
        let folder = UncoveredFolder { path: "/mnt/nas".to_owned(), reason: "cifs: Invalid argument".to_owned() };
        let gap = Effects { uncovered: vec![folder], ..Effects::default() };
        let expected = "changes in /mnt/nas (cifs: Invalid argument) are not undone";
        assert_eq!(describe_gaps(&gap).as_deref(), Some(expected));
    }
}
