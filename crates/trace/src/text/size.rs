//! Sizes as texts write them, with the range of sizes of the same form.

use super::stated::StatedBytes;
use crate::bytes::Bytes;

/// Printed by PyTorch as 17179869184.00 GiB: the driver does not report the use of a process, or there is no limit.
pub(super) const NOT_AVAILABLE: u64 = u64::MAX;

/// Units, longest first. PyTorch's messages mean powers of 1024 by all (MPS writes `GB`, the others `GiB`).
const UNITS: [(&str, u32); 12] = [
    ("bytes", 0),
    ("byte", 0),
    ("KiB", 10),
    ("MiB", 20),
    ("GiB", 30),
    ("TiB", 40),
    ("KB", 10),
    ("kB", 10),
    ("MB", 20),
    ("GB", 30),
    ("TB", 40),
    ("EB", 60),
];

/// A number with its digits after the point.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    scale: u64,
}

/// The size at the start of `text` (without blanks), and its length.
pub(super) fn parse(text: &[u8]) -> Option<(StatedBytes, usize)> {
    let (number, length) = decimal(text)?;
    let (unit, shift) = *UNITS.iter().find(|(unit, _)| text[length..].starts_with(unit.as_bytes()))?;
    Some((stated_range(number, shift), length + unit.len()))
}

/// The size at the start of `text` as other frameworks write it, and its length: with commas between thousands, with one letter for the unit, or
/// in bytes without a unit.
pub(super) fn parse_any(text: &[u8]) -> Option<(StatedBytes, usize)> {
    const LETTERS: [(u8, u32); 8] =
        [(b'k', 10), (b'm', 20), (b'g', 30), (b't', 40), (b'K', 10), (b'M', 20), (b'G', 30), (b'T', 40)];
    let (number, length) = separated(text).or_else(|| decimal(text))?;
    let rest = &text[length..];
    let unit = rest.get(..rest.len().min(5)).unwrap_or_default();
    if let Some((unit, shift)) = UNITS
        .iter()
        .find(|(name, _)| unit.len() >= name.len() && unit[..name.len()].eq_ignore_ascii_case(name.as_bytes()))
    {
        return Some((stated_range(number, *shift), length + unit.len()));
    }
    let letter = rest.first().and_then(|letter| LETTERS.iter().find(|(name, _)| name == letter));
    match letter {
        Some((_, shift)) if number.scale > 1 || !rest.get(1).is_some_and(u8::is_ascii_alphabetic) => {
            Some((stated_range(number, *shift), length + 1))
        }
        _ if number.scale == 1 => Some((StatedBytes::exact(number.digits), length)),
        _ => None,
    }
}

/// A number with commas between thousands: `8,000,000,000`.
fn separated(text: &[u8]) -> Option<(Decimal, usize)> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
    let groups: Vec<&[u8]> = text[..length].split(|&byte| byte == b',').collect();
    let (first, rest) = groups.split_first()?;
    if rest.is_empty() || first.len() > 3 || rest.iter().any(|group| group.len() != 3) {
        return None;
    }
    let digits = std::str::from_utf8(&groups.concat()).ok()?.parse().ok()?;
    Some((Decimal { digits, scale: 1 }, length))
}

/// The whole number at the start of `text`, and its length.
pub(super) fn whole(text: &[u8]) -> Option<(u64, usize)> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = std::str::from_utf8(&text[..length]).ok()?;
    Some((digits.parse().ok()?, length))
}

fn decimal(text: &[u8]) -> Option<(Decimal, usize)> {
    const MOST_DIGITS: usize = 6;
    let (whole, length) = whole(text)?;
    if text.get(length) != Some(&b'.') && !is_decimal_comma(&text[length..]) {
        return Some((Decimal { digits: whole, scale: 1 }, length));
    }
    let fraction = text[length + 1..].iter().take_while(|byte| byte.is_ascii_digit()).take(MOST_DIGITS);
    let (mut number, mut length) = (Decimal { digits: whole, scale: 1 }, length + 1);
    for &digit in fraction {
        number.digits = number.digits.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        number.scale *= 10;
        length += 1;
    }
    Some((number, length))
}

