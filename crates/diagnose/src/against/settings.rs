//! Differences between two runs that may explain a difference in memory: versions, the GPU, settings, the command.

use report::against::SettingDifference;
use trace::{Bytes, Run};

use super::AgainstRun;

/// The settings with two known values.
pub(super) fn differences(runs: &[AgainstRun; 2]) -> Vec<SettingDifference> {
    let named: [(&str, fn(&AgainstRun) -> Option<String>); 8] = [
        ("torch", |run| run.run.torch().map(str::to_owned)),
        ("CUDA", |run| first(&run.run)?.cuda.clone()),
        ("cuDNN", |run| Some(first(&run.run)?.cudnn?.to_string())),
        ("Python", |run| Some(first(&run.run)?.python.clone())),
        ("GPU", find_gpu),
        ("ranks", |run| Some(first(&run.run)?.world_size.to_string())),
        ("allocator", find_conf),
        ("command", |run| Some(run.launch.command.join(" ")).filter(|command| !command.is_empty())),
    ];
    let values = named.iter().filter_map(|(name, read)| {
        let values = [read(&runs[0])?, read(&runs[1])?];
        (values[0] != values[1]).then(|| SettingDifference { name: (*name).to_owned(), values })
    });
    values.collect()
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
