//! The state of the screen: the last report, the order, the selected process, the open page.

use std::cmp::Reverse;

use report::top::{TopProcess, TopReport};

use super::details::Details;
use super::sampler::Look;

/// The order of the processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// By GPU, and then by memory.
    #[default]
    Gpu,
    Memory,
    Busy,
    Cpu,
    Pid,
    /// The soonest error first.
    Error,
}

/// The page on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Page {
    #[default]
    Processes,
    /// The details of a process.
    Process(u32),
    Help,
}

/// The state.
#[derive(Default)]
pub(super) struct View {
    pub(super) report: TopReport,
    pub(super) details: Option<Details>,
    /// The failure of the last look, in place of new figures.
    pub(super) problem: Option<String>,
    pub(super) order: Order,
    pub(super) page: Page,
    pub(super) filter: String,
    /// True while the filter is typed.
    pub(super) is_typing: bool,
    /// The selected process: its number and GPU.
    pub(super) selected: Option<(u32, Option<u32>)>,
    /// The first shown line of a page.
    pub(super) scroll: usize,
    /// The commands that the user asked for.
    pub(super) commands: Vec<String>,
    pub(super) message: Option<String>,
    pub(super) is_ready: bool,
}

impl View {
    /// Takes over new figures.
    pub(super) fn take(&mut self, sample: Look) {
        match sample.report {
            Ok(report) => (self.report, self.problem) = (report, None),
            Err(error) => self.problem = Some(error.to_string()),
        }
        self.details = sample.details;
        self.is_ready = true;
        self.sort();
    }

    /// Brings the processes into order, and leaves out those that the filter excludes.
    pub(super) fn sort(&mut self) {
        let order = self.order;
        self.report.processes.sort_by(|a, b| compare(order, a, b));
        if self.position().is_none() {
            let first = self.list().next().map(identify);
            self.selected = first;
        }
    }

    /// The processes that the filter allows.
    pub(super) fn list(&self) -> impl DoubleEndedIterator<Item = &TopProcess> {
        self.report.processes.iter().filter(|process| is_match(process, &self.filter))
    }

    /// The place of the selected process.
    pub(super) fn position(&self) -> Option<usize> {
        let selected = self.selected?;
        self.list().position(|process| identify(process) == selected)
    }

    /// Selects the process so many places below.
    pub(super) fn select(&mut self, by: isize) {
        let last = self.list().count().saturating_sub(1);
        let place = self.position().unwrap_or_default().saturating_add_signed(by).min(last);
        let selected = self.list().nth(place).map(identify);
        self.selected = selected;
    }

    /// The selected process.
    pub(super) fn selected(&self) -> Option<&TopProcess> {
        self.list().nth(self.position()?)
    }
}

fn identify(process: &TopProcess) -> (u32, Option<u32>) {
    (process.pid, process.gpu)
}

fn is_match(process: &TopProcess, filter: &str) -> bool {
    let texts =
        [Some(process.pid.to_string()), process.user.clone(), process.command.clone(), process.container.clone()];
    let filter = filter.to_lowercase();
    texts.iter().flatten().any(|text| text.to_lowercase().contains(&filter))
}

fn compare(order: Order, a: &TopProcess, b: &TopProcess) -> std::cmp::Ordering {
    let by_gpu = |process: &TopProcess| (process.gpu.unwrap_or(u32::MAX), Reverse(process.used_bytes), process.pid);
    let cpu = |process: &TopProcess| process.cpu_percent.unwrap_or(-1.0);
    let error = |process: &TopProcess| {
        let recorded = process.recorded.as_ref();
        recorded.and_then(|recorded| recorded.seconds_to_error).unwrap_or(f64::INFINITY)
    };
    let chosen = match order {
        Order::Gpu => std::cmp::Ordering::Equal,
        Order::Memory => b.used_bytes.cmp(&a.used_bytes),
        Order::Busy => b.utilization_percent.cmp(&a.utilization_percent),
        Order::Cpu => cpu(b).total_cmp(&cpu(a)),
        Order::Pid => a.pid.cmp(&b.pid),
        Order::Error => error(a).total_cmp(&error(b)),
    };
    chosen.then_with(|| by_gpu(a).cmp(&by_gpu(b)))
}

#[cfg(test)]
mod tests {
    use report::top::TopRecorded;
    use trace::Bytes;

    use super::*;

    fn process(pid: u32, gpu: u32, used: u64, seconds_to_error: Option<f64>) -> TopProcess {
        let command = Some(format!("python train{pid}.py"));
        let recorded = Some(TopRecorded { seconds_to_error, ..TopRecorded::default() });
        TopProcess { pid, gpu: Some(gpu), used_bytes: Some(Bytes(used)), command, recorded, ..TopProcess::default() }
    }

    fn view() -> View {
        let processes = vec![process(9, 0, 5, None), process(7, 0, 1, Some(60.0)), process(8, 1, 3, Some(20.0))];
        let mut view = View { report: TopReport { processes, ..TopReport::default() }, ..View::default() };
        view.sort();
        view
    }

    fn pids(view: &View) -> Vec<u32> {
        view.list().map(|process| process.pid).collect()
    }

    #[test]
    fn processes_stand_in_the_chosen_order() {
        let cases = [
            (Order::Gpu, [9, 7, 8]),
            (Order::Memory, [9, 8, 7]),
            (Order::Pid, [7, 8, 9]),
            (Order::Error, [8, 7, 9]),
            (Order::Cpu, [9, 7, 8]),
        ];
        for (order, expected) in cases {
            let mut view = view();
            view.order = order;
            view.sort();
            assert_eq!(pids(&view), expected, "{order:?}");
        }
    }

    #[test]
    fn the_selection_stays_with_its_process() {
        let mut view = view();
        view.select(1);
        assert_eq!(view.selected, Some((7, Some(0))));
        view.order = Order::Pid;
        view.sort();
        assert_eq!((view.position(), view.selected().map(|it| it.pid)), (Some(0), Some(7)));
        view.select(-5);
        view.select(99);
        assert_eq!(view.selected, Some((9, Some(0))));
        view.report.processes.retain(|process| process.pid != 9);
        view.sort();
        assert_eq!(view.selected, Some((7, Some(0))), "the selected process has ended");
    }

    #[test]
    fn the_filter_reads_numbers_users_and_commands() {
        let mut view = view();
        for (filter, expected) in [("TRAIN8", vec![8]), ("9", vec![9]), ("", vec![9, 7, 8]), ("nothing", vec![])] {
            filter.clone_into(&mut view.filter);
            assert_eq!(pids(&view), expected, "{filter}");
        }
        view.sort();
        assert_eq!(view.selected().map(|it| it.pid), None);
    }
}
