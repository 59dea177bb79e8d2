//! The rank of a file, by its name: frameworks name per-rank files in a handful of ways.

use std::path::Path;

/// The rank in a path, read from its last part upwards: `rank0_memory_snapshot.pickle`, `snapshot-r3.pickle`,
/// `rank_2/crash.log`, and `attempt_0/1/stderr.log` of `torchrun --log-dir`.
pub(super) fn of(path: &Path) -> Option<u32> {
    let mut parts = path.iter().rev().map(|part| part.to_string_lossy());
    let name = parts.next()?;
    let folder = parts.next().unwrap_or_default();
    in_name(&name).or_else(|| in_name(&folder)).or_else(|| of_torchrun(&name, &folder))
}

/// `rank` and a number, or `r` and a digit that stand by themselves.
fn in_name(name: &str) -> Option<u32> {
    let name = name.to_ascii_lowercase();
    after_rank(&name).or_else(|| name.split(|letter: char| !letter.is_ascii_alphanumeric()).find_map(short))
}

fn after_rank(name: &str) -> Option<u32> {
    let numbers = name.match_indices("rank").filter_map(|(at, word)| {
        let rest = &name[at + word.len()..];
        leading_number(rest.strip_prefix(['-', '_', '.', ' ', '=']).unwrap_or(rest))
    });
    // `local_rank0_rank3`: the last one is the narrowest.
    numbers.last()
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// `r3` alone; with more digits the word is often a model, such as `r50`.
fn short(word: &str) -> Option<u32> {
    let digit = word.strip_prefix('r').filter(|digit| digit.len() == 1)?;
    digit.parse().ok()
}

/// Torchrun's folders of logs have the rank for a name.
fn of_torchrun(name: &str, folder: &str) -> Option<u32> {
    if ["stdout.log", "stderr.log"].contains(&name) { folder.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_read_from_the_name() {
        let cases = [
            ("rank0.snapshot.pickle", Some(0)),
            ("job/rank12_memory_snapshot.pickle", Some(12)),
            ("snapshot-rank_3.pickle.gz", Some(3)),
            ("RANK=4.log", Some(4)),
            ("snapshot_r7.pickle", Some(7)),
            ("r7.pickle", Some(7)),
            ("rank2/snapshot.pickle", Some(2)),
            ("logs/attempt_0/5/stderr.log", Some(5)),
            ("host_rank1_rank9.pickle", Some(9)),
            ("snapshot.pickle", None),
            ("ranking.log", None),
            ("rank.log", None),
            ("bar7.log", None),
            ("5/snapshot.pickle", None),
            ("rank99999999999.log", None),
            ("backbone_r50.log", None),
            ("", None),
        ];
        for (path, rank) in cases {
            assert_eq!(of(Path::new(path)), rank, "{path}");
        }
    }
}
