//! Edges: latencies, their course, their stability, the ledger, the counter.

use maud::{Markup, html};

use super::figures::{budget, figures};
use super::{counted, labelled, worst};
use crate::analysis::class::{Class, Ledger};
use crate::analysis::edge::EdgeAnalysis;
use crate::analysis::figures::mode_name;
use crate::analysis::latency::Latencies;
use crate::analysis::picture::scale::{digits, label};
use crate::analysis::picture::{histogram, spectrum, timeline};
use crate::analysis::tie::Tie;
use crate::analysis::uncertainty::Component;
use crate::analysis::{Analysis, Session};
use crate::plan::RunRecord;
use crate::report::csv_files::{clock_name, rate_hz};
use crate::report::html::page::{Cell, facts, shown, table};
use crate::report::html::plot;

/// What was measured.
pub(super) fn what(record: &RunRecord) -> String {
    let plan = &record.plan;
    format!(
        "How late edges of the generator are captured: {} mode, {} edges at {} Hz, {}, {}. Positive is late.",
        mode_name(plan.mode),
        plan.edges,
        rate_hz(record),
        clock_name(record),
        counted(plan.sessions, "session")
    )
}

/// Everything about edges.
pub(super) fn sections(record: &RunRecord, analysis: &Analysis, edge: &EdgeAnalysis) -> Markup {
    let emulated = analysis.emulated;
    html! {
        (labelled("Latency", emulated))
        (latency(edge))
        (labelled("Course", emulated))
        (course(record, analysis))
        (labelled("Stability", emulated))
        (stability(record, edge))
        h2 { "Ledger" }
        (ledger(edge))
        (labelled("Edges worth a look", emulated))
        (worst::sections(analysis))
        (labelled("Uncertainty", emulated))
        @for latencies in &edge.latencies { (uncertainty(latencies)) }
        h2 { "The counter" }
        (counter(record, edge))
        h2 { "How edges got their second" }
        (facts(&notes(edge)))
    }
}

fn name(latencies: &Latencies) -> String {
    match latencies.tie {
        Tie::None => format!("{}, spread only (no tie)", latencies.mode.name()),
        tie => format!("{}, tie {}", latencies.mode.name(), tie.name()),
    }
}

fn latency(edge: &EdgeAnalysis) -> Markup {
    let rows = edge
        .latencies
        .iter()
        .flat_map(|latencies| latencies.figures.iter().map(move |figure| (name(latencies), figure)));
    html! {
        @if edge.latencies.is_empty() { p { "No edge has a latency: none paired, or nothing ties the counter to GPS time." } }
        @for latencies in &edge.latencies {
            @match histogram::of_latencies(latencies) {
                Some(picture) => (plot::run::histogram(&format!("Latencies: {}", name(latencies)), &picture, None, plot::run::trace_colour(latencies.mode, latencies.tie), HISTOGRAM)),
                None => p { (shown(&name(latencies))) ": without a tie there is no absolute latency, so none is drawn; the spread is in the table." },
            }
        }
        (figures("Latency figures with their 95 % intervals and systematic uncertainty U", rows))
        p class="quiet" { "Interval of the mean: Student's t, over session means from three sessions on, else within the session; of percentiles: order statistics. An empty field is not known." }
    }
}

const HISTOGRAM: &str = "one narrow peak with a short tail to the right. A second peak is a second path through the \
    code or a second cause of delay; single bars far to the right are the worst case. The counts are by decades, so that a \
    single late edge among many is seen.";

fn course(record: &RunRecord, analysis: &Analysis) -> Markup {
    let environment = &analysis.environment;
    html! {
        @match timeline::timeline(analysis) {
            Some(picture) => {
                (plot::run::timeline(&picture, COURSE))
                @if !picture.begins.is_empty() { p class="quiet" { "Time 0 is " (picture.begins) "." } }
                @if picture.reduced { p class="quiet" { "There are more edges (" (picture.edges) ") than columns of pixels: each column is drawn from the least to the most latency in it, so no late edge is hidden." } }
                (bands(&picture.bands))
            }
            None => p { "No edge could be drawn over time: none paired, or the rate of the counter or the times of the edges are not known." },
        }
        @if environment.temperatures.is_empty() {
            p { "Temperature: not recorded." @if record.bench.environment.is_empty() { " The bench file names no file under [environment] temperature." } }
        }
        @for (name, reason) in &environment.unreadable { p { "Temperature " (shown(name)) ": not recorded from some moment on, " (shown(reason)) "." } }
    }
}