/// Recognises `,55GiB`: a comma in place of the point, before two digits and a unit.
fn is_decimal_comma(text: &[u8]) -> bool {
    matches!(text, [b',', a, b, b'K' | b'M' | b'G', b'i', b'B', ..] if a.is_ascii_digit() && b.is_ascii_digit())
}

/// The sizes that round to `number` in units of 2 to the power `shift`.
///
/// PyTorch uses a larger unit only above 1024 of a smaller one (`format_size` in c10/cuda/CUDACachingAllocator.cpp, 1.0
/// to 2.15), so `1024.00 MiB` is at most 1 GiB and `1.00 GiB` is more.
fn stated_range(number: Decimal, shift: u32) -> StatedBytes {
    if shift == 0 {
        return StatedBytes::exact(number.digits / number.scale);
    }
    if number.scale == 1 {
        return truncated_range(number.digits, shift);
    }
    let unit = 1_u128 << shift;
    let (digits, scale) = (u128::from(number.digits), u128::from(number.scale));
    let nearest = (2 * digits * unit + scale) / (2 * scale);
    let (below, above) = ((2 * digits).saturating_sub(1) * unit, (2 * digits + 1) * unit);
    // Sizes half-way between are printed with an even last digit.
    let keeps_half = digits % 2 == 0 || scale == 1;
    let is_half = |edge: u128| u128::from(!keeps_half && edge.is_multiple_of(2 * scale));
    let lowest = (below.div_ceil(2 * scale) + is_half(below)).max(unit + 1);
    let highest = above / (2 * scale) - is_half(above);
    // Other frameworks print `3328.13 MiB`.
    let highest = if shift < 30 && nearest <= unit << 10 { highest.min(unit << 10) } else { highest };
    let bytes = |size: u128| Bytes(u64::try_from(size).unwrap_or(u64::MAX));
    let (lowest, highest) = (lowest.min(nearest), highest.max(nearest));
    StatedBytes { nearest: bytes(nearest), lowest: bytes(lowest), highest: bytes(highest) }
}

/// The sizes that truncate to `number` whole units of 2 to the power `shift`.
pub(super) fn truncated_range(number: u64, shift: u32) -> StatedBytes {
    let lowest = number.saturating_mul(1 << shift);
    let highest = Bytes(lowest.saturating_add((1 << shift) - 1));
    StatedBytes { nearest: Bytes(lowest), lowest: Bytes(lowest), highest }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn check(text: &str, nearest: u64, lowest: u64, highest: u64) {
        let (size, length) = parse(text.as_bytes()).unwrap_or_default();
        let expected = StatedBytes { nearest: Bytes(nearest), lowest: Bytes(lowest), highest: Bytes(highest) };
        assert_eq!(size, expected, "{text}");
        assert_eq!(length, text.len(), "{text}");
    }

    #[test]
    fn a_size_stands_for_all_sizes_that_are_printed_so() {
        check("512bytes", 512, 512, 512);
        check("1024bytes", 1024, 1024, 1024);
        check("1.50KiB", 1536, 1531, 1541);
        check("20.00MiB", 20 * MIB, 20 * MIB - 5242, 20 * MIB + 5242);
        check("30kB", 30 * KIB, 30 * KIB, 31 * KIB - 1);
        check("21.87GiB", 23_482_733_691, 23_477_364_982, 23_488_102_399);
        check("21.88GiB", 23_493_471_109, 23_488_102_400, 23_498_839_818);
        check("24.00GiB", 24 * GIB, 24 * GIB - 5_368_709, 24 * GIB + 5_368_709);
    }

    #[test]
    fn the_next_unit_begins_above_1024_of_a_unit() {
        check("1024.00MiB", GIB, GIB - 5242, GIB);
        check("1.00GiB", GIB, GIB, GIB + 5_368_709);
        check("1.00KiB", KIB, KIB, KIB + 5);
    }

    #[test]
    fn what_is_cut_off_is_no_size_and_what_the_driver_does_not_say_is_the_largest() {
        let (unknown, _) = parse(b"17179869184.00GiB").unwrap_or_default();
        assert_eq!(unknown.nearest.0, NOT_AVAILABLE);
        for text in ["", "20", "20.", "20.00", "20.00M", "20.00Gi", "GiB", "99999999999999999999999bytes"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
