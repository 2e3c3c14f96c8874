//! Text that came from instruments, files, boards and labs, on its way into a file of ours. It is data wherever it lands:
//! what would not be seen is made visible here, and what a spreadsheet would compute is kept from being computed. The
//! markup of each format is escaped by the library of that format, after this.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What a spreadsheet takes for the beginning of a formula. A tab and a carriage return also are; they are escapes by then.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// One line: control characters, and those that turn the direction of writing or end a line, become escapes that can be
/// read: `\n`, `\x1b`, `\u{202e}`. A backslash stays one.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The same, but the ends of lines stay.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter != '\n' && is_hidden(letter))
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        let _infallible = match letter {
            _ if !hidden(letter) => write!(shown, "{letter}"),
            '\n' => write!(shown, "\\n"),
            '\r' => write!(shown, "\\r"),
            '\t' => write!(shown, "\\t"),
            _ if u32::from(letter) < 0x100 => write!(shown, "\\x{:02x}", u32::from(letter)),
            _ => write!(shown, "\\u{{{:x}}}", u32::from(letter)),
        };
    }
    Cow::Owned(shown)
}

/// Control characters, line and paragraph separators, marks and overrides of the writing direction, and what XML has not.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// A field of a CSV file: visible, and with an apostrophe in front where a spreadsheet would compute it. Numbers are
/// numbers. What begins with an apostrophe before such a sign gets one more, so that [`csv_text`] gives back what went in.
#[must_use]
pub fn csv_field(text: &str) -> Cow<'_, str> {
    let shown = visible(text);
    if is_number(&shown) || !shown.trim_start_matches('\'').starts_with(FORMULA) {
        return shown;
    }
    Cow::Owned(format!("'{shown}"))
}

/// The text of a field that [`csv_field`] wrote.
#[must_use]
pub fn csv_text(field: &str) -> &str {
    match field.strip_prefix('\'') {
        Some(rest) if rest.trim_start_matches('\'').starts_with(FORMULA) => rest,
        _ => field,
    }
}

/// A decimal number as our files have them: a sign, digits, and perhaps a point and digits.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    digits(whole.strip_prefix('-').unwrap_or(whole)) && digits(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_be_seen_is_an_escape() {
        assert_eq!(visible("a\0b\x1b[31m\r\n\tc"), r"a\x00b\x1b[31m\r\n\tc");
        assert_eq!(visible("\u{202e}gnp.exe\u{2028}\u{85}\u{feff}"), r"\u{202e}gnp.exe\u{2028}\x85\u{feff}");
        assert_eq!(visible_lines("a\nb\r\n"), "a\nb\\r\n");
        assert!(matches!(visible("Größe ✓ \\ \u{fffd}"), Cow::Borrowed(_)), "nothing to escape");
    }

    #[test]
    fn a_spreadsheet_computes_nothing() {
        for formula in ["=1+1", "+1", "@SUM(A1)", "-1+1", "-x", "--1", "-", "-1e5"] {
            assert_eq!(csv_field(formula), format!("'{formula}"));
        }
        assert_eq!(csv_field("\t=1"), r"\t=1", "a tab that can be read is no beginning of a formula");
    }

    #[test]
    fn numbers_are_untouched() {
        for number in ["-14994.091", "0", "12500000.000031", "-5", "", "1e9", "'tis"] {
            assert_eq!(csv_field(number), number);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_reader_gets_back_what_is_visible(text in "['=+\\-@a0.\t\n\\\\]{0,6}") {
            let field = csv_field(&text);
            proptest::prop_assert_eq!(csv_text(&field), visible(&text));
        }
    }
}
