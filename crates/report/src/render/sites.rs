//! The words for lines of source and for the memory at a moment, for the terminal and the page.

use trace::{Bytes, Phase};

use super::layout::{line_of, words_of_frame, words_of_module};
use crate::check::{Assumption, Place, Site, SiteFrame};

/// The heading of the breakdown at the peak.
pub(super) const AT_THE_PEAK: &str = "At the peak of allocated memory";
/// The heading of the breakdown at the need.
pub(super) const AT_THE_NEED: &str = "At the need, without a limit";
/// The heading of the lines at the peak.
pub(super) const LINES_AT_THE_PEAK: &str = "Made by these lines (alive at the peak, largest first)";
/// The heading of the lines at the need.
pub(super) const LINES_AT_THE_NEED: &str = "Allocated at these lines (alive at the need, largest first)";

/// The line of a site, or the replacement for a missing line.
pub(super) fn words_of_site(site: &Site, folder: &str) -> String {
    match (&site.location, site.frames.first()) {
        (Some(location), _) => line_of(location, folder),
        (None, Some(_)) if site.place.phase.is_some() => phase(&site.place).to_owned(),
        (None, Some(frame)) => describe(frame, folder),
        (None, None) => stretch(&site.place),
    }
}

/// The replacement for a line if no Python ran, as in autograd's threads: `backward of layer4.2.relu`.
fn stretch(place: &Place) -> String {
    let module = words_of_module(place);
    module.map_or_else(|| phase(place).to_owned(), |module| format!("{} of {module}", phase(place)))
}

fn phase(place: &Place) -> &'static str {
    place.phase.map_or("no stack was recorded", Phase::name)
}

/// The callee of the user's line: the innermost frame outside torch, or torch's outermost frame.
///
/// A stack without a line of the user shows the library's line, or the phase.
pub(super) fn called(site: &Site) -> Option<&SiteFrame> {
    if site.location.is_none() && site.place.phase.is_none() {
        return None;
    }
    let inner = || site.frames.iter().take_while(|frame| !frame.own);
    let outside_torch = inner().find(|frame| !frame.file.contains("/torch/"));
    outside_torch.or_else(|| if site.location.is_some() { inner().last() } else { inner().next() })
}

/// A frame in words.
pub(super) fn describe(frame: &SiteFrame, folder: &str) -> String {
    words_of_frame(&frame.file, frame.line, &frame.function, folder)
}

/// `cuDNN takes the workspace of its first choice (cudnn-workspace, up to 64.00 MiB)`.
pub(super) fn words_of_assumption(assumption: &Assumption) -> String {
    let up_to = if assumption.bytes == Bytes::ZERO { String::new() } else { format!(", up to {}", assumption.bytes) };
    format!("{} ({}{up_to})", assumption.text, assumption.id)
}
