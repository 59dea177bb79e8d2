//! A command line of Hugging Face Jobs, on the smallest flavor that suffices.

use super::comments;
use crate::resources::ResourceRequest;

pub(super) fn write(request: &ResourceRequest) -> Option<String> {
    let flavor = request.gpus.iter().find_map(|gpu| gpu.flavor.as_deref())?;
    Some(format!(
        "{}# IMAGE is your image, with the program in it.\nhf jobs run --flavor {flavor} IMAGE {}\n",
        comments(request),
        request.command
    ))
}
