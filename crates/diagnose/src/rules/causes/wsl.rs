//! `wsl`: the program ran under WSL, where Windows uses a part of the device's memory.
//!
//! Role surroundings, order 50.

use causes::CauseId;
use report::{Finding, Severity};

use super::mig::slice;
use super::small_gpu_fraction::find_fraction;
use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, text};
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::Wsl, check: Check::One(find) };

/// Finds a traceback with a path on a Windows drive, such as `/mnt/c/train.py`.
fn find(facts: &Facts) -> Option<Cause> {
    if find_fraction(facts).is_some() || slice(facts).is_some() {
        return None;
    }
    let files = facts.stated.iter().flat_map(|oom| &oom.traceback).map(|frame| frame.file.as_str());
    let file = files.filter(|_| facts.is_fatal()).find(|file| is_on_windows_drive(file))?;
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Info,
        message: "the program ran under WSL, where Windows uses a part of the device's memory".to_owned(),
        location: None,
        evidence: vec![text("path on a Windows drive", file.to_owned(), Source::Traceback)],
        remedies: vec![advice(
            "close programs that draw on the screen, or run them on another device",
            "the driver's system-memory fallback makes programs slow before they fail; nvidia-smi lists the processes on the device",
        )],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside, removal: None })
}

fn is_on_windows_drive(file: &str) -> bool {
    let drive = file.strip_prefix("/mnt/").and_then(|rest| rest.split_once('/')).map(|(drive, _)| drive);
    drive.is_some_and(|drive| drive.len() == 1 && drive.starts_with(|letter: char| letter.is_ascii_lowercase()))
}
