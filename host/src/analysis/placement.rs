//! Where each capture stands on the grid of its burst.
//!
//! A burst starts at second `S` and has an edge every period. The counter tells a capture's place, from the anchor and the
//! rate of the preamble; the remaining error of that rate is followed by the median of the last few residuals. `S` is
//! the second whose pulse follows the arming, and the captures have to agree.

use std::collections::VecDeque;

use super::anchor::{Anchor, median};
use super::captures::Captured;
use super::half_ticks::HalfTicks;
use super::window::Arming;
use crate::units::{GpsSecond, NS_PER_S};

/// A record of an edge reaches the host within this, in nanoseconds: so far may the pulse lie before the earliest
/// arrival. A burst that was armed closer than this to a pulse may have started on either side of it.
const ARRIVAL_MARGIN_NS: i128 = 250_000_000;
/// Residuals that the follower looks back on.
const FOLLOWED: usize = 9;

/// Where a capture stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The nearest edge of the grid; may lie before the burst or behind it.
    pub edge: i64,
    /// Distance from that edge, in nanoseconds, once the slow drift is taken off.
    pub residual_ns: f64,
    /// Estimated GPST, in nanoseconds.
    pub gpst_ns: i64,
    /// Whether it belongs to an edge of the burst: within a quarter period.
    pub on_grid: bool,
}

/// A burst whose first second is settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The second of edge 0.
    pub start: GpsSecond,
    /// One for each capture.
    pub places: Vec<Place>,
}

/// Places the captures of one burst.
///
/// # Errors
/// Why the burst's first second is not certain, as a sentence for the ledger.
pub fn place(captured: &[Captured], anchor: &Anchor, arming: &Arming) -> Result<Placement, String> {
    let mut best: Option<(usize, Placement)> = None;
    let mut rival = None;
    let candidates = start_candidates(anchor, arming);
    for start in candidates.clone() {
        let placement = Placement { start, places: places(captured, anchor, arming, start) };
        let hits = placement.places.iter().filter(|place| place.on_grid).count();
        match &best {
            Some((most, _)) if hits < *most => {}
            Some((most, held)) if hits == *most => rival = Some(held.start),
            _ => {
                best = Some((hits, placement));
                rival = None;
            }
        }
    }
    match (best, rival) {
        (Some((_, placement)), None) => Ok(placement),
        (Some(_), Some(_)) | (None, _) => Err(format!(
            "the burst was armed too close to a pulse: it may have started at any of {} seconds, and the captures \
             fit more than one",
            candidates.count()
        )),
    }
}

/// The seconds on whose pulse the burst can have started, by the times of arming.
fn start_candidates(anchor: &Anchor, arming: &Arming) -> impl Iterator<Item = GpsSecond> + Clone {
    let second = i128::from(NS_PER_S);
    let sent = i128::from(arming.sent.0) - anchor.host_minus_gps_ns;
    let acknowledged = i128::from(arming.acknowledged.0) - anchor.host_minus_gps_ns + ARRIVAL_MARGIN_NS;
    let first = -(-sent).div_euclid(second);
    let last = acknowledged.div_euclid(second) + 1;
    // An acknowledgement that came seconds late leaves the choice to the captures; never a hundred.
    (first..=last.min(first + 8)).map(|value| GpsSecond(i64::try_from(value).unwrap_or(0)))
}

fn places(captured: &[Captured], anchor: &Anchor, arming: &Arming, start: GpsSecond) -> Vec<Place> {
    let period = arming.period_ns as f64;
    let origin = (start.0.saturating_sub(anchor.second.0)) as f64 * NS_PER_S as f64;
    let mut follower = Follower::new();
    captured
        .iter()
        .map(|capture| {
            let raw = anchor.seconds_after(capture.capture.half_ticks()) * NS_PER_S as f64 - origin;
            let shifted = raw - follower.offset;
            let edge = (shifted / period).round();
            let residual_ns = shifted - edge * period;
            // Saturates for a counter value that belongs to another world.
            let edge = edge as i64;
            let on_grid = residual_ns.abs() <= period / 4.0 && (0..i64::from(arming.cycles)).contains(&edge);
            if on_grid {
                follower.follow(edge, raw - edge as f64 * period);
            }
            let gpst_ns = start.0.saturating_mul(NS_PER_S).saturating_add(shifted as i64);
            Place { edge, residual_ns, gpst_ns, on_grid }
        })
        .collect()
}

struct Follower {
    last_edge: Option<i64>,
    recent: VecDeque<f64>,
    offset: f64,
}

impl Follower {
    /// Begins with the anchor's word, which a few late captures at the start must not outvote.
    fn new() -> Self {
        Self { last_edge: None, recent: VecDeque::from([0.0; FOLLOWED / 2 + 1]), offset: 0.0 }
    }

    /// Takes the residual of the first capture of an edge; a bounce must not pull.
    fn follow(&mut self, edge: i64, residual: f64) {
        if self.last_edge.replace(edge) == Some(edge) {
            return;
        }
        if self.recent.len() == FOLLOWED {
            self.recent.pop_front();
        }
        self.recent.push_back(residual);
        let mut recent: Vec<f64> = self.recent.iter().copied().collect();
        self.offset = median(&mut recent).unwrap_or(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_captures_at_the_start_do_not_shift_the_grid_and_a_lasting_drift_does() {
        let mut follower = Follower::new();
        for edge in 0..2 {
            follower.follow(edge, 2_400_000.0);
            assert_eq!(follower.offset, 0.0, "after edge {edge}");
        }
        for edge in 2..9 {
            follower.follow(edge, 100_000.0);
        }
        assert_eq!(follower.offset, 100_000.0);
    }
}
