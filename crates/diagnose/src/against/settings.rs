//! Differences between two runs that may explain a difference in memory: versions, the GPU, settings, the command.

use report::against::SettingDifference;
use trace::{Bytes, Run};

use super::AgainstRun;

/// Reads a setting; `None` if the recording does not state it.
type ReadSetting = fn(&AgainstRun) -> Option<String>;

/// The settings with two known values.
pub(super) fn differences(runs: &[AgainstRun; 2]) -> Vec<SettingDifference> {
    let named: [(&str, ReadSetting); 7] = [
        ("torch", |run| run.run.torch().map(str::to_owned)),
        ("CUDA", |run| first(&run.run)?.cuda.clone()),
        ("cuDNN", |run| Some(first(&run.run)?.cudnn?.to_string())),
        ("Python", |run| Some(first(&run.run)?.python.clone())),
        ("GPU", find_gpu),
        ("ranks", |run| Some(first(&run.run)?.world_size.to_string())),
        ("allocator", find_conf),
    ];
    let values = named.iter().filter_map(|(name, read)| {
        let values = [read(&runs[0])?, read(&runs[1])?];
        (values[0] != values[1]).then(|| SettingDifference { name: (*name).to_owned(), values })
    });
    values.chain(find_arguments(runs.each_ref().map(|run| run.launch.command.as_slice()))).collect()
}

/// The words of the commands between those that both begin and end with.
fn find_arguments([a, b]: [&[String]; 2]) -> Option<SettingDifference> {
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let [a, b] = [&a[before..], &b[before..]];
    let after = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let words = |rest: &[String]| match rest[..rest.len() - after].join(" ") {
        words if words.is_empty() => "nothing".to_owned(),
        words => words,
    };
    let values = [words(a), words(b)];
    (values[0] != values[1]).then(|| SettingDifference { name: "command".to_owned(), values })
}

fn first(run: &Run) -> Option<&trace::run::ProcessRecord> {
    run.processes.first().map(|process| &process.identity)
}

/// `NVIDIA GeForce RTX 3060 of 12.00 GiB`.
fn find_gpu(run: &AgainstRun) -> Option<String> {
    let words = |name: &str, total: u64| format!("{name} of {}", Bytes(total));
    if !run.launch.is_real() {
        return Some(words(&run.launch.gpu_name, run.launch.device_total_bytes));
    }
    let gpu = run.run.processes.iter().find_map(|process| process.gpus.last())?;
    Some(words(&gpu.name, gpu.total_bytes))
}

/// PyTorch's settings. A recording without a dump does not state them.
fn find_conf(run: &AgainstRun) -> Option<String> {
    let process = run.run.processes.iter().find(|process| process.snapshot.is_some())?;
    let is_stated = !run.launch.is_real() || process.dump.is_some();
    let conf = process.snapshot.as_ref().filter(|_| is_stated)?.settings.conf.clone();
    Some(if conf.is_empty() { "no settings".to_owned() } else { conf })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_differ_stand_for_the_command() {
        let cases = [
            ("python train.py --lr 1", "python train.py --lr 1", None),
            ("python train.py --lr 1", "python train.py --lr 2", Some(["1", "2"])),
            ("python train.py", "python train.py --amp --fast", Some(["nothing", "--amp --fast"])),
            ("python old/train.py x", "python new/train.py x", Some(["old/train.py", "new/train.py"])),
        ];
        for (a, b, expected) in cases {
            let words = [a, b].map(|command| command.split(' ').map(str::to_owned).collect::<Vec<_>>());
            let found = find_arguments([&words[0], &words[1]]).map(|found| found.values);
            assert_eq!(found, expected.map(|values| values.map(str::to_owned)), "{a} {b}");
        }
    }
}
