//! Time tags to an even grid: the distance of two points, and the points that are missing.
//!
//! tau0 is the commonest distance of the first tags: the fullest window of 2 % among them, its mean, rounded to the fewest
//! digits that its uncertainty allows. A tag then has to lie a whole number of tau0 after the one before it, within the
//! tolerance; more than one tau0 is a gap. What is compared with is not the last tag itself but follows the tags with a
//! quarter of their deviation, so that neither the rounding of tags nor a slow drift of a poll adds up.

use super::points::{Points, Value};
use super::row::Tag;
use super::trouble::{Class, Trouble};
use crate::units::PS_PER_S;

/// Tags from which tau0 is taken.
const LOOKED_AT: usize = 65_536;
/// A tau0 of fewer last digits of the tags may be another one that was rounded.
const FEWEST_DIGITS: i128 = 4;
/// So many distances of more than tau0, evenly spread, are no gaps.
const LEAST_JUMPS: usize = 3;
/// The largest gap that is filled with missing points: more is another recording.
const GAP_MAX: i128 = 10_000_000;

/// How exactly tags have to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Tags of readings: within a hundredth of tau0 and two of their last digits.
    Tags,
    /// A daemon's poll, or the readings themselves: within a quarter of tau0. tau0 is a number that people chose.
    Nominal,
    /// The same for polls, whose distances scatter by percents.
    Polls,
}

/// A reading that waits for its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) line: u64,
    pub(super) at: usize,
    pub(super) tag: Tag,
    /// None where the tag is the reading.
    pub(super) value: Option<Value>,
}

/// What the tags of a series said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// tau0 in picoseconds.
    pub(super) tau0: i128,
    /// How far a tag may lie from the grid, in picoseconds.
    pub(super) tolerance: i128,
    /// Points that are missing.
    pub(super) missing: u64,
    /// In how many gaps.
    pub(super) gaps: u64,
    /// The line after the first gap.
    pub(super) first_gap: u64,
    /// One of the tags' last digit, where that is too coarse to tell tau0 by.
    pub(super) coarse: Option<i128>,
    /// From the first to the last tag, in picoseconds, and in tau0.
    pub(super) span: (i128, i128),
}

/// Puts readings in their places.
#[derive(Debug)]
pub(super) struct Grid {
    strictness: Strictness,
    given: Option<i128>,
    /// The largest gap in points.
    widest_gap: i128,
    waiting: Vec<Reading>,
    started: Option<Started>,
}

#[derive(Clone, Copy, Debug)]
struct Started {
    told: Told,
    first: i128,
    last: i128,
    /// Where the last point's tag is expected.
    expected: i128,
    index: i128,
    /// The grid is given and stays where it is; tags are rounded to it.
    rounds: bool,
}

impl Grid {
    /// `most_points` is what a series may have.
    pub(super) fn new(strictness: Strictness, tau0: Option<i128>, most_points: usize) -> Self {
        let widest_gap = i128::try_from(most_points).unwrap_or(GAP_MAX).min(GAP_MAX);
        Self { strictness, given: tau0, widest_gap, waiting: Vec::new(), started: None }
    }

    /// Takes a reading. Those that could not be placed are handed to `refuse`, with their line.
    pub(super) fn take<E>(
        &mut self,
        reading: Reading,
        points: &mut Points,
        refuse: &mut impl FnMut(u64, Trouble) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.started.is_some() {
            return self.place(reading, points).or_else(|trouble| refuse(reading.line, trouble));
        }
        self.waiting.push(reading);
        if self.waiting.len() >= LOOKED_AT { self.start(points, refuse) } else { Ok(()) }
    }

    /// There are no more readings.
    pub(super) fn finish<E>(
        mut self,
        points: &mut Points,
        refuse: &mut impl FnMut(u64, Trouble) -> Result<(), E>,
    ) -> Result<Told, E> {
        if self.started.is_none() {
            self.start(points, refuse)?;
        }
        Ok(self.started.map_or_else(Told::default, |started| Told {
            span: (started.last - started.first, started.index),
            ..started.told
        }))
    }

