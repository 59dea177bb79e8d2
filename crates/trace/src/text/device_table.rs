//! The table of a device in ComfyUI's report of an error.
//!
//! Source: `get_torch_device_name`, `get_total_memory` and `get_free_memory` of ComfyUI's `model_management.py`. "VRAM Free" includes the free
//! memory of PyTorch's cache; "Torch VRAM Total" is PyTorch's reserved memory.

use super::line::{self, CleanLines};
use super::size;
use crate::bytes::Bytes;

/// A device as ComfyUI's report states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTable {
    /// The line of the text on which the table starts, counted from 1.
    pub line: u32,
    /// The device's memory.
    pub total_bytes: Bytes,
    /// The free memory of the device, without PyTorch's cache.
    pub free_bytes: Bytes,
    /// The memory reserved by PyTorch.
    pub reserved_bytes: Bytes,
    /// The memory reserved by PyTorch, but not in use.
    pub cached_bytes: Bytes,
}

/// The lines above the anchor that belong to the table.
const LINES_ABOVE: usize = 3;
/// The lines of a table.
const LINES: usize = 6;

/// Reads the table with the byte at `at` in its third line of figures; returns its end.
pub(super) fn read(text: &[u8], at: usize, line: u32) -> Option<(DeviceTable, usize)> {
    let mut start = line::start(text, at);
    for _ in 0..LINES_ABOVE {
        start = line::start(text, start.saturating_sub(1));
    }
    let lines: Vec<(String, usize)> = CleanLines::new(text, start).take(LINES).collect();
    let value = |name: &str| lines.iter().find_map(|(line, end)| Some((bytes_behind(line, name)?, *end)));
    let (total, free) = (value("VRAM Total:")?.0, value("VRAM Free:")?.0);
    let (reserved, cached) = (value("Torch VRAM Total:")?.0, value("Torch VRAM Free:")?);
    let device = DeviceTable {
        line,
        total_bytes: total,
        free_bytes: free - cached.0,
        reserved_bytes: reserved,
        cached_bytes: cached.0,
    };
    (device.reserved_bytes <= total && cached.0 <= reserved).then_some((device, cached.1))
}

/// The number of bytes behind `name`, which begins its line but for marks.
fn bytes_behind(line: &str, name: &str) -> Option<Bytes> {
    let content = line.trim_start_matches(|character: char| !character.is_alphabetic()).replace("**", "");
    let rest = content.strip_prefix(name)?;
    size::whole(rest.trim_start().as_bytes()).map(|(bytes, _)| Bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_no_free_memory_of_the_device() {
        let text = "- **Name:** cuda:0\n  - **VRAM Total:** 1000\n  - **VRAM Free:** 300\n  - **Torch VRAM Total:** 600\n  - **Torch VRAM Free:** 100\n";
        let at = text.find("Torch").unwrap_or_default();
        let (device, end) = read(text.as_bytes(), at, 4).unwrap_or_default();
        let figures = [device.total_bytes, device.free_bytes, device.reserved_bytes, device.cached_bytes];
        assert_eq!(figures, [Bytes(1000), Bytes(200), Bytes(600), Bytes(100)]);
        assert_eq!(end, text.len());
        assert_eq!(read(text.replace("600", "6000").as_bytes(), at, 4), None);
    }
}
