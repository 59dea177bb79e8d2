//! Censuses: the categories of allocations, as the agent takes them.

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::ids::{Address, DeviceIndex};

/// The category of an allocation, from the agent's censuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// A parameter of a module or an optimizer.
    Parameter,
    /// The `.grad` of a parameter.
    Gradient,
    /// A tensor in an optimizer's `state`.
    OptimizerState,
    /// A buffer of a module.
    Buffer,
}

/// The occasion of a census.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CensusTime {
    /// The end of an optimizer step.
    Optimizer,
    /// An out-of-memory error.
    Oom,
    /// The end of the program.
    #[default]
    End,
    /// The end of a forward pass.
    Forward,
    /// An occasion of another version of the agent, by its name.
    #[serde(untagged)]
    Other(String),
}

/// The storages of a census on `device`, with their categories.
pub fn census_of_device(
    tensors: &[(Category, u32, u64, u64)],
    device: DeviceIndex,
) -> impl Iterator<Item = (Category, Address, Bytes)> + '_ {
    tensors
        .iter()
        .filter(move |(_, d, _, _)| *d == device.0)
        .map(|&(category, _, address, bytes)| (category, Address(address), Bytes(bytes)))
}
