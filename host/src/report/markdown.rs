//! summary.md: a night for the page of a CI job (GitHub's job summary, a comment of GitLab): the verdict first, then tables,
//! details folded.
//!
//! Whatever came from outside goes through `text`, so that it is shown and does nothing: no markup, no table's end, no
//! mention of a person, no link.

use std::fmt::Write as _;

use crate::analysis::compare::Verdict;
use crate::analysis::fixed::Fixed;
use crate::analysis::verdict::Outcome;
use crate::formats::foreign_text::visible;
use crate::night::result::{ComparisonResult, LimitResult, MeasureResult, StepResult, counted};
use crate::night::sums::{seconds_between, session_means};
use crate::night::{Night, NightRecord};
use crate::report::night::words::{amount, amounts, back_online, factors, first_line};

/// Reasons that are shown before the fold.
const FIRST_REASONS: usize = 10;

/// The page.
#[must_use]
pub fn night(record: &NightRecord, night: &Night) -> String {
    let mut page = heading(night);
    if let Some(health) = night.health.as_ref().filter(|health| !health.well) {
        // The night's reasons say it where they are the bench's.
        let told = night.reasons.iter().any(|reason| reason.starts_with("the bench is sick"));
        let why = health.reasons.iter().map(|reason| text(reason)).collect::<Vec<_>>().join("; ");
        let why = if told { String::new() } else { format!(": {why}") };
        let back = text(&back_online(record));
        let _infallible = writeln!(
            page,
            "**The bench is sick**{why}. Nothing here says anything about an image. Once it is mended: {back}\n"
        );
    }
    page.push_str(&comparisons(night));
    page.push_str(&limits(night));
    page.push_str(&measures(night));
    for measure in &night.measures {
        page.push_str(&figures(night, measure));
    }
    page.push_str(&provenance(record, night));
    page
}

fn heading(night: &Night) -> String {
    let mark = match night.outcome {
        Outcome::Passed => "✅",
        Outcome::Failed => "❌",
        Outcome::NotDone => "🛑",
        Outcome::Invalid | Outcome::Unjudged => "❔",
    };
    let emulated = if night.emulated { " (emulated board)" } else { "" };
    let name = text(&night.name);
    let mut page = format!("## {mark} {name}: {}{emulated}\n\n", night.outcome);
    for reason in night.reasons.iter().take(FIRST_REASONS) {
        let _infallible = writeln!(page, "* {}", text(reason));
    }
    if night.reasons.len() > FIRST_REASONS {
        let rest = night.reasons.iter().skip(FIRST_REASONS).map(|reason| format!("* {}", text(reason)));
        let rest = rest.collect::<Vec<_>>().join("\n");
        page.push('\n');
        page.push_str(&folded("more reasons", &rest));
    }
    let took = seconds_between(&night.started_utc, &night.ended_utc);
    let took = took.map(|seconds| format!(", {seconds} s")).unwrap_or_default();
    let cut = if night.ended_utc.is_empty() { ", cut" } else { "" };
    let resumed = if night.resumed > 0 {
        format!(", went on {}", counted(night.resumed as usize, "time"))
    } else {
        String::new()
    };
    let (bench, began) = (text(&night.bench), text(&night.started_utc));
    let _infallible = writeln!(page, "\nBench {bench}, {began}{took}{cut}{resumed}.\n");
    page
}

fn comparisons(night: &Night) -> String {
    let rows = night
        .measures
        .iter()
        .flat_map(|measure| measure.comparisons.iter().map(move |one| comparison(measure, one)));
    let header =
        ["", "measure", "compared", "metric", "base", "new", "change", "interval", "margin", "verdict"];
    let mut page = titled("Comparisons", night, &header, rows.collect());
    if let Some(note) = factors(night.measures.iter().flat_map(|measure| &measure.comparisons)) {
        let _infallible = writeln!(page, "{note}\n");
    }
    page
}

