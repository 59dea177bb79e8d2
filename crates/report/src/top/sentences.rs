//! The answer of a look in one sentence, for the formats without a table.

use super::machine_report::{TopGpu, TopReport};
use super::words::share;
use crate::words::count;

/// The first remark, which is the most urgent; without a remark, the use of the fullest GPU. No full stop.
pub(crate) fn headline(report: &TopReport) -> String {
    report.remarks.first().cloned().unwrap_or_else(|| summarize(report))
}

/// The answer, and the further remarks.
pub(crate) fn list_sentences(report: &TopReport) -> Vec<String> {
    let further = report.remarks.iter().skip(1).cloned();
    std::iter::once(headline(report)).chain(further).collect()
}

/// `2 GPUs, 3 processes: at most 704 MiB of 4.00 GiB in use (GPU 0)`.
fn summarize(report: &TopReport) -> String {
    let gpus = match report.gpus.len() {
        0 => return "the driver lists no GPU".to_owned(),
        gpus => count(gpus, "GPU", "GPUs"),
    };
    let processes = match report.processes.len() {
        0 => "no process".to_owned(),
        processes => count(processes, "process", "processes"),
    };
    let used = |gpu: &&TopGpu| gpu.used_bytes.unwrap_or_default();
    let fullest = report.gpus.iter().filter(|gpu| gpu.used_bytes.is_some()).max_by_key(used);
    let words =
        |gpu: &TopGpu| format!(": at most {} in use (GPU {})", share(gpu.used_bytes, gpu.total_bytes), gpu.index);
    format!("{gpus}, {processes}{}", fullest.map(words).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use trace::Bytes;

    use super::*;
    use crate::top::TopProcess;

    fn gpu(index: u32, used_mib: u64) -> TopGpu {
        let (used_bytes, total_bytes) = (Some(Bytes(used_mib << 20)), Some(Bytes(4 << 30)));
        TopGpu { index, total_bytes, used_bytes, ..TopGpu::default() }
    }

    #[test]
    fn a_remark_comes_before_the_fullest_gpu() {
        let gpus = vec![gpu(0, 512), gpu(1, 2048)];
        let one = vec![TopProcess::default()];
        let remarks = vec!["pid 7 grows".to_owned(), "pid 8 waits".to_owned()];
        let cases = [
            (TopReport::default(), vec!["the driver lists no GPU"]),
            (
                TopReport { gpus: gpus.clone(), ..TopReport::default() },
                vec!["2 GPUs, no process: at most 2.00 of 4.00 GiB in use (GPU 1)"],
            ),
            (
                TopReport { gpus: vec![gpu(0, 512)], processes: one, ..TopReport::default() },
                vec!["1 GPU, 1 process: at most 512 MiB of 4.00 GiB in use (GPU 0)"],
            ),
            (TopReport { gpus: vec![TopGpu::default()], ..TopReport::default() }, vec!["1 GPU, no process"]),
            (TopReport { gpus, remarks, ..TopReport::default() }, vec!["pid 7 grows", "pid 8 waits"]),
        ];
        for (report, expected) in cases {
            assert_eq!(list_sentences(&report), expected);
        }
    }
}