    fn start<E>(
        &mut self,
        points: &mut Points,
        refuse: &mut impl FnMut(u64, Trouble) -> Result<(), E>,
    ) -> Result<(), E> {
        let waiting = std::mem::take(&mut self.waiting);
        let Some(first) = waiting.first() else { return Ok(()) };
        let resolution = waiting.iter().map(|reading| reading.tag.resolution).min().unwrap_or(1);
        let tau0 =
            self.given.or_else(|| commonest(&waiting, self.strictness, resolution)).unwrap_or(0).max(1);
        let quarter = tau0 / 4;
        // Whole digits of a given grid that is hardly wider than they are: each tag is rounded to its nearest point.
        let rounds = self.strictness == Strictness::Tags
            && self.given.is_some()
            && (resolution..FEWEST_DIGITS * resolution).contains(&tau0);
        let coarse = (self.strictness == Strictness::Tags
            && self.given.is_none()
            && is_coarse(&waiting, tau0, resolution))
        .then_some(resolution);
        let tolerance = match self.strictness {
            Strictness::Tags if rounds => (resolution / 2 + tau0 / 100).min(tau0 / 2),
            Strictness::Tags => (tau0 / 100 + 2 * resolution).min(quarter),
            Strictness::Nominal | Strictness::Polls => quarter,
        };
        let told = Told { tau0, tolerance, coarse, ..Told::default() };
        let at = first.tag.at;
        let expected = if rounds { nearest_on_grid(&waiting, tau0) } else { at };
        self.started = Some(Started { told, first: at, last: at, expected, index: 0, rounds });
        points.push(first.value.unwrap_or(Value { picoseconds: Some(0), seconds: 0.0 }));
        for reading in &waiting[1..] {
            self.place(*reading, points).or_else(|trouble| refuse(reading.line, trouble))?;
        }
        Ok(())
    }

    fn place(&mut self, reading: Reading, points: &mut Points) -> Result<(), Trouble> {
        let Some(started) = &mut self.started else { return Ok(()) };
        let Told { tau0, tolerance, .. } = started.told;
        let at = reading.tag.at;
        let since = at - started.last;
        if since < 0 {
            let what = format!("time goes back by {} s", in_seconds(-since));
            return Err(Trouble::new(reading.at, Class::Backwards, what));
        }
        let distance = at - started.expected;
        // Nearly always the next point of the grid; a division of 128 bits would take longer than all the rest.
        let next = (distance - tau0).abs() <= tolerance;
        let steps = if next { 1 } else { (2 * distance + tau0).div_euclid(2 * tau0) };
        let off = distance - steps * tau0;
        if steps < 1 || off.abs() > tolerance {
            let (since, tau0, tolerance) = (in_seconds(since), in_seconds(tau0), in_seconds(tolerance));
            let what = format!(
                "{since} s after the point before it, which is no whole number of {tau0} s within {tolerance} s; \
                 --tau0 gives another distance"
            );
            return Err(Trouble::new(reading.at, Class::Irregular, what));
        }
        if steps > self.widest_gap {
            let what = format!(
                "{} s after the point before it: {} points of {} s would be missing; split the file there",
                in_seconds(since),
                steps - 1,
                in_seconds(tau0)
            );
            return Err(Trouble::new(reading.at, Class::Irregular, what));
        }
        if steps > 1 {
            let missing = u64::try_from(steps - 1).unwrap_or(0);
            points.push_missing(usize::try_from(missing).unwrap_or(0));
            if started.told.gaps == 0 {
                started.told.first_gap = reading.line;
            }
            started.told.gaps += 1;
            started.told.missing += missing;
        }
        started.expected += steps * tau0 + if started.rounds { 0 } else { off / 4 };
        started.last = at;
        started.index += steps;
        let value =
            reading.value.unwrap_or_else(|| Value::of_picoseconds(at - started.first - started.index * tau0));
        points.push(value);
        Ok(())
    }
}