const COURSE: &str = "a level band of points from beginning to end, over a reference that is locked throughout. A step, \
    a slope, or a change together with the temperature or the reference's state tells where to look.";

/// Only what is not plain: the reference's states, if it was not locked all the time.
fn bands(bands: &[timeline::Band]) -> Markup {
    let odd: Vec<_> = bands.iter().filter(|band| !band.reason.is_empty()).collect();
    let row = |band: &&timeline::Band| {
        let seconds = |at| Cell::number(Some(label(at)));
        vec![Cell::text(band.state.name()), seconds(band.from), seconds(band.to), Cell::wide(&band.reason)]
    };
    html! {
        @if bands.is_empty() { p class="quiet" { "What the reference was worth is not known on this axis." } }
        @else if odd.is_empty() { p class="quiet" { "The reference was locked all the time." } }
        @else { (table("When the reference could not be trusted", &["state", ">from s", ">to s", "why"], odd.iter().map(row).collect())) }
    }
}

fn stability(record: &RunRecord, edge: &EdgeAnalysis) -> Markup {
    match spectrum::spectrum(record, edge) {
        Err(why) => html! { p { "No TDEV and MTIE: " (shown(&why)) "." } },
        Ok(picture) => html! {
            (plot::run::spectrum(&picture, SPECTRUM))
            (deviations(&picture))
            p class="quiet" { "Of session " (picture.session) ", " (picture.mode.name()) " mode: " (picture.edges) " edges"
                @if picture.missing > 0 { "; " (picture.missing) " places of the grid have none, and terms that touch one are left out" }
                ". The counter's rate is taken off. TDEV's intervals hold 68.3 %." }
        },
    }
}

const SPECTRUM: &str = "TDEV falls as the averaging time grows, by the root of it where single edges scatter by chance; \
    where it turns upwards the clocks wander against each other. MTIE rises slowly and reaches a plateau.";

fn deviations(picture: &spectrum::Spectrum) -> Markup {
    let rows = picture.curves.iter().flat_map(|curve| &curve.rows);
    let row = |row: &crate::analysis::stability::Row| {
        vec![
            Cell::text(row.deviation.name().to_uppercase()),
            Cell::number(Some(row.tau_s)),
            Cell::number(Some(digits(row.estimate.value))),
            Cell::number(row.interval.map(|(low, _)| digits(low))),
            Cell::number(row.interval.map(|(_, high)| digits(high))),
            Cell::number(Some(row.estimate.n)),
        ]
    };
    let header = ["deviation", ">tau, s", ">value, s", ">from", ">to", ">n"];
    table("TDEV and MTIE by averaging time", &header, rows.map(row).collect())
}

fn ledger(edge: &EdgeAnalysis) -> Markup {
    let sides = [&edge.edges, &edge.preamble];
    let row = |class: Class| {
        let counts = sides.into_iter().flat_map(|ledger| {
            [
                class.on_commanded_side().then(|| ledger.commanded.count(class)),
                class.on_captured_side().then(|| ledger.captured.count(class)),
            ]
        });
        [Cell::text(class.name())].into_iter().chain(counts.map(Cell::number)).collect::<Vec<_>>()
    };
    let totals = sides.into_iter().flat_map(|ledger| [ledger.commanded.total(), ledger.captured.total()]);
    let totals =
        [Cell::text("total")].into_iter().chain(totals.map(|total| Cell::number(Some(total)))).collect();
    let rows = Class::ALL.into_iter().map(row).chain([totals]).collect();
    let header = ["class", ">commanded", ">captured", ">preamble commanded", ">captured"];
    html! {
        (plot::run::ledger(&edge.edges, LEDGER))
        (table("Edges by class", &header, rows))
        p { "The edges' ledger " (balance(&edge.edges)) " The preamble's " (balance(&edge.preamble)) }
    }
}

