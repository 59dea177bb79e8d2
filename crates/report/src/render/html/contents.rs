//! The contents of a page, whichever command made the report.

use trace::Bytes;

use crate::breakdown::Breakdown;
use crate::check::Site;
use crate::explain::{Comparison, DeviceMemory, HistoryPeak, Picture};
use crate::finding::Finding;
use crate::render::figures::Figure;

/// The contents of a page, in the order of the page.
pub(super) struct Page<'a> {
    /// The answer, in a sentence.
    pub(super) headline: String,
    /// The figures below the answer.
    pub(super) facts: Vec<Figure>,
    /// The holders of the device's memory.
    pub(super) memory: Option<&'a DeviceMemory>,
    /// The findings, most serious first.
    pub(super) findings: &'a [Finding],
    /// The run that the drawings show, as a sentence; empty if the answer says enough.
    pub(super) run: String,
    /// The devices with their pictures. The first that is the main device is drawn first.
    pub(super) devices: Vec<Drawing<'a>>,
    /// The contents of the memory, at one moment or several.
    pub(super) fillings: Vec<Filled<'a>>,
    /// The difference between two inputs, or between ranks.
    pub(super) comparison: Option<&'a Comparison>,
    /// The lists above the table of devices.
    pub(super) upper_lists: Vec<List>,
    /// The lists below the table of devices.
    pub(super) lower_lists: Vec<List>,
    /// oomph's own version.
    pub(super) version: &'a str,
    /// The folder for relative paths.
    pub(super) folder: &'a str,
}

impl<'a> Page<'a> {
    /// A page of nothing but the answer.
    pub(super) fn of_answer(headline: String, version: &'a str, folder: &'a str) -> Page<'a> {
        Page {
            headline,
            facts: Vec::new(),
            memory: None,
            findings: &[],
            run: String::new(),
            devices: Vec::new(),
            fillings: Vec::new(),
            comparison: None,
            upper_lists: Vec::new(),
            lower_lists: Vec::new(),
            version,
            folder,
        }
    }
}

/// A device with its picture.
pub(super) struct Drawing<'a> {
    /// The name, e.g. `rank 0, cuda:0`.
    pub(super) name: String,
    /// True if the report is about the device.
    pub(super) is_main: bool,
    /// The number of events.
    pub(super) events: u64,
    /// The largest use of memory.
    pub(super) peak: &'a HistoryPeak,
    /// The event of the last failed request.
    pub(super) oom_event: Option<u32>,
    /// The memory that the drawing marks as the limit, with the words before the size.
    pub(super) limit: Option<(&'static str, Bytes)>,
    /// Use of memory over time.
    pub(super) picture: &'a Picture,
}

/// The memory at one moment: by category, and by line.
pub(super) struct Filled<'a> {
    /// The ids of the two sections.
    pub(super) ids: [&'static str; 2],
    /// The headings of the two sections.
    pub(super) headings: [&'static str; 2],
    /// The allocated bytes by category.
    pub(super) breakdown: &'a Breakdown,
    /// The lines, largest first.
    pub(super) sites: &'a [Site],
}

/// A list of sentences under a heading.
pub(super) type List = (&'static str, Vec<String>);
