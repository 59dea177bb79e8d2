//! The GPUs of a sweep, in groups that one dry run answers for (Note [One run for many GPUs] in `crates/diagnose/src/sweep.rs`).

use std::collections::BTreeMap;

use base::Words;
use diagnose::SweepGpu;
use drive::Program;
use gpus::{GpuKind, Profile};
use report::Usage;
use trace::Bytes;
use wire::limit::PAGE_BYTES;

use super::gpu_group::GpuGroup;
use super::local;
use super::plan::SweepPlan;
use crate::args::Sweep;
use crate::error::{Error, SweepError};
use crate::{gpu_choice, program};

/// All whole GPUs, no slices.
const ALL: &str = "all";

/// Chooses the GPUs of the command line.
pub(super) fn choose(arguments: &Sweep) -> Result<Vec<Profile>, Error> {
    if arguments.gpu.iter().any(|name| name == ALL) {
        return Ok(gpus::all().iter().filter(|profile| profile.kind == GpuKind::Card).cloned().collect());
    }
    if arguments.gpu.is_empty() && arguments.request_format().is_some() {
        return Ok(gpus::all().iter().filter(|profile| profile.offer().is_some()).cloned().collect());
    }
    if arguments.gpu.is_empty() {
        return Ok(vec![gpu_choice::choose(&arguments.gpu_options(None))?.profile]);
    }
    let mut chosen: Vec<Profile> = Vec::new();
    for name in &arguments.gpu {
        let profile = gpu_choice::choose(&arguments.gpu_options(Some(name.clone())))?.profile;
        if !chosen.iter().any(|known| known.name == profile.name) {
            chosen.push(profile);
        }
    }
    Ok(chosen)
}

/// Prepares the program for a GPU.
pub(super) fn prepare(arguments: &Sweep, profile: &Profile, words: &Words) -> Result<Program, Error> {
    let options = arguments.gpu_options(Some(profile.name.clone()));
    let choice = gpu_choice::GpuChoice { profile: profile.clone(), is_assumed: false };
    let mut program = program::prepare((&options, &choice), None, &arguments.run, words)?;
    program.set_others(arguments.others.others.unwrap_or_default())?;
    program.is_quiet = true;
    if arguments.run.steps.is_none() {
        program.spec.options.stop_at = program.spec.options.stop_at.with_life();
    }
    Ok(program)
}

/// Groups the GPUs by compute capability, and where the first configuration needs more or less on another number of multiprocessors, by that.
pub(super) fn group(
    arguments: &Sweep,
    profiles: &[Profile],
    words: &Words,
    plan: &SweepPlan,
) -> Result<Vec<GpuGroup>, Error> {
    let others = in_pages(arguments.others.others.unwrap_or_default());
    let mut by_capability: BTreeMap<_, Vec<&Profile>> = BTreeMap::new();
    for profile in profiles {
        if profile.total_bytes <= others {
            return Err(Error::from(SweepError::NothingLeft { gpu: profile.name.clone(), others }));
        }
        by_capability.entry(profile.compute_capability).or_default().push(profile);
    }
    let mut groups = Vec::new();
    for mut alike in by_capability.into_values() {
        alike.sort_by_key(|profile| (profile.multiprocessors, profile.total_bytes));
        if is_shared(arguments, &alike, words, plan)? {
            groups.extend(make_group(&alike, others));
            continue;
        }
        let mut by_size: BTreeMap<u32, Vec<&Profile>> = BTreeMap::new();
        for profile in alike {
            by_size.entry(profile.multiprocessors).or_default().push(profile);
        }
        groups.extend(by_size.into_values().filter_map(|same| make_group(&same, others)));
    }
    Ok(groups)
}

/// The runs are made for the last, the one with the most multiprocessors.
fn make_group(profiles: &[&Profile], others: Bytes) -> Option<GpuGroup> {
    let gpu = |profile: &&Profile| SweepGpu {
        name: profile.name.clone(),
        capacity: profile.total_bytes - others,
        context: profile.context_bytes,
    };
    Some(GpuGroup { profile: (*profiles.last()?).clone(), gpus: profiles.iter().map(gpu).collect() })
}

/// Whole pages of device memory.
fn in_pages(bytes: Bytes) -> Bytes {
    Bytes(bytes.0.next_multiple_of(PAGE_BYTES))
}

/// True if the first configuration has the same need, but for the context, on the GPUs with the fewest and the most multiprocessors. Where the
/// program fails nothing is known, and nothing is shared.
fn is_shared(arguments: &Sweep, alike: &[&Profile], words: &Words, plan: &SweepPlan) -> Result<bool, Error> {
    let (Some(least), Some(most)) = (alike.first(), alike.last()) else { return Ok(true) };
    if least.multiprocessors == most.multiprocessors {
        return Ok(true);
    }
    let lines = plan.lines(true, |_| true);
    let Some(first) = lines.first().and_then(|line| line.first()) else { return Ok(true) };
    let mut seen: Vec<Option<(Bytes, Bytes, Bytes)>> = Vec::new();
    for profile in [least, most] {
        let program = prepare(arguments, profile, words)?;
        let usage = local::run_one(&program, arguments, first)?;
        let without_context = |usage: Usage| usage.device_bytes - in_pages(profile.context_bytes);
        seen.push(usage.map(|usage| (usage.allocated_bytes, usage.reserved_bytes, without_context(usage))));
    }
    Ok(matches!(seen.as_slice(), [Some(one), Some(other)] if one == other))
}