/// The commonest distance of the tags, rounded; none if no tag is later than another.
fn commonest(readings: &[Reading], strictness: Strictness, resolution: i128) -> Option<i128> {
    let mut distances: Vec<i128> = readings
        .windows(2)
        .map(|pair| pair[1].tag.at.saturating_sub(pair[0].tag.at))
        .filter(|distance| *distance > 0)
        .collect();
    distances.sort_unstable();
    let (mut low, mut best) = (0, 0..0);
    for high in 0..distances.len() {
        // Tags that are rounded differ by one of their last digits; where that is much of the distance, they had better not.
        let widest =
            |least: i128| least + (least / 50).max(if resolution <= least / 8 { resolution } else { 0 });
        while distances[high] > widest(distances[low]) {
            low += 1;
        }
        if high + 1 - low > best.len() {
            best = low..high + 1;
        }
    }
    let window = &distances[best];
    let count = i128::try_from(window.len()).ok().filter(|count| *count > 0)?;
    // Summed as differences from the first, which are small.
    let mean = window[0] + window.iter().map(|distance| distance - window[0]).sum::<i128>() / count;
    // Equal distances are what they are, but for the last digit.
    let equal = window.first() == window.last();
    let uncertain =
        mean / 1_000_000 + if equal { (resolution / 2).min(mean / 10_000) } else { 2 * resolution / count };
    let allowed = match strictness {
        Strictness::Tags => uncertain,
        Strictness::Nominal => uncertain.max(mean / 10_000),
        Strictness::Polls => uncertain.max(mean / 50),
    };
    Some(rounded(mean, allowed))
}

/// Whether the tags may as well be those of a longer tau0 without gaps, rounded to their last digit. Days that are hardly
/// a digit apart are always: nobody takes 0.864 s.
fn is_coarse(readings: &[Reading], tau0: i128, resolution: i128) -> bool {
    if tau0 >= FEWEST_DIGITS * resolution {
        return false;
    }
    let tags: Vec<i128> = readings.iter().map(|reading| reading.tag.at).collect();
    let jumps = tags.windows(2).filter(|pair| pair[1] - pair[0] > tau0).count();
    let (Some(first), Some(last)) = (tags.first(), tags.last()) else { return false };
    let steps = (tags.len() - 1).max(1) as f64;
    if resolution % (86_400) == 0 {
        return jumps > 0;
    }
    if jumps < LEAST_JUMPS {
        return false;
    }
    // A line through the tags that no tag is further from than rounding takes it: slopes that the ends allow are tried.
    let (mean, digit) = ((last - first) as f64 / steps, resolution as f64);
    (-8..=8).any(|eighths| {
        let slope = mean + f64::from(eighths) / 8.0 * digit / steps;
        let off = |(k, tag): (usize, &i128)| (tag - first) as f64 - k as f64 * slope;
        let (least, most) = tags
            .iter()
            .enumerate()
            .map(off)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), off| (least.min(off), most.max(off)));
        most - least < 1.2 * digit
    })
}

/// The point of a grid that the first tag stands for, such that no tag lies further from its point than need be: opposite
/// to the widest gap between the tags' places within tau0.
fn nearest_on_grid(readings: &[Reading], tau0: i128) -> i128 {
    let Some(first) = readings.first() else { return 0 };
    let mut places: Vec<i128> =
        readings.iter().map(|reading| (reading.tag.at - first.tag.at).rem_euclid(tau0)).collect();
    places.sort_unstable();
    let around = places.first().map(|least| least + tau0);
    let after = places.iter().copied().skip(1).chain(around);
    let widest = places.iter().zip(after).max_by_key(|(from, to)| to - *from);
    let middle = widest.map_or(0, |(from, to)| (from + to) / 2 + tau0 / 2).rem_euclid(tau0);
    first.tag.at + if 2 * middle > tau0 { middle - tau0 } else { middle }
}

