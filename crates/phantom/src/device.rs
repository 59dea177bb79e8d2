//! The shown device: a profile, read once from the environment.
//!
//! # Note [Device variable]
//!
//! `OOMPH_DEVICE` is `key=value` joined by `;`. The keys are those of `wire::profile`; sizes are plain bytes and
//! `compute_capability` is `major.minor`. An absent key has the value of the default profile. An unknown key, or a
//! value other than a number, is reported on standard error and ignored: the binary carries this library, so only a
//! person who sets the variable by hand can cause such an error.

use std::str::FromStr;
use std::sync::OnceLock;

use wire::{profile as key, variable};

use crate::stderr::complain;

/// The properties of the shown device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Profile {
    /// `cudaDeviceProp::name`.
    pub(crate) name: String,
    /// The total of `cudaMemGetInfo`.
    pub(crate) total_bytes: u64,
    /// Memory of a CUDA context with PyTorch's kernels, outside every allocator.
    pub(crate) context_bytes: u64,
    /// Major and minor.
    pub(crate) compute_capability: (u32, u32),
    /// Number of streaming multiprocessors.
    pub(crate) multiprocessors: u32,
    /// L2 cache.
    pub(crate) l2_bytes: u64,
    /// Shared memory per block without opt-in.
    pub(crate) shared_memory_per_block_bytes: u64,
    /// Shared memory per block with opt-in.
    pub(crate) shared_memory_per_block_optin_bytes: u64,
    /// Shared memory per multiprocessor.
    pub(crate) shared_memory_per_multiprocessor_bytes: u64,
    /// Shared memory that the driver keeps of every block.
    pub(crate) reserved_shared_memory_per_block_bytes: u64,
    /// 32-bit registers per multiprocessor.
    pub(crate) registers_per_multiprocessor: u32,
    /// Resident threads per multiprocessor.
    pub(crate) threads_per_multiprocessor: u32,
    /// Resident blocks per multiprocessor.
    pub(crate) blocks_per_multiprocessor: u32,
    /// Core clock.
    pub(crate) clock_khz: u32,
    pub(crate) memory_clock_khz: u32,
    /// Width of the memory bus.
    pub(crate) memory_bus_bits: u32,
}

/// The size of an unlimited device: more than any program's need, small enough that several expandable segments of 9/8
/// of the size fit into the address range of [`crate::space`].
pub(crate) const UNLIMITED_BYTES: u64 = 4 << 40;

impl Default for Profile {
    /// An RTX 4090: the profile of a library preloaded by hand.
    fn default() -> Profile {
        Profile {
            name: "NVIDIA GeForce RTX 4090".to_owned(),
            total_bytes: 25_386_352_640,
            context_bytes: 0,
            compute_capability: (8, 9),
            multiprocessors: 128,
            l2_bytes: 72 << 20,
            shared_memory_per_block_bytes: 48 << 10,
            shared_memory_per_block_optin_bytes: 99 << 10,
            shared_memory_per_multiprocessor_bytes: 100 << 10,
            reserved_shared_memory_per_block_bytes: 1 << 10,
            registers_per_multiprocessor: 65_536,
            threads_per_multiprocessor: 1536,
            blocks_per_multiprocessor: 24,
            clock_khz: 2_520_000,
            memory_clock_khz: 10_501_000,
            memory_bus_bits: 384,
        }
    }
}

impl Profile {
    /// Reads the text of Note [Device variable]; the second value has a sentence for each error.
    pub(crate) fn parse(text: &str) -> (Profile, Vec<String>) {
        let mut profile = Profile::default();
        let mut problems = Vec::new();
        for field in text.split(key::SEPARATOR).filter(|field| !field.is_empty()) {
            let read = field.split_once('=').and_then(|(name, value)| profile.set(name.trim(), value.trim()));
            if read.is_none() {
                problems.push(format!(
                    "{}: cannot read `{field}`, expected `key=value` with a known key",
                    variable::DEVICE
                ));
            }
        }
        (profile, problems)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            key::NAME => value.clone_into(&mut self.name),
            key::COMPUTE_CAPABILITY => {
                let (major, minor) = value.split_once('.')?;
                self.compute_capability = (major.parse().ok()?, minor.parse().ok()?);
            }
            key::TOTAL_BYTES => self.total_bytes = value.parse().ok()?,
            key::CONTEXT_BYTES => self.context_bytes = value.parse().ok()?,
            key::MULTIPROCESSORS => self.multiprocessors = value.parse().ok()?,
            key::L2_BYTES => self.l2_bytes = value.parse().ok()?,
            key::SHARED_MEMORY_PER_BLOCK_BYTES => self.shared_memory_per_block_bytes = value.parse().ok()?,
            key::SHARED_MEMORY_PER_BLOCK_OPTIN_BYTES => {
                self.shared_memory_per_block_optin_bytes = value.parse().ok()?;
            }
            key::SHARED_MEMORY_PER_MULTIPROCESSOR_BYTES => {
                self.shared_memory_per_multiprocessor_bytes = value.parse().ok()?;
            }
            key::RESERVED_SHARED_MEMORY_PER_BLOCK_BYTES => {
                self.reserved_shared_memory_per_block_bytes = value.parse().ok()?;
            }
            key::REGISTERS_PER_MULTIPROCESSOR => self.registers_per_multiprocessor = value.parse().ok()?,
            key::THREADS_PER_MULTIPROCESSOR => self.threads_per_multiprocessor = value.parse().ok()?,
            key::BLOCKS_PER_MULTIPROCESSOR => self.blocks_per_multiprocessor = value.parse().ok()?,
            key::CLOCK_KHZ => self.clock_khz = value.parse().ok()?,
            key::MEMORY_CLOCK_KHZ => self.memory_clock_khz = value.parse().ok()?,
            key::MEMORY_BUS_BITS => self.memory_bus_bits = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}

/// A device by its index among all devices, as NVML counts. The program counts only the devices in
/// `CUDA_VISIBLE_DEVICES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhysicalDevice(pub(crate) u32);

/// The variables, read at the first CUDA call.
struct Shown {
    profile: Profile,
    physical_count: u32,
    /// The devices that the program sees.
    visible: Vec<PhysicalDevice>,
    others_bytes: u64,
}

static SHOWN: OnceLock<Shown> = OnceLock::new();

fn shown() -> &'static Shown {
    if let Some(shown) = SHOWN.get() {
        return shown;
    }
    // A fork server runs no program. Its children get their device after the fork; answers to the server's own imports are leaked, a
    // few hundred bytes each.
    if std::env::var_os(variable::SERVE).is_some() {
        return Box::leak(Box::new(Shown::read()));
    }
    SHOWN.get_or_init(Shown::read)
}

