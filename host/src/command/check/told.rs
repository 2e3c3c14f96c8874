//! What the fired edges tell, as findings. Their figures come from `analysis`; here they only get words, and a limit.

use serde_json::json;

use super::findings::{Confidence, Figures, Findings, State};
use crate::analysis::edge;
use crate::analysis::preflight::{self, MessageLag, Polarity, Shape};
use crate::analysis::rate::{CounterRate, REFUSAL_PPM};
use crate::analysis::sawtooth::{Sawtooth, sawtooth};
use crate::analysis::seconds;
use crate::bench_file::{BenchFile, EdgeTiming};
use crate::events::{IntervalChannel, IntervalEvent, Recording};
use crate::names::{GeneratorDriver, IntervalCounterDriver};
use crate::plan::RunRecord;
use crate::rig::session::preflight::{LEADING, TRAILING};

/// A second that is nearer to ambiguity than this is worth a word, in nanoseconds.
const NARROW_NS: i64 = 30_000_000;
/// A width that is captured further off than this, and than twice what captures scatter, is not what was set.
const WIDTH_OFF_NS: f64 = 1_000_000.0;

/// Tells everything. `whole`: nothing ended the edges early.
pub(super) fn tell(record: &RunRecord, recording: &Recording, whole: bool, findings: &mut Findings) {
    let bench = &record.bench;
    let reference = seconds::recorded(record, recording);
    let analysis = edge::analyse(record, recording, &reference);
    let session = analysis.sessions.first();
    let rate = session.and_then(|session| session.rate.as_ref());
    let timing = bench.generator.driver.timing();
    match rate {
        Some(rate) if timing.on_gps_grid() => {
            pulse_shape(record, recording, period_ticks(record, Some(rate)), findings);
        }
        _ => {
            let why = match timing {
                EdgeTiming::FreeRunning | EdgeTiming::HostTimed => {
                    findings.not_verifiable(
                        "polarity",
                        "the source's edges have no fixed phase: two trains cannot be compared",
                    );
                    findings.not_verifiable("width", "for the same reason");
                    None
                }
                _ => Some("without the counter's rate captures have no distance"),
            };
            if let Some(why) = why {
                findings.not_checked("polarity", why);
                findings.not_checked("width", why);
            }
        }
    }
    second(record, recording, rate, &reference, findings);
    quantisation(record, recording, &reference, findings);
    counter_rate(bench, session, findings);
    oscillators(bench, recording, whole, findings);
    channels(record, recording, findings);
    cables(bench, findings);
}

/// Ticks from edge to edge, by the measured rate, or the declared one without it.
fn period_ticks(record: &RunRecord, rate: Option<&CounterRate>) -> f64 {
    let hertz = rate.map_or(record.bench.board.counter_hz.0 as f64, |rate| rate.hertz().to_f64());
    hertz * record.plan.period_ns as f64 / 1e9
}

fn figures(of: serde_json::Value) -> Figures {
    match of {
        serde_json::Value::Object(figures) => figures,
        _ => Figures::new(),
    }
}

fn ms(ns: f64) -> String {
    format!("{:.3} ms", ns / 1e6)
}

fn pulse_shape(record: &RunRecord, recording: &Recording, period_ticks: f64, findings: &mut Findings) {
    let counters = |window| -> Vec<u64> {
        preflight::captured(recording, window).into_iter().map(|(_, counter)| counter).collect()
    };
    let (leading, trailing) = (counters(LEADING), counters(TRAILING));
    let commanded = (record.plan.preamble_edges, record.plan.edges);
    let counts = format!(
        "{} captures of {} leading transitions, {} of {} trailing ones",
        leading.len(),
        commanded.0,
        trailing.len(),
        commanded.1
    );
    let (period_ns, width_ns) = (record.plan.period_ns, record.plan.width_ns);
    let Some(shape) = preflight::shape(&leading, &trailing, period_ticks, period_ns, width_ns) else {
        findings.not_checked("polarity", format!("{counts}: both are needed"));
        return findings.not_checked("width", "without captures of both transitions there is none");
    };
    let both = leading.len() > commanded.0 as usize && leading.len() >= 2 * commanded.0 as usize - 1;
    polarity(record, &shape, (&counts, both), findings);
    width(record, &shape, findings);
}

