//! What one side holds, session by session, and what difference more sessions could resolve.

use std::fmt::Write;

use super::{Digits, WIDTH, factor, label, places, sessions, sources, wrapped};
use crate::analysis::compare::Side;
use crate::analysis::compare::group::Quantity;
use crate::analysis::compare::outlook::Holding;

/// What one side holds, and what more sessions could resolve.
#[must_use]
pub fn holdings(side: &Side, holdings: &[Holding], alpha: f64) -> String {
    let mut text = sources("base", side);
    for one in holdings {
        text += &holding(one);
    }
    text.push('\n');
    let told = format!(
        "A plan of so many sessions a side finds the difference told nine times in ten, at {} % over all tests, where both \
         sides differ from boot to boot as this one does. The margin is in it.",
        alpha * 100.0
    );
    if holdings.iter().any(|one| !one.plans.is_empty()) {
        text += &wrapped("", &told);
    }
    for source in &side.sources {
        for remark in &source.remarks {
            text += &wrapped("", &format!("{}: {remark}", source.name));
        }
    }
    text
}

fn holding(one: &Holding) -> String {
    let (value, count, n) = one.figure;
    let right = label(one.key.conditions.emulated);
    let name = match one.key.quantity {
        Quantity::Published => one.key.variant.clone(),
        _ => format!("{}, {}", one.key, one.unit),
    };
    let space = WIDTH.saturating_sub(name.chars().count() + right.len()).max(2);
    let mut text = format!("\n{}\n", format!("{name}{:space$}{right}", "").trim_end());
    let digits = Digits(places(&one.unit, value.abs(), value.fract() == 0.0));
    if one.sessions.is_empty() {
        let counted = if count > 0 { format!("; {}, n {n}", sessions(count)) } else { String::new() };
        let unit =
            if one.key.quantity == Quantity::Published { format!(" {}", one.unit) } else { String::new() };
        let _ = writeln!(text, "  {}{}{counted}", digits.text(value), unit.trim_end());
    } else {
        let tail = if one.threshold.is_some() { "        tail" } else { "" };
        let _ = writeln!(text, "  session           n       value{tail}");
        for (number, n, value, beyond) in &one.sessions {
            let beyond = beyond.map_or_else(String::new, |beyond| format!("{beyond:>12}"));
            let _ = writeln!(text, "  {number:>7} {n:>11} {:>11}{beyond}", digits.text(*value));
        }
        let _ = writeln!(text, "  mean {:>26}", digits.text(value));
    }
    if let Some(threshold) = one.threshold {
        text += &wrapped("  ", &format!("tail: {}", threshold.told()));
    }
    match one.sd {
        Some(sd) => {
            let _ = writeln!(text, "  sd between sessions {}", digits.text(sd));
        }
        None if one.margin.is_some() => text += "  sd between sessions: unknown until three sessions\n",
        None => {}
    }
    text += &plans(one, &digits);
    for doubt in &one.doubts {
        text += &wrapped("  ", &format!("invalid: {doubt}"));
    }
    text
}

fn plans(one: &Holding, digits: &Digits) -> String {
    let Some(margin) = one.margin.filter(|_| !one.plans.is_empty()) else { return String::new() };
    let row = |name: &str, of: &dyn Fn(usize) -> Option<String>| {
        let cells: String =
            (0..one.plans.len()).map(|i| format!(" {:>11}", of(i).unwrap_or_default())).collect();
        format!("  {name:<24}{cells}\n")
    };
    let mut text = row("sessions a side", &|i| Some(one.plans[i].sessions.to_string()));
    text += &row("finds a difference of", &|i| one.plans[i].difference.map(|value| digits.text(value)));
    if one.plans.iter().any(|plan| plan.factor.is_some()) {
        text += &row("finds a tail's factor", &|i| one.plans[i].factor.map(factor));
    }
    text + &format!("  margin {}\n", digits.text(margin))
}