/// The number with the fewest digits within `allowed` of `value`.
fn rounded(value: i128, allowed: i128) -> i128 {
    let mut unit = 1_i128;
    while unit <= value / 10 {
        unit *= 10;
    }
    loop {
        let near = (value + unit / 2) / unit * unit;
        if near > 0 && (near - value).abs() <= allowed || unit == 1 {
            return near.max(1);
        }
        unit /= 10;
    }
}

/// Picoseconds as a decimal number of seconds without zeros at the end.
pub(super) fn in_seconds(picoseconds: i128) -> String {
    let sign = if picoseconds < 0 { "-" } else { "" };
    let whole = picoseconds.unsigned_abs() / PS_PER_S.unsigned_abs();
    let rest = format!("{:012}", picoseconds.unsigned_abs() % PS_PER_S.unsigned_abs());
    match rest.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        rest => format!("{sign}{whole}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{MISSING_PS, Phase};

    const MS: i128 = PS_PER_S / 1000;

    type Refused = Vec<(u64, Class)>;

    fn placed(
        tags: &[i128],
        strictness: Strictness,
        resolution: i128,
        given: Option<i128>,
    ) -> (Told, Vec<i64>, Refused) {
        let mut grid = Grid::new(strictness, given, 200_000_000);
        let mut points = Points::new(false);
        let mut refused = Refused::new();
        let mut refuse = |line, trouble: Trouble| {
            refused.push((line, trouble.class));
            Ok::<_, ()>(())
        };
        for (index, at) in tags.iter().enumerate() {
            let value = Some(Value { picoseconds: Some(index as i64), seconds: 0.0 });
            let tag = Tag { at: *at, resolution };
            let value = if strictness == Strictness::Nominal { None } else { value };
            grid.take(Reading { line: index as u64 + 1, at: 0, tag, value }, &mut points, &mut refuse)
                .unwrap();
        }
        let told = grid.finish(&mut points, &mut refuse).unwrap();
        let Phase::Picoseconds(values) = points.into_phase() else { panic!("not whole") };
        (told, values, refused)
    }

    #[test]
    fn missing_points_are_counted_and_their_places_kept() {
        let tags = [0, 1, 2, 5, 6].map(|second| second * PS_PER_S);
        let (told, values, refused) = placed(&tags, Strictness::Tags, PS_PER_S, None);
        assert_eq!((told.tau0, told.missing, told.gaps, told.first_gap), (PS_PER_S, 2, 1, 4));
        assert_eq!(values, [0, 1, 2, MISSING_PS, MISSING_PS, 3, 4]);
        assert_eq!(refused, []);
    }

    #[test]
    fn time_that_goes_back_or_leaves_the_grid_is_refused_with_its_line() {
        let tags = [0, 1000, 2000, 1500, 2500, 3000, 3000, 4000].map(|ms| ms * MS);
        let (_, values, refused) = placed(&tags, Strictness::Tags, MS, None);
        assert_eq!(refused, [(4, Class::Backwards), (5, Class::Irregular), (7, Class::Irregular)]);
        assert_eq!(values, [0, 1, 2, 5, 7]);
    }

    #[test]
    fn modified_julian_dates_are_good_for_their_last_digit() {
        for (digits, seconds) in [(9, 1), (6, 1), (9, 30), (5, 10)] {
            let unit = 86_400 * PS_PER_S / 10_i128.pow(digits);
            let tags: Vec<i128> = (0..100_000)
                .filter(|index| index % 1000 != 999)
                .map(|index| {
                    (59_000 * 86_400 * PS_PER_S + index * seconds * PS_PER_S + unit / 2) / unit * unit
                })
                .collect();
            let (told, values, refused) = placed(&tags, Strictness::Tags, unit, None);
            assert_eq!(
                (told.tau0, told.missing, values.len()),
                (seconds * PS_PER_S, 99, 99_999),
                "{digits} {seconds}"
            );
            assert_eq!(refused, []);
        }
    }

    #[test]
    fn stamps_give_their_distance_from_the_nominal_grid() {
        let tags: Vec<i128> = [0, 1, 2, 4].iter().map(|second| second * (PS_PER_S + 22) + 12_345).collect();
        let (told, values, _) = placed(&tags, Strictness::Nominal, 1, None);
        assert_eq!(told.tau0, PS_PER_S);
        assert_eq!(values, [0, 22, 44, MISSING_PS, 88]);
    }

    #[test]
    fn a_poll_may_drift_without_losing_points() {
        // 16 s and a bit each time, with second-wide tags: 1,000 polls drift by 20 s.
        let tags: Vec<i128> = (0..1000_i128).map(|index| index * 16_020 / 1000 * PS_PER_S).collect();
        let (told, values, refused) = placed(&tags, Strictness::Polls, PS_PER_S, None);
        assert_eq!((told.tau0, told.missing, values.len()), (16 * PS_PER_S, 0, 1000));
        assert_eq!(refused, []);
        assert_eq!(told.span, (16_003 * PS_PER_S, 999));
    }

    #[test]
    fn a_gap_of_years_is_not_filled() {
        let tags = [0, 1, 2, 2_000_000_000].map(|second| second * PS_PER_S);
        assert_eq!(placed(&tags, Strictness::Tags, PS_PER_S, None).2, [(4, Class::Irregular)]);
    }

    #[test]
    fn a_given_distance_wins() {
        let tags = [0, 1, 2, 3].map(|second| second * PS_PER_S);
        let (told, values, _) = placed(&tags, Strictness::Tags, PS_PER_S, Some(PS_PER_S / 2));
        assert_eq!((told.missing, values.len()), (3, 7));
    }

    #[test]
    fn tags_too_coarse_for_their_distance_are_no_other_distance() {
        // Modified Julian dates with 5 decimals of a point a second, and whole seconds of a point each 1.1 s.
        for (unit, tau0, from) in [
            (864 * MS, PS_PER_S, 59_000 * 86_400 * PS_PER_S),
            (864 * MS, PS_PER_S, 123_456 * MS),
            (PS_PER_S, 1100 * MS, 0),
            (PS_PER_S, 1100 * MS, 730 * MS),
        ] {
            let unit = if unit == 864 * MS { 86_400 * PS_PER_S / 100_000 } else { unit };
            let tags: Vec<i128> =
                (0..300).map(|index| (from + index * tau0 + unit / 2).div_euclid(unit) * unit).collect();
            assert_eq!(placed(&tags, Strictness::Tags, unit, None).0.coarse, Some(unit));
            let (told, values, refused) = placed(&tags, Strictness::Tags, unit, Some(tau0));
            assert_eq!((told.tau0, told.missing, told.coarse, values.len()), (tau0, 0, None, 300));
            assert_eq!(refused, []);
            let mut gaps = tags;
            gaps.drain(100..120);
            let (told, values, refused) = placed(&gaps, Strictness::Tags, unit, Some(tau0));
            assert_eq!((told.missing, values.len(), refused.len()), (20, 300, 0));
        }
    }

    #[test]
    fn gaps_in_whole_seconds_are_gaps() {
        let tags: Vec<i128> = (0..300)
            .filter(|index| ![17, 40, 41, 200, 222, 223, 290].contains(index))
            .map(|second| second * PS_PER_S)
            .collect();
        let told = placed(&tags, Strictness::Tags, PS_PER_S, None).0;
        assert_eq!((told.tau0, told.missing, told.coarse), (PS_PER_S, 7, None));
    }

    #[test]
    fn seconds_are_written_short() {
        assert_eq!(
            [0, 1, PS_PER_S, -15 * PS_PER_S / 10].map(in_seconds),
            ["0", "0.000000000001", "1", "-1.5"]
        );
    }
}
