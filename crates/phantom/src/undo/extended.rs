//! The original of an extended attribute goes into the journal.

use std::ffi::{CStr, c_char};

use wire::digest::extend_fnv;

use super::kernel::{self, Answer, Stat};
use super::place::Place;
use super::preserve;
use super::record::{JournalKind, append};
use super::setup::Setup;
use super::table::{Fact, hash};

/// The longest value that is journaled. A change of a longer one is refused.
const VALUE_BYTES: usize = 1024;

pub(super) fn preserve(setup: &Setup, place: &Place, stat: &Stat, name: *const c_char) -> Answer<()> {
    if name.is_null() || preserve::is_made(setup, place, stat) {
        return Ok(());
    }
    // SAFETY: the pointer is not null, and the called C function asks for a string.
    let name = unsafe { CStr::from_ptr(name) };
    let known = extend_fnv(hash(Fact::Attributes, stat, place.bytes()), name.to_bytes()).max(1);
    if setup.table.has(known) {
        return Ok(());
    }
    // A list of access rights changes the mode.
    preserve::attributes(setup, place, stat)?;
    let mut value = [0; VALUE_BYTES];
    let mut text = [0; 2 * VALUE_BYTES + 1];
    let length = match kernel::attribute(place.text(), name, &mut value) {
        Ok(length) => hexadecimal(&value[..length], &mut text),
        Err(libc::ENODATA) => {
            text[0] = b'-';
            1
        }
        // The call fails by itself.
        Err(libc::ENOTSUP | libc::EINVAL | libc::EPERM | libc::EACCES) => return Ok(()),
        Err(_) => return Err(libc::EROFS),
    };
    append(setup, JournalKind::Extended, stat, &[place.bytes(), name.to_bytes(), &text[..length]])?;
    setup.table.add(known);
    Ok(())
}

/// Writes `=` and two digits a byte; returns the length.
fn hexadecimal(value: &[u8], text: &mut [u8]) -> usize {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text[0] = b'=';
    for (byte, pair) in value.iter().zip(text[1..].chunks_exact_mut(2)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    1 + 2 * value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_in_digits() {
        let mut text = [0; 9];
        let length = hexadecimal(&[0, 0x9a, 0xff], &mut text);
        assert_eq!(&text[..length], b"=009aff");
    }
}