const LEDGER: &str = "two bars of one colour and the same length: everything commanded was captured, and nothing else. \
    Classes with few edges are drawn wider than their share, so that they are seen.";

fn balance(ledger: &Ledger) -> String {
    let problems = ledger.imbalances();
    if !problems.is_empty() {
        return format!("does not balance: {}.", shown(&problems.join("; ")));
    }
    let by = if ledger.counted_by_board { "the board's own totals" } else { "what was heard (no totals)" };
    format!("balances: {} commanded and {} captured, by {by}.", ledger.commanded_count, ledger.captured_count)
}

fn uncertainty(latencies: &Latencies) -> Markup {
    let label = format!("What U is made of: {}, mean over edges", name(latencies));
    html! {
        @if latencies.components.is_empty() {
            p { (shown(&name(latencies))) ": not known, since neither an interval counter nor the bench file states how well an edge's time is known." }
        } @else { (budget(&label, &latencies.components, "ns", Component::nanoseconds)) }
    }
}

fn counter(record: &RunRecord, edge: &EdgeAnalysis) -> Markup {
    let declared = record.bench.board.counter_hz;
    let row = |session: &Session| {
        let rate = session.rate.as_ref();
        vec![
            Cell::text(session.number.to_string()),
            Cell::number(rate.map(|rate| rate.hertz())),
            Cell::number(rate.and_then(|rate| rate.ratio_of(declared, 9))),
            Cell::number(rate.and_then(|rate| rate.u_ppm(3))),
            Cell::number(rate.map(|rate| rate.span_s())),
            Cell::number(rate.map(|rate| rate.readings)),
            Cell::wide(
                rate.map_or_else(|| session.without_rate().unwrap_or("not measured"), |rate| rate.time_base),
            ),
        ]
    };
    let header = ["session", ">Hz", ">ratio to declared", ">U, ppm (k=2)", ">span, s", ">edges", "times by"];
    let budgets = edge.sessions.iter().filter_map(|session| {
        let label = format!("What U of session {}'s rate is made of, over its span", session.number);
        Some(budget(&label, &session.rate.as_ref()?.components, "ns", Component::nanoseconds))
    });
    html! {
        p { "Declared: " (declared) ". A good one is within a few ppm of it; beyond 100 ppm the run is refused." }
        (table("The counter's rate, ticks per GPS second", &header, edge.sessions.iter().map(row).collect()))
        @for budget in budgets.take(BUDGETS) { (budget) }
        (facts(&edge.sessions.iter().flat_map(session_facts).collect::<Vec<_>>()))
    }
}

/// Sessions whose rate's uncertainty is taken apart.
const BUDGETS: usize = 3;
/// Disturbances of a session that are told one by one.
const DISTURBANCES: usize = 20;

fn session_facts(session: &Session) -> Vec<(&'static str, String)> {
    let number = session.number;
    let told = |what: &str| format!("session {number}: {what}");
    let mut rows: Vec<_> = session.counter_faults.iter().map(|fault| ("fault", told(&fault.text))).collect();
    rows.extend(session.rate.iter().filter_map(|rate| Some(("stability", told(&rate.stability?.text())))));
    rows.extend(session.rate.iter().map(|_| ("steps", told(&session.step_rule))));
    rows.extend(session.disturbed.iter().take(DISTURBANCES).map(|what| ("disturbed", told(what))));
    let without = session.without_echo.iter();
    rows.extend(without.map(|(why, edges)| ("no echo", told(&format!("{edges} paired edges: {why}")))));
    rows
}

fn notes(edge: &EdgeAnalysis) -> Vec<(&'static str, String)> {
    let mut rows = vec![("rule", edge.second_rule.clone())];
    rows.extend(edge.leap_table.iter().map(|what| ("leap seconds", what.clone())));
    rows.extend(edge.reference_notes.iter().map(|note| ("reference", note.clone())));
    rows.extend(edge.interval_counter_notes.iter().map(|note| ("interval counter", note.clone())));
    rows
}
