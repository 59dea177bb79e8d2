//! Numbers as the C and C++ libraries parse them, which PyTorch's parser calls.
//!
//! # Note [Numbers of C]
//! `std::stoi` and its relatives skip blanks, take a sign, read the leading digits and ignore the rest: `12abc` is 12,
//! `1e3` as an integer is 1, and `-5` as an unsigned number is 2⁶⁴ − 5. `std::stod` reads hexadecimal floats, `inf` and
//! `nan`, and calls a result that underflows out of range. Two kinds of decimals differ here: a number with hundreds of
//! digits that is exactly a double below the smallest normal double is in range for C, and a number that rounds up to
//! the smallest normal double (2.2250738585072012e-308) is not. A number read from a stream (`>>`) must be the whole
//! text.

use super::error::{SettingsError, Thrown};
use super::tokens::is_space;

/// `std::stoi`: a 32-bit integer.
pub(super) fn stoi(text: &str) -> Result<i32, SettingsError> {
    let (negative, magnitude) = integer(text, "stoi")?;
    let magnitude = magnitude.and_then(|magnitude| i64::try_from(magnitude).ok());
    let value = magnitude.map(|magnitude| if negative { -magnitude } else { magnitude });
    value.and_then(|value| i32::try_from(value).ok()).ok_or_else(|| out_of_range("stoi"))
}

