//! Sizes as people write them: `16GiB`, `24576MiB`, `16 GB`.

use trace::Bytes;

/// Errors of [`parse_size`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSize {
    /// No number, or an unknown unit after the number.
    #[error("`{0}` is not a size; expected a number with a unit, such as 16GiB, 24576MiB or 16GB")]
    NotASize(String),
    /// Zero bytes: nothing fits on a device without memory.
    #[error("`{0}` is zero; expected a size above zero, such as 16GiB")]
    Zero(String),
    /// A number without a unit counts bytes, and is too small to be meant as bytes.
    #[error("`{0}` has no unit and would mean bytes; expected a unit, such as {0}GiB")]
    NoUnit(String),
    /// More bytes than 64 bits hold.
    #[error("`{0}` is too large; expected a size such as 16GiB")]
    TooLarge(String),
}

/// The least number without a unit that is taken as bytes.
const LEAST_WITHOUT_UNIT: u64 = 1 << 20;

/// Parses a size: a number, optionally with a decimal fraction, and a unit. `K`, `M`, `G`, `T` and `KiB` … `TiB` are
/// powers of 1024, `KB` … `TB` powers of 1000; no unit or `B` is bytes. Case and spaces do not count.
pub fn parse_size(text: &str) -> Result<Bytes, BadSize> {
    let given = || text.trim().to_owned();
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    let digits = compact.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(compact.len());
    let (number, unit) = compact.split_at(digits);
    let scale = unit_bytes(unit).ok_or_else(|| BadSize::NotASize(given()))?;
    let (mantissa, divisor) = decimal(number).ok_or_else(|| BadSize::NotASize(given()))?;
    let bytes = mantissa.checked_mul(scale).map(|scaled| scaled / divisor).and_then(|n| u64::try_from(n).ok());
    match bytes.ok_or_else(|| BadSize::TooLarge(given()))? {
        0 => Err(BadSize::Zero(given())),
        few if unit.is_empty() && few < LEAST_WITHOUT_UNIT => Err(BadSize::NoUnit(given())),
        bytes => Ok(Bytes(bytes)),
    }
}

/// Bytes per unit.
fn unit_bytes(unit: &str) -> Option<u128> {
    let (letter, base) = match unit {
        "" | "b" => return Some(1),
        _ if unit.ends_with("ib") => (unit.strip_suffix("ib")?, 1024u128),
        _ if unit.ends_with('b') => (unit.strip_suffix('b')?, 1000),
        _ => (unit, 1024),
    };
    let power = match letter {
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some(base.pow(power))
}

/// `1.25` as 125 / 100. `None` for a text that is no number, or has more digits than any size needs.
fn decimal(number: &str) -> Option<(u128, u128)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if number.len() > 24 || whole.is_empty() || number.ends_with('.') {
        return None;
    }
    let mantissa = format!("{whole}{fraction}").parse().ok()?;
    let divisor = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some((mantissa, divisor))
}

/// Writes a size as [`parse_size`] reads it, without loss.
pub fn write_size(size: Bytes) -> String {
    match size.0 {
        bytes if bytes.is_multiple_of(1 << 30) => format!("{}GiB", bytes >> 30),
        bytes if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        bytes => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read_as_written() {
        let cases = [
            ("16GiB", 16 << 30),
            ("16G", 16 << 30),
            ("16g", 16 << 30),
            ("16 gib", 16 << 30),
            ("24576MiB", 24 << 30),
            ("17179869184", 16 << 30),
            ("17179869184B", 16 << 30),
            ("512b", 512),
            ("16 GB", 16_000_000_000),
            (" 16gb ", 16_000_000_000),
            ("1.5GiB", 3 << 29),
            ("23.64 GiB", 25_383_256_719),
            ("0.5TB", 500_000_000_000),
            ("640K", 640 << 10),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_with_what_was_expected() {
        type Make = fn(String) -> BadSize;
        let cases: [(&str, Make); 19] = [
            ("", BadSize::NotASize),
            ("GiB", BadSize::NotASize),
            ("-16GiB", BadSize::NotASize),
            ("16 GiBs", BadSize::NotASize),
            ("16 gigs", BadSize::NotASize),
            ("1e9", BadSize::NotASize),
            ("16GiB4", BadSize::NotASize),
            (".5GiB", BadSize::NotASize),
            ("5.GiB", BadSize::NotASize),
            ("1.2.3G", BadSize::NotASize),
            ("16i", BadSize::NotASize),
            ("１６GiB", BadSize::NotASize),
            ("nan", BadSize::NotASize),
            ("0", BadSize::Zero),
            ("0GiB", BadSize::Zero),
            ("0.0000000001KiB", BadSize::Zero),
            ("16", BadSize::NoUnit),
            ("24576", BadSize::NoUnit),
            ("99999999999T", BadSize::TooLarge),
        ];
        for (text, expected) in cases {
            let error = parse_size(text).expect_err(text);
            assert_eq!(error, expected(text.to_owned()), "{text}");
            assert!(error.to_string().contains("expected"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = parse_size(&text);
        }

        #[test]
        fn digits_and_units_in_any_order_do_not_panic(text in "[0-9.kmgtib ]{0,60}") {
            let _ = parse_size(&text);
        }

        #[test]
        fn whole_mebibytes_are_exact(mib in 1u64..1 << 30) {
            prop_assert_eq!(parse_size(&format!("{mib}MiB")), Ok(Bytes::from_mib(mib)));
        }
    }
}
