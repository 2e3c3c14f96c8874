//! The line through the preamble: which counter value belongs to which GPS second.
//!
//! Each capture of the 1 Hz preamble is labelled by its host arrival. A spurious edge gets a label too, and a wrong one, so
//! the line is the one that most labels agree with: within a quarter of a second, each second once.

use super::captures::Captured;
use super::half_ticks::HalfTicks;
use super::seconds::Reference;
use crate::units::{GpsSecond, HostNanos, NS_PER_S};

/// More captures than this are not looked at: a preamble has a handful.
const MAX_CANDIDATES: usize = 48;

/// A slope that departs from the declared rate by no more than this may as well come from one late capture, and the
/// declared rate places edges better. What the rate is worth is measured elsewhere.
const BELIEVED: f64 = 1e-3;
/// Captures of the preamble that agree lie within this of each other, in seconds, but for late ones.
const NEAR_S: f64 = 0.05;

/// Where the counter stood at a GPS second, how fast it runs, and when the host hears of a pulse.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// A labelled second.
    pub second: GpsSecond,
    /// The counter at its pulse, in half ticks, by the labelled edge that was captured soonest.
    pub half_ticks: i128,
    /// Half ticks in a second, as declared, or by the median slope where that is far off; places edges, never published.
    pub half_ticks_per_s: f64,
    /// Host time of the GPS epoch: a record of an edge at GPST `t` arrives at `t` plus this, or later.
    pub host_minus_gps_ns: i128,
    /// The labelled captures: index in the window, and second.
    pub labelled: Vec<(usize, GpsSecond)>,
}

impl Anchor {
    /// GPST in nanoseconds at which the counter had this value, relative to the anchor's second.
    #[must_use]
    pub fn seconds_after(&self, half_ticks: i128) -> f64 {
        (half_ticks - self.half_ticks) as f64 / self.half_ticks_per_s
    }

    /// The line through edges that came `offset_ns` behind their pulses.
    #[must_use]
    pub fn behind_the_pulse(mut self, offset_ns: u32) -> Self {
        let ticks = f64::from(offset_ns) / NS_PER_S as f64 * self.half_ticks_per_s;
        self.half_ticks -= ticks.round() as i128;
        self.host_minus_gps_ns -= i128::from(offset_ns);
        self
    }

    /// The earliest host time at which the host can have heard of an event at this GPST.
    #[must_use]
    pub fn host_time(&self, gpst_ns: i64) -> HostNanos {
        let host = i128::from(gpst_ns) + self.host_minus_gps_ns;
        HostNanos(u64::try_from(host.max(0)).unwrap_or(u64::MAX))
    }
}

struct Candidate {
    index: usize,
    label: GpsSecond,
    half_ticks: i128,
    arrival: HostNanos,
}

/// Finds the line.
///
/// # Errors
/// Why there is none, as a sentence for the ledger.
pub fn anchor(captured: &[Captured], reference: &dyn Reference, declared_hz: u64) -> Result<Anchor, String> {
    let mut refusal = None;
    let mut candidates = Vec::new();
    for (index, capture) in captured.iter().enumerate().take(MAX_CANDIDATES) {
        match reference.label(capture.arrival) {
            Ok(label) => candidates.push(Candidate {
                index,
                label,
                half_ticks: capture.capture.half_ticks(),
                arrival: capture.arrival,
            }),
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    if candidates.is_empty() {
        return Err(refusal.unwrap_or_else(|| "no edge of the preamble was captured".to_owned()));
    }
    let line = agreement(&candidates, 2.0 * declared_hz as f64)?;
    Ok(through(&line, &candidates, 2.0 * declared_hz as f64))
}

/// Indices into `candidates` of the largest set that one line agrees with.
fn agreement(candidates: &[Candidate], declared: f64) -> Result<Vec<usize>, String> {
    let mut best: Vec<usize> = members(candidates, &candidates[0], declared);
    let mut rivals = false;
    for (position, from) in candidates.iter().enumerate() {
        for to in &candidates[position + 1..] {
            let seconds = to.label.0 - from.label.0;
            let step = to.half_ticks - from.half_ticks;
            if seconds <= 0 || step <= 0 {
                continue;
            }
            let set = members(candidates, from, step as f64 / seconds as f64);
            if set.len() > best.len() {
                (best, rivals) = (set, false);
            } else if set.len() == best.len() && set.iter().all(|member| !best.contains(member)) {
                rivals = true;
            }
        }
    }
    if rivals && best.len() > 1 {
        return Err(
            "two labellings of the preamble are possible: as many captures agree with each".to_owned()
        );
    }
    Ok(best)
}

/// The candidates within a quarter of a second of a line, the first of each second.
fn members(candidates: &[Candidate], from: &Candidate, per_second: f64) -> Vec<usize> {
    let mut members: Vec<usize> = Vec::new();
    for (position, candidate) in candidates.iter().enumerate() {
        let seconds = (candidate.label.0 - from.label.0) as f64;
        let off = (candidate.half_ticks - from.half_ticks) as f64 - per_second * seconds;
        let taken = members.iter().any(|&member| candidates[member].label == candidate.label);
        if off.abs() <= per_second / 4.0 && !taken {
            members.push(position);
        }
    }
    members
}

fn through(line: &[usize], candidates: &[Candidate], declared: f64) -> Anchor {
    let first = &candidates[line[0]];
    let mut slopes = Vec::new();
    for (position, &from) in line.iter().enumerate() {
        for &to in &line[position + 1..] {
            let (from, to) = (&candidates[from], &candidates[to]);
            slopes.push((to.half_ticks - from.half_ticks) as f64 / (to.label.0 - from.label.0) as f64);
        }
    }
    let measured = median(&mut slopes).unwrap_or(declared);
    let slope = if (measured / declared - 1.0).abs() <= BELIEVED { declared } else { measured };
    let mut offsets: Vec<f64> = line
        .iter()
        .map(|&member| {
            let candidate = &candidates[member];
            (candidate.half_ticks - first.half_ticks) as f64
                - slope * (candidate.label.0 - first.label.0) as f64
        })
        .collect();
    let arrivals = line.iter().map(|&member| {
        let candidate = &candidates[member];
        i128::from(candidate.arrival.0) - i128::from(candidate.label.0) * i128::from(NS_PER_S)
    });
    Anchor {
        second: first.label,
        half_ticks: first.half_ticks + earliest(&mut offsets, slope * NEAR_S).round() as i128,
        half_ticks_per_s: slope,
        host_minus_gps_ns: arrivals.min().unwrap_or(0),
        labelled: line.iter().map(|&member| (candidates[member].index, candidates[member].label)).collect(),
    }
}

/// The earliest of the offsets that lie near their median: a capture is late and never early, but for a stray edge.
fn earliest(offsets: &mut [f64], near: f64) -> f64 {
    let middle = median(offsets).unwrap_or(0.0);
    offsets.iter().copied().find(|offset| middle - offset <= near).unwrap_or(middle)
}

/// The middle value; the lower one of two. None of nothing.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_captures_do_not_move_the_anchor_and_a_stray_edge_does_not_either() {
        let near = 1_000_000.0;
        assert_eq!(earliest(&mut [90_000.0, 2_000.0, 70_000.0, 85_000.0], near), 2_000.0);
        assert_eq!(earliest(&mut [90_000.0, 2_000.0, 70_000.0, -5_000_000.0], near), 2_000.0);
        assert_eq!(earliest(&mut [], near), 0.0);
    }
}
