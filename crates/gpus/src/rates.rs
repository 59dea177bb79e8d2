//! Peak rates of a GPU, from which times are estimated.
//!
//! A program reaches a fraction of the peak rates. The fraction is much the same for two variants of one program, so
//! the estimates serve to compare variants.

use trace::run::GpuWork;

use crate::profile::{ComputeCapability, Profile};

/// Peak rates of a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// FLOPs per second of float32 on CUDA cores; an addition and a multiplication count one each.
    pub float32_flops: f64,
    /// FLOPs per second of float16 and bfloat16 on Tensor cores, dense; on CUDA cores for models without Tensor cores.
    pub half_flops: f64,
    /// Bytes per second of device memory.
    pub memory_bytes: f64,
    /// Bytes per second between host and device: 16 lanes of PCI Express 4.0, on any machine.
    pub host_bytes: f64,
}

impl Rates {
    /// The least time in seconds that `work` keeps the GPU busy: FLOPs, memory traffic and copies one after the other.
    pub fn seconds(&self, work: &GpuWork) -> f64 {
        let flops = work.flops.iter().map(|(dtype, flops)| {
            let rate = if dtype.contains("16") { self.half_flops } else { self.float32_flops };
            *flops as f64 / rate
        });
        flops.sum::<f64>() + work.bytes as f64 / self.memory_bytes + work.host_bytes as f64 / self.host_bytes
    }
}

/// FP32 lanes of a multiprocessor, by architecture (NVIDIA's CUDA C++ Programming Guide, throughput of native
/// arithmetic).
fn lanes(capability: ComputeCapability) -> f64 {
    match (capability.major, capability.minor) {
        (6 | 8, 0) | (7, _) => 64.0,
        _ => 128.0,
    }
}

/// Dense FP16 FLOPs per clock of a multiprocessor's Tensor cores (NVIDIA's architecture whitepapers: Volta, Turing,
/// Ampere GA100 and GA102, Hopper, Blackwell; Ada as GA102).
fn tensor_flops(capability: ComputeCapability) -> Option<f64> {
    match (capability.major, capability.minor) {
        (8, 0) => Some(2048.0),
        (7 | 8 | 12, _) => Some(1024.0),
        (9, _) => Some(4096.0),
        (10, _) => Some(8192.0),
        _ => None,
    }
}

impl Profile {
    /// Peak rates, from the model's clocks and architecture.
    pub fn rates(&self) -> Rates {
        let clocks = f64::from(self.clock_khz) * 1e3 * f64::from(self.multiprocessors);
        let float32_flops = clocks * lanes(self.compute_capability) * 2.0;
        Rates {
            float32_flops,
            half_flops: tensor_flops(self.compute_capability).map_or(float32_flops, |flops| clocks * flops),
            // Two transfers a clock.
            memory_bytes: f64::from(self.memory_clock_khz) * 1e3 * 2.0 * f64::from(self.memory_bus_bits) / 8.0,
            host_bytes: 25e9,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    /// Data sheets round, and state boost clocks.
    #[test]
    fn rates_are_near_the_data_sheets() {
        let check = |name: &str, float32: f64, half: f64, memory: f64| {
            let rates = crate::find(name).unwrap().rates();
            for (found, stated) in [
                (rates.float32_flops, float32 * 1e12),
                (rates.half_flops, half * 1e12),
                (rates.memory_bytes, memory * 1e9),
            ] {
                assert!((found / stated - 1.0).abs() < 0.12, "{name}: {found} for {stated}");
            }
        };
        check("v100-sxm2-16gb", 15.7, 125.0, 900.0);
        check("a100-sxm4-80gb", 19.5, 312.0, 2039.0);
        check("rtx-4090", 82.6, 330.0, 1008.0);
        check("h100-sxm", 67.0, 989.0, 3350.0);
    }
}