/// `std::stoul` or `std::stoull`, by `name`: both have 64 bits where PyTorch runs CUDA on Linux.
pub(super) fn stoull(text: &str, name: &str) -> Result<u64, SettingsError> {
    let (negative, magnitude) = integer(text, name)?;
    let magnitude = magnitude.ok_or_else(|| out_of_range(name))?;
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// The sign and the leading digits; `None` if the digits need more than 64 bits.
fn integer(text: &str, name: &str) -> Result<(bool, Option<u64>), SettingsError> {
    let (negative, rest) = sign(text.trim_start_matches(is_space));
    let digits = leading(rest, |byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return Err(SettingsError::new(Thrown::InvalidArgument, name));
    }
    Ok((negative, digits.parse().ok()))
}

fn out_of_range(name: &str) -> SettingsError {
    SettingsError::new(Thrown::OutOfRange, name)
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The longest prefix whose bytes `wanted` accepts.
fn leading(text: &str, wanted: impl Fn(u8) -> bool) -> &str {
    let end = text.bytes().position(|byte| !wanted(byte)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// `std::stod`.
pub(super) fn stod(text: &str) -> Result<f64, SettingsError> {
    let (negative, rest) = sign(text.trim_start_matches(is_space));
    let value = hexadecimal(rest).or_else(|| decimal(rest)).or_else(|| word(rest).map(Magnitude::exact));
    let Some(Magnitude { value, exact }) = value else {
        return Err(SettingsError::new(Thrown::InvalidArgument, "stod"));
    };
    if !exact && (value.is_infinite() || value < f64::MIN_POSITIVE) {
        return Err(out_of_range("stod"));
    }
    Ok(if negative { -value } else { value })
}

/// A double, and whether the conversion was exact.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Magnitude {
    value: f64,
    exact: bool,
}

impl Magnitude {
    fn exact(value: f64) -> Magnitude {
        Magnitude { value, exact: true }
    }
}

fn word(text: &str) -> Option<f64> {
    let starts = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if starts("inf") {
        Some(f64::INFINITY)
    } else if starts("nan") {
        Some(f64::NAN)
    } else {
        None
    }
}

/// Digits with at most one dot, and an exponent if it has digits.
fn decimal(text: &str) -> Option<Magnitude> {
    let mantissa = take_mantissa(text, |byte| byte.is_ascii_digit())?;
    let end = mantissa.len() + exponent(text.get(mantissa.len()..)?, b'e').map_or(0, |(length, _)| length);
    let written = text.get(..end)?;
    let value: f64 = written.parse().ok()?;
    // C calls a zero exact only if every digit is zero; a decimal that equals a subnormal double has hundreds of
    // digits.
    let exact = value == 0.0 && mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    Some(Magnitude { value, exact })
}

/// The leading digits with at most one dot, if there is a digit.
fn take_mantissa(text: &str, digit: fn(u8) -> bool) -> Option<&str> {
    let whole = leading(text, digit).len();
    let fraction = text.get(whole..)?.strip_prefix('.').map(|rest| leading(rest, digit).len());
    let end = whole + fraction.map_or(0, |digits| digits + 1);
    (whole + fraction.unwrap_or(0) > 0).then(|| text.get(..end)).flatten()
}

/// The length and the value of an exponent such as `e-5`; saturates.
fn exponent(text: &str, letter: u8) -> Option<(usize, i64)> {
    let first = text.bytes().next()?;
    let (negative, rest) = sign(text.get(1..).filter(|_| first.eq_ignore_ascii_case(&letter))?);
    let digits = leading(rest, |byte| byte.is_ascii_digit());
    let value = digits.parse().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    let length = text.len() - rest.len() + digits.len();
    (!digits.is_empty()).then_some((length, if negative { -value } else { value }))
}

/// `0x`, hexadecimal digits with at most one dot, and a binary exponent.
fn hexadecimal(text: &str) -> Option<Magnitude> {
    let rest = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let mantissa = take_mantissa(rest, |byte| byte.is_ascii_hexdigit())?;
    let scale = exponent(rest.get(mantissa.len()..)?, b'p').map_or(0, |(_, value)| value);
    let digits: Vec<u64> = mantissa.chars().filter_map(|c| c.to_digit(16)).map(u64::from).collect();
    let whole = mantissa.split('.').next().unwrap_or_default().len();
    Some(scaled(&digits, i64::try_from(whole).unwrap_or(i64::MAX / 16), scale))
}

/// `0.digits` in base 16, times 16 to the power of `whole`, times 2 to the power of `scale`.
fn scaled(digits: &[u64], whole: i64, scale: i64) -> Magnitude {
    let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
    let digits = digits.get(zeros..).unwrap_or_default();
    if digits.is_empty() {
        return Magnitude::exact(0.0);
    }
    let (kept, lost) = digits.split_at(digits.len().min(15));
    let bits = kept.iter().fold(0, |bits, digit| bits << 4 | digit) << (4 * (15 - kept.len()));
    // Sixty bits of the number, and a sticky bit for the rest: enough to round fifty-three correctly.
    let bits = bits << 1 | u64::from(lost.iter().any(|&digit| digit != 0));
    let zeros = i64::try_from(zeros).unwrap_or(i64::MAX / 16);
    rounded(bits, scale.saturating_add(4 * (whole - zeros) - 61))
}

/// `bits` times 2 to the power of `exponent`, rounded to the nearest double, ties to even. The lowest bit of `bits` is
/// sticky.
fn rounded(bits: u64, exponent: i64) -> Magnitude {
    let top = exponent.saturating_add(63 - i64::from(bits.leading_zeros()));
    if top > 1023 {
        return Magnitude { value: f64::INFINITY, exact: false };
    }
    // The least power of two of a double's last bit.
    let last = (top - 52).max(-1074);
    let drop = u32::try_from(last.saturating_sub(exponent).clamp(0, 64)).unwrap_or(64);
    let kept = bits.checked_shr(drop).unwrap_or(0);
    let rest = bits - kept.checked_shl(drop).unwrap_or(0);
    let half = 1_u64.checked_shl(drop).map_or(u64::MAX, |unit| unit / 2);
    let up = rest > half || rest == half && kept & 1 == 1;
    Magnitude { value: times_power(kept + u64::from(up), last), exact: rest == 0 }
}

/// `bits` times 2 to the power of `exponent`, for results that a double holds or that overflow.
#[expect(clippy::cast_precision_loss, reason = "at most 53 bits are left")]
fn times_power(bits: u64, exponent: i64) -> f64 {
    // In two steps, since the smallest doubles are below the inverse of the largest.
    let exponent = i32::try_from(exponent.clamp(-2200, 2200)).unwrap_or_default();
    let half = exponent / 2;
    bits as f64 * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half)
}

/// A number read from a stream in the C locale up to the end of the text: decimal, finite.
pub(super) fn from_stream(text: &str) -> Option<f64> {
    let (negative, rest) = sign(text);
    let mantissa = take_mantissa(rest, |byte| byte.is_ascii_digit())?;
    let behind = rest.get(mantissa.len()..)?;
    let length = exponent(behind, b'e').map_or(0, |(length, _)| length);
    let value: f64 = rest.parse().ok().filter(|_| length == behind.len())?;
    value.is_finite().then_some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles(text: &str) -> Option<f64> {
        stod(text).ok()
    }

    #[test]
    fn integers_are_read_up_to_what_is_no_digit() {
        let cases = [("12abc", Some(12)), (" \t12", Some(12)), ("+5", Some(5)), ("-5", Some(-5)), ("0x10", Some(0))];
        let wrong = [("", None), ("+-5", None), ("abc", None), ("2147483648", None), ("99999999999999999999", None)];
        for (text, value) in cases.into_iter().chain(wrong) {
            assert_eq!(stoi(text).ok(), value, "{text:?}");
        }
        assert_eq!(stoull("-5", "stoull").ok(), Some(u64::MAX - 4));
        assert_eq!(stoull("18446744073709551616", "stoull").map_err(|e| e.thrown()), Err(Thrown::OutOfRange));
        assert_eq!(stoull("x", "stoul").map_err(|e| e.message().to_owned()), Err("stoul".to_owned()));
    }

    #[test]
    fn doubles_may_be_hexadecimal_and_must_not_underflow() {
        let cases =
            [("0.5x", 0.5), (".5", 0.5), ("5.", 5.0), ("-0x.8", -0.5), ("0x1p-2", 0.25), ("0x", 0.0), ("0x.p1", 0.0)];
        let odd = [("1e", 1.0), ("1e+", 1.0), ("0e99999999999999999999", 0.0), ("0x0.00000000000000000001p79", 0.5)];
        let fine = [("0x1.fffffffffffff7p-1", 1.0 - f64::EPSILON / 2.0), ("0x1.fffffffffffff8p-1", 1.0)];
        let small = [
            ("0x1p-1074", 5e-324),
            ("0x0p-9999999999999999999999", 0.0),
            ("2.2250738585072014e-308", f64::MIN_POSITIVE),
        ];
        for (text, value) in cases.into_iter().chain(odd).chain(fine).chain(small) {
            assert_eq!(doubles(text), Some(value), "{text:?}");
        }
        assert!(doubles("nan").is_some_and(f64::is_nan));
        assert_eq!(doubles("-Infinity"), Some(f64::NEG_INFINITY));
        for text in
            ["1e400", "1e-400", "1e-310", "0x1p-1075", "0x1.8p-1074", "0x1p99999999999999999999", "0x1p-99999999999"]
        {
            assert_eq!(stod(text).map_err(|error| error.thrown()), Err(Thrown::OutOfRange), "{text:?}");
        }
        for text in ["", ".", "e5", "-", "+-1", "x"] {
            assert_eq!(stod(text).map_err(|error| error.thrown()), Err(Thrown::InvalidArgument), "{text:?}");
        }
    }

    #[test]
    fn a_stream_reads_plain_decimals_to_the_end() {
        let cases =
            [("0.5", Some(0.5)), ("5.", Some(5.0)), ("+.5e1", Some(5.0)), ("1e-400", Some(0.0)), ("-1", Some(-1.0))];
        let wrong = ["", ".", "1e", "1e+", "0x1", "inf", "nan", "1e400", "1.5.5", "1k", "++1", "é"];
        for (text, value) in cases.into_iter().chain(wrong.map(|text| (text, None))) {
            assert_eq!(from_stream(text), value, "{text:?}");
        }
    }
}
