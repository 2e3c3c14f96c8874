//! The frame of every page: one file that needs nothing else, light or dark, on a phone and on paper.
//!
//! Its Content-Security-Policy forbids every request, and there is no script. The colours of `style.css` and those of plots
//! (`plot.rs`) are checked for contrast by a test in a browser, `tests/report_page.rs`.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of every page.
const STYLE: &str = include_str!("style.css");
/// Nothing is loaded from anywhere, and nothing runs.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// A whole page. The title is its first heading; what is in `body` begins with `h2`. It is plain text and is escaped.
#[must_use]
pub fn page(title: &str, body: Markup) -> String {
    let title = shown(title);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) (PreEscaped(super::colours::style())) }
            }
            body {
                a class="skip" href="#main" { "Skip to the content" }
                main id="main" tabindex="-1" {
                    h1 { (title) }
                    (body)
                }
                footer { "Made by ppsrig from a recording. It loads nothing and runs nothing." }
            }
        }
    };
    markup.into_string() + "\n"
}

/// A text as a page may show it: control bytes, and what turns the direction of writing, become visible. The markup's own
/// characters are escaped by maud.
#[must_use]
pub fn shown(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !text.contains(hidden) {
        return text.to_owned();
    }
    text.chars().flat_map(|c| if hidden(c) { c.escape_unicode().collect() } else { vec![c] }).collect()
}

/// One cell of a table.
pub struct Cell {
    markup: Markup,
    class: &'static str,
}

impl Cell {
    /// A text.
    #[must_use]
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::markup(html! { (shown(text.as_ref())) })
    }

    /// Whether nothing is in it.
    fn is_empty(&self) -> bool {
        self.markup.0.is_empty()
    }

    /// A long text, which gets room.
    #[must_use]
    pub fn wide(text: impl AsRef<str>) -> Self {
        Self { class: "w", ..Self::text(text) }
    }

    /// A number, on the right; nothing where it is unknown.
    #[must_use]
    pub fn number(value: Option<impl ToString>) -> Self {
        let text = value.map(|value| value.to_string()).unwrap_or_default();
        Self { class: "n", ..Self::text(text) }
    }

    /// What is marked up already.
    #[must_use]
    pub const fn markup(markup: Markup) -> Self {
        Self { markup, class: "" }
    }
}

/// A table that scrolls by itself where it is too wide, and can be reached with the keyboard. A header that begins with `>`
/// stands on the right, above numbers. The first cell of a row names it.
#[must_use]
pub fn table(label: &str, header: &[&str], rows: Vec<Vec<Cell>>) -> Markup {
    html! {
        div class="scroll" role="region" tabindex="0" aria-label=(shown(label)) {
            table class=[(header.len() > PAPER).then_some("many")] {
                caption { (shown(label)) }
                thead { tr {
                    @for name in header {
                        @match name.strip_prefix('>') {
                            Some(name) => th scope="col" class="n" { (name) },
                            None => th scope="col" { (name) },
                        }
                    }
                } }
                tbody {
                    @for row in rows { tr { @for (index, cell) in row.iter().enumerate() {
                        @if index == 0 { th scope="row" class=[class(cell)] { (cell.markup) } }
                        @else { td class=[class(cell)] data-name=[named(header, index)] { (cell.markup) } }
                    } } }
                }
            }
        }
    }
}

/// The same without the columns in which no row has anything.
#[must_use]
pub fn table_of_filled(label: &str, header: &[&str], rows: Vec<Vec<Cell>>) -> Markup {
    let filled = |index: &usize| rows.iter().any(|row| row.get(*index).is_some_and(|cell| !cell.is_empty()));
    let kept: Vec<usize> = (0..header.len()).filter(filled).collect();
    let header: Vec<&str> = kept.iter().map(|index| header[*index]).collect();
    let keep = |row: Vec<Cell>| {
        let cells = row.into_iter().enumerate().filter(|(index, _)| kept.contains(index));
        cells.map(|(_, cell)| cell).collect()
    };
    table(label, &header, rows.into_iter().map(keep).collect())
}

/// Columns that paper has room for. Rows of more become a paragraph there, in which every cell has its column's name.
const PAPER: usize = 10;

fn named<'h>(header: &[&'h str], index: usize) -> Option<&'h str> {
    let name = header.get(index)?;
    (header.len() > PAPER).then(|| name.strip_prefix('>').unwrap_or(name))
}

fn class(cell: &Cell) -> Option<&'static str> {
    Some(cell.class).filter(|class| !class.is_empty())
}

/// Names and what is to be said of them; those of which nothing is known are left out.
#[must_use]
pub fn facts(rows: &[(&str, String)]) -> Markup {
    html! {
        dl class="facts" {
            @for (name, text) in rows.iter().filter(|(_, text)| !text.is_empty()) {
                dt { (shown(name)) }
                dd { (shown(text)) }
            }
        }
    }
}

/// A link to a file beside the page: each part of the path is percent-encoded, so that no name becomes a scheme, a query or
/// a way out.
#[must_use]
pub fn link(path: &str, text: &str) -> Markup {
    html! { a href=(relative(path)) { (shown(text)) } }
}

/// A path relative to the page, as a link.
fn relative(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..");
    let encoded: Vec<String> = parts.map(|part| part.bytes().map(encoded).collect()).collect();
    format!("./{}", encoded.join("/"))
}

fn encoded(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_forbids_every_request_and_has_its_title_escaped() {
        let page = page("<script>alert(1)</script> \"&'", html! { h2 { "one" } });
        assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
        assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\""));
        assert!(!page.contains("<script"));
        assert!(page.contains("<h1>&lt;script&gt;alert(1)&lt;/script&gt; &quot;&amp;'</h1>"), "{page}");
    }

    #[test]
    fn links_stay_below_the_page() {
        assert_eq!(relative("runs/a b/report.html"), "./runs/a%20b/report.html");
        assert_eq!(relative("javascript:alert(1)"), "./javascript%3Aalert%281%29");
        assert_eq!(relative("//host/../x?y#z\"<é"), "./host/x%3Fy%23z%22%3C%C3%A9");
    }

    #[test]
    fn control_bytes_and_turned_writing_are_made_visible() {
        assert_eq!(shown("a\u{1b}[31m\u{202e}b\0"), "a\\u{1b}[31m\\u{202e}b\\u{0}");
        assert_eq!(shown("plain é"), "plain é");
    }

    #[test]
    fn a_table_is_a_region_with_a_name_and_unknown_is_empty() {
        let rows = vec![vec![Cell::text("<b>"), Cell::number(None::<u32>), Cell::number(Some(3))]];
        let text = table("figures & more", &["name", ">value", ">n"], rows).into_string();
        assert!(text.contains("role=\"region\" tabindex=\"0\" aria-label=\"figures &amp; more\""), "{text}");
        assert!(
            text.contains("<th scope=\"row\">&lt;b&gt;</th><td class=\"n\"></td><td class=\"n\">3</td>"),
            "{text}"
        );
    }
}
