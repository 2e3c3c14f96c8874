//! Pages for people: each is one file that needs nothing else.

pub mod colours;
pub mod history;
pub mod night;
pub mod page;
mod plot;
pub mod run;

pub use self::night::night;
pub use self::page::page;
pub use self::run::run;

/// A figure and its unit, beside an axis; once where they are the same word.
fn axis(metric: &str, unit: &str) -> String {
    if metric == unit { metric.to_owned() } else { format!("{metric}, {unit}") }
}

/// Names that are out for harm, and what a page must not let them do.
#[cfg(test)]
pub(crate) mod testing {
    /// Markup, attributes, control bytes, a turned direction of writing, links.
    pub(crate) const HOSTILE: [&str; 6] = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "a\u{1b}[31mb\0c\u{202e}d",
        "</text></svg><iframe src=//x.example>",
        "javascript:alert(1)//../..?#&lt;",
    ];

    /// No tag, attribute or byte of the name is one in the page; the name itself is there, escaped.
    pub(crate) fn assert_inert(page: &str, hostile: &str) {
        for never in
            ["<script", "<img", "<iframe", "href=\"javascript:", "href=\"//", "\u{1b}", "\0", "\u{202e}"]
        {
            assert!(!page.contains(never), "{never:?} of {hostile:?}");
        }
        for tag in page.split('<').skip(1).filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag) {
            let attributes: String = tag.split('"').step_by(2).collect();
            assert!(!attributes.contains(" on") && !attributes.contains('\''), "{tag:?} of {hostile:?}");
        }
        let escaped = maud::html! { (super::page::shown(hostile)) }.into_string();
        assert!(page.contains(&escaped), "{hostile:?} is told");
    }
}
