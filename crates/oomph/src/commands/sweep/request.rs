//! The request for the smallest resources that the program needs, after a sweep of one configuration.

use std::path::Path;

use options::Grid;
use report::render::resources::write_request;
use report::resources::{RequestedGpu, ResourceRequest};
use report::sweep::{PointVerdict, SweepPoint, SweepReport};

use crate::args::Sweep;
use crate::error::{Error, SweepError};
use crate::output;

/// Checks before anything runs that there is one configuration to ask for.
pub(super) fn check(arguments: &Sweep, grid: &Grid) -> Result<(), Error> {
    match arguments.request_format() {
        Some(_) if grid.count() != Some(1) => Err(Error::from(SweepError::ManyConfigurations(grid.count()))),
        _ => Ok(()),
    }
}

/// Prints the request.
pub(super) fn print(arguments: &Sweep, report: &SweepReport) -> Result<(), Error> {
    let Some(format) = arguments.request_format() else { return Ok(()) };
    let request = make_request(arguments, report);
    match write_request(&request, format) {
        Some(text) => output::verbatim(&text),
        None => explain(&request, report),
    }
}

fn make_request(arguments: &Sweep, report: &SweepReport) -> ResourceRequest {
    let mut fitting: Vec<&SweepPoint> =
        report.points.iter().filter(|point| point.verdict == PointVerdict::Fits).collect();
    let place = |point: &SweepPoint| {
        let offer = gpus::offers().iter().position(|offer| offer.gpu == point.gpu);
        // Offers have an order of their own; other GPUs follow.
        (offer.unwrap_or(usize::MAX), point.capacity_bytes.0)
    };
    fitting.sort_by_key(|point| place(point));
    let first = report.points.first();
    let script = arguments.program.iter().map(Path::new).find(|word| word.extension().is_some_and(|end| end == "py"));
    let script = script.or_else(|| arguments.program.first().map(Path::new));
    ResourceRequest {
        command: first.map(|point| words_elsewhere(arguments, &point.command)).unwrap_or_default(),
        program: script.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        torch: first.and_then(|point| point.torch.clone()),
        gpus: fitting.into_iter().map(requested).collect(),
    }
}

/// The command line on another machine: the Python there, where the user named a script alone.
fn words_elsewhere(arguments: &Sweep, command: &str) -> String {
    let is_script = |word: &std::ffi::OsString| Path::new(word).extension().is_some_and(|end| end == "py");
    match command.split_once(' ') {
        Some((_, rest)) if arguments.program.first().is_some_and(is_script) => format!("python {rest}"),
        _ => command.to_owned(),
    }
}

fn requested(point: &SweepPoint) -> RequestedGpu {
    let offer = gpus::offers().iter().find(|offer| offer.gpu == point.gpu);
    RequestedGpu {
        name: point.gpu.clone(),
        need_bytes: point.need_bytes.unwrap_or_default(),
        sky: offer.map(|offer| offer.sky.to_owned()),
        flavor: offer.and_then(|offer| offer.flavor).map(str::to_owned),
    }
}

/// Says that no GPU is large enough; an error where the program fails, or where its GPUs are not offered by name.
fn explain(request: &ResourceRequest, report: &SweepReport) -> Result<(), Error> {
    if !request.gpus.is_empty() {
        let names = request.gpus.iter().map(|gpu| gpu.name.clone()).collect();
        return Err(Error::from(SweepError::NoOffer(names)));
    }
    if let Some(message) = report.points.iter().find_map(|point| point.error.clone()) {
        return Err(Error::from(SweepError::Fails(message)));
    }
    if let Some(largest) = report.points.iter().max_by_key(|point| point.capacity_bytes.0) {
        let need = largest.need_bytes.unwrap_or_default();
        let has = largest.capacity_bytes;
        output::say(&format!("no GPU to ask for: the program needs {need}, and the {} has {has}", largest.gpu));
        output::say("`oomph fit` finds the smallest change that makes it fit");
    }
    Ok(())
}
