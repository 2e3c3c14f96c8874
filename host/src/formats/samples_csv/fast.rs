//! Most lines: the names of the line before, then whole numbers of at most 16 digits, eight digits at a time.
//!
//! Where a line ends is known only once its numbers are read, so that each line would wait for the one before. But most
//! lines have fields as long as those of the line before: [`Shape::line`] checks that this one has, and the next one can
//! begin meanwhile. [`line`] reads a line of any lengths. What is read here, `super::line` would read alike; whatever is
//! not so plain is left to it.

use super::MOST_LINE;
use super::header::{Layout, Role};
use crate::samples::SampleSink;

/// Fields behind the names that a shape can have. Lines with more are read by [`line`].
const MOST_FIELDS: usize = 8;

/// Reads lines from the front of `bytes` as long as they are plain. Returns the bytes and lines that were read.
pub(super) fn lines<S: SampleSink>(
    layout: &Layout,
    prefix: &[u8],
    bytes: &[u8],
    sink: &mut S,
) -> (usize, u64) {
    // The columns of pairs.csv as constants: the compiler then unrolls what is done for each.
    const PAIRS: &[Role] = &[Role::Other, Role::Pre, Role::Snapshot];
    match &layout.roles[layout.leading..] {
        PAIRS => lines_of(PAIRS, prefix, bytes, sink),
        roles => lines_of(roles, prefix, bytes, sink),
    }
}

#[inline(always)]
fn lines_of<S: SampleSink>(roles: &[Role], prefix: &[u8], bytes: &[u8], sink: &mut S) -> (usize, u64) {
    let (mut used, mut lines) = (0, 0);
    let mut head = Head { word: ONES * 0x30, value: 0 };
    loop {
        let rest = &bytes[used..];
        let Some((shape, pre, snapshot)) = line(roles, prefix, rest) else { return (used, lines) };
        sink.pair(pre, snapshot);
        used += shape.length;
        lines += 1;
        while let Some((pre, snapshot)) = shape.line(roles, prefix, &bytes[used..], &mut head) {
            sink.pair(pre, snapshot);
            used += shape.length;
            lines += 1;
        }
    }
}

/// The lengths of a line and its fields.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Of the fields behind the names. All zero if there are too many.
    fields: [usize; MOST_FIELDS],
    /// Of the line with its line end.
    length: usize,
}

impl Shape {
    /// The pair of a line of this shape at the front of `bytes`. None if it has another, and near the end of `bytes`.
    #[inline(always)]
    fn line(&self, roles: &[Role], prefix: &[u8], bytes: &[u8], head: &mut Head) -> Option<(u64, u64)> {
        // Behind the line is room to read whole words.
        let bytes = bytes.get(..self.length + 16)?;
        if roles.len() > MOST_FIELDS || bytes[self.length - 1] != b'\n' || !begins(bytes, prefix) {
            return None;
        }
        let (mut pre, mut snapshot) = (0, 0);
        let mut at = prefix.len();
        for (index, (role, length)) in roles.iter().zip(self.fields).enumerate() {
            match role {
                Role::Pre => pre = number_of(length, bytes, at, head)?,
                Role::Snapshot => snapshot = number_of(length, bytes, at, head)?,
                _ => is_plain(length, bytes, at).then_some(())?,
            }
            at += length + 1;
            let end = *bytes.get(at - 1)?;
            let last = index + 1 == roles.len();
            if end != b',' && !last || last && end != b'\n' && end != b'\r' {
                return None;
            }
        }
        // A CR stands before the LF, which is there.
        (at == self.length || at + 1 == self.length && bytes[at - 1] == b'\r').then_some((pre, snapshot))
    }
}

/// One line from the front of `bytes`: its shape and its pair.
fn line(roles: &[Role], prefix: &[u8], bytes: &[u8]) -> Option<(Shape, u64, u64)> {
    if !begins(bytes, prefix) {
        return None;
    }
    let (mut pre, mut snapshot) = (0, 0);
    let mut fields = [0; MOST_FIELDS];
    let mut at = prefix.len();
    let mut end = b',';
    for (index, role) in roles.iter().enumerate() {
        if end != b',' {
            return None;
        }
        let from = at;
        match role {
            Role::Pre => (pre, at) = number(bytes, at)?,
            Role::Snapshot => (snapshot, at) = number(bytes, at)?,
            _ => at = passed_over(bytes, at)?,
        }
        if let Some(length) = fields.get_mut(index) {
            *length = at - from;
        }
        end = *bytes.get(at)?;
        at += 1;
    }
    if end == b'\r' {
        end = *bytes.get(at)?;
        at += 1;
    }
    (end == b'\n' && at <= MOST_LINE).then_some((Shape { fields, length: at }, pre, snapshot))
}

#[inline]
fn begins(bytes: &[u8], prefix: &[u8]) -> bool {
    // Inline, since some C libraries take hundreds of cycles to compare an empty prefix.
    let Some(front) = bytes.get(..prefix.len()) else { return false };
    let ((words, rest), (others, other)) = (prefix.as_chunks::<8>(), front.as_chunks::<8>());
    words.iter().zip(others).all(|(word, other)| word == other)
        && rest.iter().zip(other).all(|(byte, other)| byte == other)
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

/// The first eight digits that were read last, as they stood there and as a number: mostly those of the next reading too.
#[derive(Clone, Copy, Debug)]
struct Head {
    word: u64,
    value: u64,
}

/// The same, if it has exactly so many digits.
#[inline(always)]
fn number_of(length: usize, bytes: &[u8], at: usize, head: &mut Head) -> Option<u64> {
    let words = u128::from_le_bytes(*bytes.get(at..)?.first_chunk::<16>()?);
    let word = words as u64;
    if length <= 8 {
        let (values, count) = digits(word);
        return (count as usize == length && length > 0).then(|| eight(values << (64 - 8 * length)));
    }
    if word != head.word {
        let (values, count) = digits(word);
        if count != 8 {
            return None;
        }
        *head = Head { word, value: eight(values) };
    }
    let (values, count) = digits((words >> 64) as u64);
    let power = POWERS.get(length - 8)?;
    (count as usize == length - 8).then(|| head.value * power + eight(values << (128 - 8 * length)))
}

/// Whether a field of this length that is not needed is what it seems.
#[inline]
fn is_plain(length: usize, bytes: &[u8], at: usize) -> bool {
    let Some(field) = bytes.get(at..) else { return false };
    if let (1..8, Some(word)) = (length, field.first_chunk::<8>())
        && digits(u64::from_le_bytes(*word)).1 as usize == length
    {
        return true;
    }
    field
        .get(..length)
        .is_some_and(|field| !field.iter().any(|byte| matches!(byte, b',' | b'\n' | b'\r' | b'"')))
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