impl Shown {
    fn read() -> Shown {
        let (mut profile, problems) = Profile::parse(&std::env::var(variable::DEVICE).unwrap_or_default());
        for problem in problems {
            complain(&problem);
        }
        if std::env::var_os(variable::UNLIMITED).is_some_and(|value| value == "1") {
            profile.total_bytes = UNLIMITED_BYTES;
        }
        let others_bytes = number(variable::OTHERS, "a number of bytes", 0);
        let physical_count = number(variable::DEVICES, "a number of devices", 1);
        Shown { profile, physical_count, visible: visible_of(physical_count), others_bytes }
    }
}

/// Reads a number from the environment; unset and empty are `default`, as is an unreadable text, which is reported.
fn number<N: FromStr>(variable: &str, expected: &str, default: N) -> N {
    let Some(text) = std::env::var_os(variable).filter(|text| !text.is_empty()) else { return default };
    text.to_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        complain(&format!("{variable}: cannot read `{}`, expected {expected}", text.display()));
        default
    })
}

/// The devices in `CUDA_VISIBLE_DEVICES`, in its order; a value other than a list of numbers hides none.
fn visible_of(physical_count: u32) -> Vec<PhysicalDevice> {
    let all = || (0..physical_count).map(PhysicalDevice).collect();
    let Ok(visible) = std::env::var("CUDA_VISIBLE_DEVICES") else { return all() };
    let indices: Option<Vec<i64>> = visible.split(',').map(|index| index.trim().parse().ok()).collect();
    match indices {
        // As CUDA does, the list ends at the first index that is no device.
        Some(list) => {
            let valid =
                list.iter().map_while(|&index| u32::try_from(index).ok().filter(|&index| index < physical_count));
            valid.map(PhysicalDevice).collect()
        }
        None if visible.trim().is_empty() => Vec::new(),
        None => all(),
    }
}

/// The profile of every device.
pub(crate) fn profile() -> &'static Profile {
    &shown().profile
}

/// The number of devices that the program sees.
pub(crate) fn count() -> u32 {
    shown().visible.len() as u32
}

/// The number of devices, including hidden ones.
pub(crate) fn physical_count() -> u32 {
    shown().physical_count
}

/// The device that the program sees as number `device`.
pub(crate) fn physical(device: u32) -> PhysicalDevice {
    shown().visible.get(device as usize).copied().unwrap_or(PhysicalDevice(device))
}

/// The program's number of a device; `None` for a hidden device.
pub(crate) fn number_of(device: PhysicalDevice) -> Option<u32> {
    shown().visible.iter().position(|&visible| visible == device).map(|number| number as u32)
}

/// Bytes of every device used by other processes: an assumption of the caller, by `OOMPH_OTHERS`.
pub(crate) fn others_bytes() -> u64 {
    shown().others_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_set_and_wrong_ones_are_named() {
        let (profile, problems) =
            Profile::parse("name=Test GPU;total_bytes=1024;compute_capability=7.5;multiprocessors=x;colour=red");
        assert_eq!(profile.name, "Test GPU");
        assert_eq!(profile.total_bytes, 1024);
        assert_eq!(profile.compute_capability, (7, 5));
        assert_eq!(profile.multiprocessors, Profile::default().multiprocessors);
        assert_eq!(problems.len(), 2);
        assert!(problems[0].contains("multiprocessors=x") && problems[1].contains("colour=red"));
    }

    #[test]
    fn an_empty_text_is_the_default() {
        assert_eq!(Profile::parse(""), (Profile::default(), Vec::new()));
    }
}
