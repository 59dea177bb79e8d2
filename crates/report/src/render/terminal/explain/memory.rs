//! The holders of the device's memory: a bar of letters that adds up to the whole, and a legend.

use crate::breakdown::Contents;
use crate::explain::{DeviceMemory, Holder};
use crate::render::layout::cells;
use crate::render::terminal::page::Page;
use crate::render::terminal::sections::share;

/// The width of the bar, in letters.
const CELLS: u64 = 74;

/// The bar and its legend.
pub(super) fn write(page: &mut Page, memory: &DeviceMemory) {
    let total = memory.total();
    page.heading(&format!("Where {} was {}", memory.extent().words(), memory.when()));
    page.line(&format!("  [{}]", bar(memory)));
    for part in memory.parts() {
        let (letter, words) = (letter(part.holder), part.holder.words());
        page.line(&format!("  {letter} {words:<21}{}", share(part.bytes, total)));
    }
    let exact = if memory.is_exact() { format!("  {} bytes", total.0) } else { String::new() };
    page.line(&format!("    {:<21}{total:>11}{exact}", "total"));
}

/// The bar, and the meaning of its letters in a line.
pub(super) fn bar_with_key(page: &mut Page, memory: &DeviceMemory) {
    page.line(&format!("  [{}]", bar(memory)));
    let keys: Vec<String> =
        memory.parts().iter().map(|part| format!("{} {}", letter(part.holder), part.holder.words())).collect();
    page.paragraph("   ", &keys.join(", "));
}

fn bar(memory: &DeviceMemory) -> String {
    let widths = cells(memory.parts().iter().map(|part| part.bytes.0), memory.total().0, CELLS);
    let pieces = memory.parts().iter().zip(widths);
    pieces.flat_map(|(part, width)| (0..width).map(|_| letter(part.holder))).collect()
}

/// The character of a holder in the bar: letters for memory in use, signs for other memory.
fn letter(holder: Holder) -> char {
    match holder {
        Holder::Allocated(Some(Contents::Parameters)) => 'P',
        Holder::Allocated(Some(Contents::Gradients)) => 'G',
        Holder::Allocated(Some(Contents::OptimizerState)) => 'O',
        Holder::Allocated(Some(Contents::Buffers)) => 'B',
        Holder::Allocated(Some(Contents::Activations)) => 'A',
        Holder::Allocated(Some(Contents::Temporaries)) => 'T',
        Holder::Allocated(Some(Contents::Inputs)) => 'I',
        Holder::Allocated(Some(Contents::Workspaces)) => 'W',
        Holder::Allocated(Some(Contents::Other)) => 'Z',
        Holder::Allocated(Some(Contents::Unattributed)) => 'U',
        Holder::Allocated(None) => '#',
        Holder::Cached => '-',
        Holder::OutsidePytorch => 'x',
        Holder::OtherProcesses => '%',
        Holder::Unaccounted => '?',
        Holder::Free => '.',
    }
}