fn comparison(measure: &MeasureResult, one: &ComparisonResult) -> Vec<String> {
    let mark = match one.verdict {
        Verdict::Better | Verdict::Equivalent => "✅",
        Verdict::Worse => "❌",
        Verdict::NotResolvable | Verdict::Invalid | Verdict::NoVerdict => "❔",
    };
    let metric = [text(&one.variant), metric(&one.metric, &one.unit)];
    let metric = metric.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let reason = if one.reason.is_empty() { String::new() } else { format!(": {}", text(&one.reason)) };
    vec![
        mark.to_owned(),
        text(&measure.name),
        format!("{} with {}", text(&one.new), text(&one.base)),
        metric,
        number(one.base_value),
        number(one.new_value),
        amount(one, one.change).unwrap_or_default(),
        amounts(one).unwrap_or_default(),
        amount(one, one.margin).unwrap_or_default(),
        format!("{}{reason}", one.verdict.name()),
    ]
}

fn limits(night: &Night) -> String {
    let rows =
        night.measures.iter().flat_map(|measure| measure.limits.iter().map(move |one| limit(measure, one)));
    let header = ["", "measure", "image", "metric", "value", "95 %", "limit", "why", "where"];
    titled("Limits", night, &header, rows.collect())
}

fn limit(measure: &MeasureResult, one: &LimitResult) -> Vec<String> {
    let least = one.at_least.map(|least| format!("at least {least}"));
    let most = one.at_most.map(|most| format!("at most {most}"));
    vec![
        mark(one.outcome).to_owned(),
        text(&measure.name),
        [text(&one.image), text(&one.variant)].join(" "),
        metric(&one.metric, &one.unit),
        number(one.value),
        interval(one.interval),
        least.into_iter().chain(most).collect::<Vec<_>>().join(", "),
        text(&one.reason),
        text(&one.bundle),
    ]
}

fn measures(night: &Night) -> String {
    let row = |measure: &MeasureResult| {
        let of = |outcome: Outcome| measure.steps.iter().filter(|step| step.outcome == outcome).count();
        let runs = Outcome::ALL.into_iter().filter(|outcome| of(*outcome) > 0);
        let runs = runs.map(|outcome| format!("{} {}", of(outcome), outcome.name())).collect::<Vec<_>>();
        let what = format!("{}, {}", measure.measurement, measure.clock);
        vec![text(&measure.name), what, runs.join(", "), text(first_line(&measure.ended))]
    };
    let rows = night.measures.iter().map(row).collect();
    titled("Runs", night, &["measure", "what", "runs", "ended"], rows)
}

/// A measure's figures over its sessions, and the runs that were not well; folded.
fn figures(night: &Night, measure: &MeasureResult) -> String {
    let means = session_means(measure);
    let row = |mean: &crate::night::sums::SessionMean| {
        let figure = &mean.figure;
        let of = [&figure.variant, &figure.mode, &figure.tie].map(|part| text(part));
        vec![
            text(&mean.image),
            of.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "),
            text(&figure.metric),
            unit(&figure.unit),
            number(figure.value),
            interval(figure.interval),
            number(figure.uncertainty),
            format!("{} in {}", figure.n, mean.sessions),
        ]
    };
    let header = ["image", "of", "metric", "unit", "value", "95 %", "U", "n in sessions"];
    let rows: Vec<_> = means.iter().map(row).collect();
    let mut body = if rows.is_empty() { String::new() } else { table(&header, rows) };
    let unwell =
        measure.steps.iter().filter(|step| !matches!(step.outcome, Outcome::Passed | Outcome::Unjudged));
    let unwell: Vec<_> = unwell.map(step).collect();
    if !unwell.is_empty() {
        body.push('\n');
        body.push_str(&table(&["run", "came to", "why", "where"], unwell));
    }
    if body.is_empty() {
        return body;
    }
    let emulated = if night.emulated { " (emulated)" } else { "" };
    folded(&format!("{}: figures over all sessions{emulated}", html(&measure.name)), &body)
}

fn step(step: &StepResult) -> Vec<String> {
    let run = format!("{} round {}", text(&step.step.image), step.step.round);
    let why = step.reasons.iter().map(|reason| text(reason)).collect::<Vec<_>>().join("; ");
    vec![run, step.outcome.name().to_owned(), why, text(&step.bundle)]
}

