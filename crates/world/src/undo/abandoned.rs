//! Folders of runs with a killed launcher.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file with the launcher's process number and the time of the launcher's start.
const OWNER: &str = "owner";

/// Writes the calling process as the owner of a folder. A launcher calls this before starting the program.
pub fn claim(folder: &Path) -> io::Result<()> {
    let pid = std::process::id();
    let start = start_time(pid).ok_or(io::ErrorKind::NotFound)?;
    fs::write(folder.join(OWNER), format!("{pid} {start}\n"))
}

/// The folders below `parent` with a journal and an ended launcher, without folders after a failed undo.
pub fn find_abandoned(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<_> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_abandoned(path)).collect();
    found.sort();
    found
}

fn is_abandoned(folder: &Path) -> bool {
    let has_work = folder.join("journal").is_file() && !folder.join("failed").exists();
    let Some((pid, start)) = owner(folder).filter(|_| has_work) else { return false };
    start_time(pid) != Some(start)
}

fn owner(folder: &Path) -> Option<(u32, u64)> {
    let text = fs::read_to_string(folder.join(OWNER)).ok()?;
    let (pid, start) = text.trim().split_once(' ')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// The start of a living process in clock ticks since the boot (field 22 of `/proc/PID/stat`, proc(5)).
fn start_time(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold blanks.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let is_dead = fields.next()? == "Z";
    fields.nth(18)?.parse().ok().filter(|_| !is_dead)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_abandoned_if_its_launcher_has_ended_and_its_journal_is_there() {
        let parent = tempfile::tempdir().unwrap();
        let own = start_time(std::process::id()).unwrap();
        let cases = [
            ("alive", format!("{} {own}", std::process::id()), true, false, false),
            ("reused", format!("{} {}", std::process::id(), own + 1), true, false, true),
            ("undone", "999999999 1".to_owned(), false, false, false),
            ("killed", "999999999 1".to_owned(), true, false, true),
            ("failed", "999999999 1".to_owned(), true, true, false),
            ("foreign", String::new(), true, false, false),
        ];
        for (name, owner, has_journal, has_failed, _) in &cases {
            let folder = parent.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(OWNER), owner).unwrap();
            if *has_journal {
                fs::write(folder.join("journal"), "").unwrap();
            }
            if *has_failed {
                fs::write(folder.join("failed"), "").unwrap();
            }
        }
        let found = find_abandoned(parent.path());
        for (name, _, _, _, expected) in cases {
            assert_eq!(found.contains(&parent.path().join(name)), expected, "{name}");
        }
    }

    #[test]
    fn the_claim_of_a_living_process_holds() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("run");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("journal"), "").unwrap();
        claim(&folder).unwrap();
        assert!(find_abandoned(parent.path()).is_empty());
    }
}
