//! The request for the smallest resources that the program needs, after a sweep of the program as it is.

use std::path::Path;

use report::render::resources::write_request;
use report::resources::{RequestedGpu, ResourceRequest};
use report::sweep::{PointVerdict, SweepPoint, SweepReport};
use report::words::quote_all;

use crate::args::Sweep;
use crate::error::{Error, SweepError};
use crate::{output, program};

/// Checks before anything runs that no grid changes the program: a request has the command line alone.
pub(super) fn check(arguments: &Sweep) -> Result<(), Error> {
    let has_grid = !arguments.grid.is_empty() || arguments.configs.is_some();
    if has_grid && arguments.request_format().is_some() {
        return Err(Error::from(SweepError::RequestOfGrid));
    }
    Ok(())
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
        command: quote_all(&program::words_as_typed(&arguments.program)),
        program: script.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        torch: first.and_then(|point| point.torch.clone()),
        gpus: fitting.into_iter().map(requested).collect(),
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