fn polarity(record: &RunRecord, shape: &Shape, (counts, both): (&str, bool), findings: &mut Findings) {
    let told = figures(json!({
        "told_width_ns": record.plan.width_ns,
        "leading_to_trailing_ns": shape.apart_ns.round() as i64,
        "spread_ns": shape.spread_ns.round() as i64,
    }));
    let apart = format!(
        "{} from leading to trailing, told were {}",
        ms(shape.apart_ns),
        ms(record.plan.width_ns as f64)
    );
    // Without a width of its own a GPSDO's pulse is only known to be shorter than the rest of its period.
    let sure = match record.bench.generator.driver.timing() {
        EdgeTiming::OnPulse => Confidence::Certain,
        _ => Confidence::Likely,
    };
    let (state, words) = match shape.polarity {
        _ if both => (
            State::Unwell,
            format!("the board captures both transitions of each pulse: {counts}; does its input bounce?"),
        ),
        Polarity::AsDeclared => {
            (State::Good, format!("the board sees the declared transition: {apart}; {counts}"))
        }
        Polarity::Inverted => (
            State::Unwell,
            format!(
                "inverted on the way: {apart}; {counts}; set `edge` in [generator] to the other transition, or remove the inverter"
            ),
        ),
        Polarity::Unclear => (State::Unwell, format!("unclear: {apart}; {counts}")),
    };
    findings.judged("polarity", (state, sure), words, told);
}

fn width(record: &RunRecord, shape: &Shape, findings: &mut Findings) {
    let apart = match shape.polarity {
        Polarity::Inverted => record.plan.period_ns as f64 - shape.apart_ns,
        Polarity::AsDeclared | Polarity::Unclear => shape.apart_ns,
    };
    let told = figures(json!({
        "told_ns": record.plan.width_ns,
        "captured_ns": apart.round() as i64,
        "spread_ns": shape.spread_ns.round() as i64,
    }));
    let words = format!(
        "told {}, captured {}, captures scatter by {}",
        ms(record.plan.width_ns as f64),
        ms(apart),
        ms(shape.spread_ns)
    );
    let off = (apart - record.plan.width_ns as f64).abs();
    if record.bench.generator.driver.timing() != EdgeTiming::OnPulse {
        return findings.judged("width", (State::Good, Confidence::Likely), words + "; nobody sets it", told);
    }
    let state = match off <= WIDTH_OFF_NS.max(2.0 * shape.spread_ns) {
        true => (State::Good, Confidence::Certain),
        false => (State::Unwell, Confidence::Likely),
    };
    findings.judged("width", state, words, told);
}

fn second(
    record: &RunRecord,
    recording: &Recording,
    rate: Option<&CounterRate>,
    reference: &seconds::Recorded,
    findings: &mut Findings,
) {
    let finding = "second";
    if !record.bench.generator.driver.timing().on_gps_grid() {
        return findings
            .not_verifiable(finding, "the source's edges have nothing to do with the reference's pulse");
    }
    let captures = preflight::captured(recording, LEADING);
    if captures.is_empty() {
        return findings.not_checked(finding, "no edge was captured");
    }
    let pulses = match preflight::labelled(&captures, period_ticks(record, rate), reference) {
        Ok(pulses) => pulses,
        Err(why) => {
            return findings.judged(finding, (State::Unwell, Confidence::Certain), why, Figures::new());
        }
    };
    let lags = preflight::message_lags(recording, &pulses);
    let words: Vec<String> = lags.iter().map(lag_words).collect();
    let told = figures(json!({ "messages": lags.iter().map(lag_figures).collect::<Vec<_>>() }));
    let narrowest = lags.iter().map(|lag| lag.margin_ns).min().unwrap_or(i64::MAX);
    let (state, hint) = match narrowest < NARROW_NS {
        true => (
            (State::Unwell, Confidence::Likely),
            "; too near to ambiguity: send fewer sentences, or at a higher baud rate",
        ),
        false => ((State::Good, Confidence::Certain), ""),
    };
    let every = format!("{} of {} edges have their second by arrival alone; ", pulses.len(), captures.len());
    findings.judged(finding, state, every + &words.join("; ") + hint, told);
}

