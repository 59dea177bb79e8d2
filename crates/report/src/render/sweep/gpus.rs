//! The GPUs of a sweep of one configuration: what the program needs of each.

use super::{by_capacity, short_name};
use crate::sweep::{PointVerdict, SweepReport};

/// Returns a line for each GPU, the smallest first; empty for several configurations.
pub(in super::super) fn list_gpus(report: &SweepReport) -> Vec<String> {
    if report.configurations != 1 || report.gpus.len() < 2 {
        return Vec::new();
    }
    let heading = format!("  {:<30}{:>12}{:>12}", "GPU", "memory", "needs");
    let lines = by_capacity(report).into_iter().filter_map(|gpu| {
        let point = report.points.iter().find(|point| point.gpu == gpu.name)?;
        let need = point.need_bytes.map_or_else(|| "-".to_owned(), |need| need.to_string());
        let name: String = short_name(&gpu.name).chars().take(28).collect();
        let memory = gpu.capacity_bytes.to_string();
        Some(format!("  {name:<30}{memory:>12}{need:>12}  {}", words_of(point.verdict)))
    });
    [String::new(), heading].into_iter().chain(lines).collect()
}

fn words_of(verdict: PointVerdict) -> &'static str {
    match verdict {
        PointVerdict::Fits => "fits",
        PointVerdict::Tight => "fits, cache released",
        PointVerdict::Oom => "does not fit",
        PointVerdict::Failed => "fails",
    }
}