fn provenance(record: &NightRecord, night: &Night) -> String {
    let mut rows = vec![
        vec!["plan".to_owned(), text(&night.plan_file), format!("`{}`", code(&record.plan_sha256))],
        vec!["ppsrig".to_owned(), text(&night.ppsrig), String::new()],
        vec!["seed".to_owned(), night.seed.to_string(), String::new()],
    ];
    let images = night.images.iter();
    rows.extend(
        images.map(|(name, sha256)| vec!["image".to_owned(), text(name), format!("`{}`", code(sha256))]),
    );
    folded("where it came from", &table(&["", "", "SHA-256"], rows))
}

fn titled(title: &str, night: &Night, header: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let emulated = if night.emulated { " (emulated)" } else { "" };
    format!("### {title}{emulated}\n\n{}\n", table(header, rows))
}

fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let names: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let rule: Vec<String> = header.iter().map(|_| "---".to_owned()).collect();
    [line(&names), line(&rule)].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

fn folded(title: &str, body: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{body}\n</details>\n\n")
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✅",
        Outcome::Failed => "❌",
        Outcome::NotDone => "🛑",
        Outcome::Invalid | Outcome::Unjudged => "❔",
    }
}

fn number(value: Option<Fixed>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn interval(interval: Option<(Fixed, Fixed)>) -> String {
    interval.map(|(low, high)| format!("{low} to {high}")).unwrap_or_default()
}

/// A metric with its unit, unless that says the same once more.
fn metric(metric: &str, of: &str) -> String {
    if of == metric || unit(of).is_empty() { text(metric) } else { format!("{} {}", text(metric), unit(of)) }
}

/// A unit behind what it belongs to; a pure number has none.
fn unit(unit: &str) -> String {
    if unit == "1" { String::new() } else { text(unit) }
}

/// Signs that are markup wherever they stand.
const MARKUP: &str = "\\`*_~[]|#!$^{}";

/// Text from outside in a cell or a line. Every sign that could begin markup is escaped. A mention is taken from the text that is
/// shown, so that no escape helps: its sign stands in `code`, where none is looked for.
fn text(from: &str) -> String {
    let shown = visible(from);
    let mut escaped = String::with_capacity(shown.len());
    let mut before = ' ';
    let mut letters = shown.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let begins_list = escaped.bytes().all(|byte| byte.is_ascii_digit()) && next.is_whitespace();
        match letter {
            '@' => escaped.push_str("<code>@</code>"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            _ if MARKUP.contains(letter) => escaped.extend(['\\', letter]),
            // A list, a rule, or a heading's line.
            '-' | '+' | '=' if escaped.is_empty() => escaped.extend(['\\', letter]),
            '.' | ')' if begins_list => escaped.extend(['\\', letter]),
            // `www.` and `https://` begin a link, `:name:` is a picture.
            '.' if before.eq_ignore_ascii_case(&'w') => escaped.push_str("\\."),
            ':' if !next.is_whitespace() && !before.is_ascii_digit() => escaped.push_str("\\:"),
            _ => escaped.push(letter),
        }
        before = letter;
    }
    escaped
}

/// The same inside HTML.
fn html(from: &str) -> String {
    let shown = visible(from).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    shown.replace('@', "<code>@</code>").replace('`', "&#96;").replace('*', "&#42;").replace('_', "&#95;")
}

/// Hashes: whatever is no hexadecimal digit is left out.
fn code(hash: &str) -> String {
    hash.chars().filter(char::is_ascii_hexdigit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_from_outside_is_shown() {
        assert_eq!(text("<b>|`*_[x](y)"), r"&lt;b&gt;\|\`\*\_\[x\](y)");
        assert_eq!(text("a\nb"), r"a\\nb");
        assert_eq!(text("ask @someone"), "ask <code>@</code>someone");
        assert_eq!(text("1. x"), r"1\. x");
        assert_eq!(text("10.5 ns"), "10.5 ns");
        assert_eq!(text("at 12:30:05: :tada:"), r"at 12:30:05: \:tada:");
        assert_eq!(text("at 10.5 ns"), "at 10.5 ns");
        assert_eq!(text("www.x.y https://x.y"), r"www\.x.y https\://x.y");
    }
}
