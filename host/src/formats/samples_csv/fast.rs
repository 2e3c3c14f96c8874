//! Most lines: the names of the line before, then whole numbers of at most 16 digits, eight digits at a time.
//!
//! What is read here, `line` would read alike; whatever is not so plain is left to it.

use super::MOST_LINE;
use super::header::{Layout, Role};
use crate::samples::SampleSink;

/// Reads lines from the front of `bytes` as long as they are plain. Returns the bytes and lines that were read.
pub(super) fn lines<S: SampleSink>(
    layout: &Layout,
    prefix: &[u8],
    bytes: &[u8],
    sink: &mut S,
) -> (usize, u64) {
    let roles = &layout.roles[layout.leading..];
    let (mut used, mut lines) = (0, 0);
    while let Some((length, pre, snapshot)) = line(roles, prefix, &bytes[used..]) {
        sink.pair(pre, snapshot);
        used += length;
        lines += 1;
    }
    (used, lines)
}

/// One line from the front of `bytes`: its length with its line end, and its pair.
#[inline]
fn line(roles: &[Role], prefix: &[u8], bytes: &[u8]) -> Option<(usize, u64, u64)> {
    if !bytes.starts_with(prefix) {
        return None;
    }
    let (mut pre, mut snapshot) = (0, 0);
    let mut at = prefix.len();
    let mut end = b',';
    for role in roles {
        if end != b',' {
            return None;
        }
        match role {
            Role::Pre => (pre, at) = number(bytes, at)?,
            Role::Snapshot => (snapshot, at) = number(bytes, at)?,
            _ => at = passed_over(bytes, at)?,
        }
        end = *bytes.get(at)?;
        at += 1;
    }
    if end == b'\r' {
        end = *bytes.get(at)?;
        at += 1;
    }
    (end == b'\n' && at <= MOST_LINE).then_some((at, pre, snapshot))
}

/// One digit a byte in all eight of them.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The value of every byte as a digit, and how many bytes from the front are digits.
#[inline]
const fn digits(word: u64) -> (u64, u32) {
    let values = word ^ (ONES * 0x30);
    // The sum carries only out of bytes that are no digits, so that the first of those is seen rightly.
    let others = (values.wrapping_add(ONES * 0x76) | values) & (ONES * 0x80);
    (values, others.trailing_zeros() / 8)
}

/// The number of eight digits, the first of which is in the lowest byte.
#[inline]
const fn eight(values: u64) -> u64 {
    let twos = (values.wrapping_mul(10).wrapping_add(values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100).wrapping_add(twos >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff
}

const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// A whole number of 1 to 16 digits, and where it ends. None of anything else, and near the end of `bytes`.
#[inline]
fn number(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let words = u128::from_le_bytes(*bytes.get(at..)?.first_chunk::<16>()?);
    let (values, count) = digits(words as u64);
    if count == 0 {
        return None;
    }
    // Leading zeros take the place of what is missing.
    let value = eight(values << (8 * (8 - count)));
    if count < 8 {
        return Some((value, at + count as usize));
    }
    let (values, count) = digits((words >> 64) as u64);
    let low = if count == 0 { 0 } else { eight(values << (8 * (8 - count))) };
    Some((value * POWERS[count as usize] + low, at + 8 + count as usize))
}

/// Where a field ends that is not needed. None if it has quotes, and near the end of `bytes`.
#[inline]
fn passed_over(bytes: &[u8], at: usize) -> Option<usize> {
    let word = u64::from_le_bytes(*bytes.get(at..)?.first_chunk::<8>()?);
    let at = at + digits(word).1 as usize;
    let end = bytes.get(at..)?.iter().position(|byte| matches!(byte, b',' | b'\n' | b'\r' | b'"'))?;
    (bytes[at + end] != b'"').then_some(at + end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_are_read_as_the_number_that_they_are(value in any::<u64>(), tail in "[ -~]{16}") {
            let value = value % 10_u64.pow(16);
            let text = format!("{value},{tail}");
            let length = value.to_string().len();
            prop_assert_eq!(number(text.as_bytes(), 0), Some((value, length)));
        }

        #[test]
        fn any_bytes_are_a_number_up_to_the_first_that_is_no_digit(bytes in prop::collection::vec(any::<u8>(), 40)) {
            let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let read = number(&bytes, 0).map(|(_, end)| end);
            prop_assert_eq!(read, (1..=16).contains(&length).then_some(length));
        }
    }
}
