//! The names of GPUs in the offers of clouds.
//!
//! Sources: the accelerators of SkyPilot's catalog (`sky show-gpus`, skypilot 0.14), `JobHardware` of `huggingface_hub/_jobs_api.py` 1.33.

use crate::Profile;

/// A GPU with its names at clouds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The name in this table of GPUs.
    pub gpu: &'static str,
    /// SkyPilot's name.
    pub sky: &'static str,
    /// The smallest flavor of Hugging Face Jobs with the GPU; `None` without a flavor.
    pub flavor: Option<&'static str>,
}

/// GPUs for rent, the cheapest of a size first.
const OFFERS: [Offer; 13] = [
    offer("Tesla T4", "T4", Some("t4-small")),
    offer("Tesla V100-SXM2-16GB", "V100", None),
    offer("NVIDIA L4", "L4", Some("l4x1")),
    offer("NVIDIA A10G", "A10G", Some("a10g-small")),
    offer("Tesla V100-SXM2-32GB", "V100-32GB", None),
    offer("NVIDIA A100-SXM4-40GB", "A100", None),
    offer("NVIDIA L40S", "L40S", Some("l40sx1")),
    offer("NVIDIA A100-SXM4-80GB", "A100-80GB", Some("a100-large")),
    offer("NVIDIA H100 PCIe", "H100", None),
    offer("NVIDIA H100 80GB HBM3", "H100-SXM", None),
    offer("NVIDIA GH200 480GB", "GH200", None),
    offer("NVIDIA H200", "H200", Some("h200")),
    offer("NVIDIA B200", "B200", None),
];

const fn offer(gpu: &'static str, sky: &'static str, flavor: Option<&'static str>) -> Offer {
    Offer { gpu, sky, flavor }
}

/// Returns all offers, the cheapest of a size first.
pub fn offers() -> &'static [Offer] {
    &OFFERS
}

impl Profile {
    /// Returns the offer of this GPU; `None` without a known offer.
    pub fn offer(&self) -> Option<&'static Offer> {
        OFFERS.iter().find(|offer| offer.gpu == self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offer_is_a_gpu_of_the_table_and_the_sizes_ascend() {
        let size = |offer: &Offer| crate::all().iter().find(|profile| profile.name == offer.gpu).map(|p| p.total_bytes);
        let sizes: Option<Vec<_>> = OFFERS.iter().map(size).collect();
        // GPUs of one nominal size differ by less than 2 GiB.
        let sizes: Vec<u64> = sizes.expect("every name is in the table").iter().map(|bytes| bytes.0 >> 31).collect();
        assert!(sizes.is_sorted(), "{sizes:?}");
    }
}
