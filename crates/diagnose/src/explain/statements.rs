//! The statements of the inputs, joined: what the facts, the findings and the report rest on.

use report::explain::{DeviceHistory, Input, StatedCard, StatedCounters};
use trace::text::{Application, Artifact, DeviceTable, PrintedMemory, StatedOom};

use super::case::{ExplainCase, ExplainInput, InputContents};
use super::devices::{Seen, focus};
use super::failure::focus_oom;
use super::tables::{cards, counters, device_table, printed, programs, root_rank};

/// The errors, histories and tables of all inputs.
#[derive(Debug)]
pub(super) struct Statements {
    /// The reader's working directory.
    pub(super) folder: String,
    pub(super) inputs: Vec<Input>,
    /// The errors found in texts.
    pub(super) ooms: Vec<StatedOom>,
    /// The index of the input of each error.
    pub(super) oom_inputs: Vec<usize>,
    /// The index of the error that the figures are taken from.
    pub(super) focus_oom: Option<usize>,
    /// Every device of every input.
    pub(super) devices: Vec<DeviceHistory>,
    /// The index of the device that the report is about.
    pub(super) focus: Option<usize>,
    /// PyTorch's tables.
    pub(super) counters: Vec<StatedCounters>,
    /// The programs that the texts name.
    pub(super) programs: Vec<Application>,
    /// A program's own table of the device.
    pub(super) device_table: Option<DeviceTable>,
    /// The allocator's figures in a text without an error.
    pub(super) printed: Option<PrintedMemory>,
    /// The GPUs of `nvidia-smi`'s tables.
    pub(super) cards: Vec<StatedCard>,
}

impl Statements {
    /// Joins the inputs of `case`, whose devices were `seen`.
    pub(super) fn of(case: &ExplainCase, seen: &[Seen]) -> Statements {
        let (oom_inputs, ooms): (Vec<usize>, Vec<StatedOom>) = list_ooms(case).unzip();
        let focus_oom = focus_oom(&ooms, root_rank(case));
        let devices: Vec<DeviceHistory> = seen.iter().map(Seen::history).collect();
        Statements {
            folder: case.folder.clone(),
            inputs: case.inputs.iter().map(describe_input).collect(),
            focus: focus(seen, &devices, focus_oom.and_then(|focus| ooms.get(focus))),
            counters: counters(case),
            cards: cards(case),
            programs: programs(case),
            device_table: device_table(case),
            printed: printed(case),
            ooms,
            oom_inputs,
            focus_oom,
            devices,
        }
    }

    /// Returns the history of the device that the report is about.
    pub(super) fn subject(&self) -> Option<&DeviceHistory> {
        self.devices.get(self.focus?)
    }

    /// Returns PyTorch's table of the failed device, else the table with most reserved bytes; the last table wins a tie.
    pub(super) fn table(&self) -> Option<&StatedCounters> {
        let same = |counters: &StatedCounters| {
            self.failed().is_some_and(|oom| oom.device_index == counters.device_index && oom.rank == counters.rank)
        };
        self.counters.iter().max_by_key(|counters| (same(counters), counters.reserved_peak_bytes))
    }

    /// Returns `nvidia-smi`'s table of the failed device if the device is known, else of the fullest device.
    pub(super) fn card(&self) -> Option<&StatedCard> {
        let failed = self.failed().and_then(|oom| oom.device_index);
        self.cards.iter().max_by_key(|card| (failed.is_some() && card.index == failed, card.used_bytes))
    }

    /// Returns the error that the figures are taken from.
    pub(super) fn failed(&self) -> Option<&StatedOom> {
        self.ooms.get(self.focus_oom?)
    }
}

fn describe_input(input: &ExplainInput) -> Input {
    let torch = input.contents.torch();
    Input { path: input.path.clone(), kind: input.contents.kind(), torch, rank: input.rank }
}

/// Lists the errors of all texts, each with the index of its input.
fn list_ooms(case: &ExplainCase) -> impl Iterator<Item = (usize, StatedOom)> {
    case.inputs.iter().enumerate().flat_map(|(index, input)| {
        let artifacts = match &input.contents {
            InputContents::Text(artifacts) => artifacts.as_slice(),
            InputContents::Snapshot(_) | InputContents::Run(..) => &[],
        };
        artifacts.iter().filter_map(move |artifact| match artifact {
            Artifact::Oom(oom) => Some((index, oom.clone())),
            _ => None,
        })
    })
}