fn lag_words(lag: &MessageLag) -> String {
    let at = |ns: i64| ns as f64 / 1e6;
    let (side, median) =
        if lag.median_ns < 0 { ("before", -lag.median_ns) } else { ("behind", lag.median_ns) };
    format!(
        "{} {:.0} ms {side} its pulse (spread {:.0} ms), {:.0} ms from ambiguity",
        lag.source.name(),
        at(median),
        at(lag.latest_ns - lag.earliest_ns),
        at(lag.margin_ns)
    )
}

fn lag_figures(lag: &MessageLag) -> serde_json::Value {
    json!({
        "message": lag.source.name(),
        "n": lag.n,
        "median_ns": lag.median_ns,
        "earliest_ns": lag.earliest_ns,
        "latest_ns": lag.latest_ns,
        "margin_ns": lag.margin_ns,
    })
}

fn quantisation(
    record: &RunRecord,
    recording: &Recording,
    reference: &seconds::Recorded,
    findings: &mut Findings,
) {
    let finding = "quantisation errors";
    match sawtooth(record, recording, reference) {
        None => {
            findings.not_verifiable(finding, "the reference states none, or its pulse is a disciplined one's")
        }
        Some(said @ Sawtooth::NotVerifiable(_)) => findings.not_verifiable(finding, said.sentence()),
        Some(said @ (Sawtooth::Verified(fit) | Sawtooth::Contradicted(fit))) => {
            let told =
                figures(json!({ "lag_s": fit.lag, "sign": fit.sign, "variance_left": fit.left, "n": fit.n }));
            let state = if matches!(said, Sawtooth::Verified(_)) { State::Good } else { State::Unwell };
            findings.judged(finding, (state, Confidence::Likely), said.sentence(), told);
        }
    }
}

fn counter_rate(
    bench: &BenchFile,
    session: Option<&crate::analysis::session::Session>,
    findings: &mut Findings,
) {
    let finding = "counter rate";
    let Some(rate) = session.and_then(|session| session.rate.as_ref()) else {
        let why = session
            .and_then(|session| session.without_rate().or(session.reversal.as_deref()).map(str::to_owned));
        let why = why.unwrap_or_else(|| "fewer than two edges could be paired".to_owned());
        return findings.not_checked(finding, why);
    };
    let declared = bench.board.counter_hz;
    let told = figures(json!({
        "hz": rate.hertz().to_f64(),
        "ratio": rate.ratio(declared),
        "u_ppm": rate.u_relative * 1e6,
        "edges": rate.readings,
    }));
    if let Some(refusal) = rate.refusal(declared) {
        return findings.judged(finding, (State::Unusable, Confidence::Certain), refusal, told);
    }
    let u_ppm = rate.u_relative * 1e6;
    let words = format!(
        "{} Hz, ratio {:.6} to what is declared, U {u_ppm:.1} ppm over {} s, by {}",
        rate.hertz(),
        rate.ratio(declared),
        rate.span_s(),
        rate.time_base
    );
    let confidence = if u_ppm <= REFUSAL_PPM { Confidence::Certain } else { Confidence::Likely };
    findings.judged(finding, (State::Good, confidence), words, told);
}

fn oscillators(bench: &BenchFile, recording: &Recording, whole: bool, findings: &mut Findings) {
    let finding = "generator's oscillator";
    match bench.generator.driver {
        GeneratorDriver::Scpi | GeneratorDriver::Keysight33500 | GeneratorDriver::SiglentSdg if whole => findings.judged(
            finding,
            (State::Good, Confidence::Likely),
            "its external 10 MHz input is chosen, and reads back so; whether it is locked to it, it does not say",
            Figures::new(),
        ),
        GeneratorDriver::Scpi | GeneratorDriver::Keysight33500 | GeneratorDriver::SiglentSdg => {
            findings.not_checked(finding, "the edges ended early");
        }
        GeneratorDriver::RigolDg => findings.not_verifiable(
            finding,
            "it may not be told over the port which reference it uses: look at its front panel",
        ),
        driver => findings.not_verifiable(finding, format!("a {} has no such query", driver.name())),
    }
    let finding = "interval counter's oscillator";
    let Some(counter) = &bench.interval_counter else {
        return findings.not_verifiable(finding, "there is no interval counter");
    };
    let lost = recording.interval.iter().any(|event| event.event == IntervalEvent::ReferenceLost);
    match counter.driver {
        _ if lost => findings.unwell(finding, "it says that its 10 MHz is lost; look at the cable"),
        IntervalCounterDriver::Ticc | IntervalCounterDriver::Keysight53230a => findings.judged(
            finding,
            (State::Good, Confidence::Likely),
            "it would say that its 10 MHz is lost, and did not while the edges were fired",
            Figures::new(),
        ),
        driver => findings.not_verifiable(
            finding,
            format!("a {} does not say whether its reference is there", driver.name()),
        ),
    }
}

fn channels(record: &RunRecord, recording: &Recording, findings: &mut Findings) {
    let finding = "interval counter's channels";
    if record.bench.interval_counter.is_none() {
        return;
    }
    let count = |wanted: &dyn Fn(&IntervalEvent) -> bool| {
        recording.interval.iter().filter(|event| wanted(&event.event)).count()
    };
    let on = |channel| {
        count(&move |event| matches!(event, IntervalEvent::Stamp(stamp) if stamp.channel == channel))
    };
    let (a, b) = (on(IntervalChannel::A), on(IntervalChannel::B));
    let intervals = count(&|event| matches!(event, IntervalEvent::Interval(_)));
    let wanted = record.plan.preamble_edges as usize;
    let told = figures(json!({ "channel_a": a, "channel_b": b, "intervals": intervals, "edges": wanted }));
    let wired = if record.bench.wiring.echo { "the board's echo" } else { "the reference's pulse" };
    let words = format!(
        "{a} readings on channel A, {b} on B ({wired}), {intervals} intervals, for {wanted} edges and more"
    );
    let seen = intervals >= wanted / 2 || (a >= wanted / 2 && b >= wanted / 2);
    let (state, words) = match seen {
        true => (State::Good, words),
        false => (State::Unwell, words + "; are the edge and that wired, and do the trigger levels fit?"),
    };
    findings.judged(finding, (state, Confidence::Certain), words, told);
}

fn cables(bench: &BenchFile, findings: &mut Findings) {
    let wiring = &bench.wiring;
    let why = if wiring.echo {
        "the echo's interval holds them together with the board's own time, so they cannot be told apart"
    } else {
        "no instrument is at the board's input"
    };
    findings.not_verifiable(
        "cables",
        format!(
            "declared generator to board {} ps (U {}), generator to counter {} ps (U {}), board to counter {} ps (U {}); {why}: \
             measure each with the interval counter at its end",
            wiring.cable_generator_to_board_ps,
            wiring.cable_generator_to_board_uncertainty_ps,
            wiring.cable_generator_to_counter_ps,
            wiring.cable_generator_to_counter_uncertainty_ps,
            wiring.cable_board_to_counter_ps,
            wiring.cable_board_to_counter_uncertainty_ps
        ),
    );
}
