//! Whether the sessions of two sides took turns, so that each has a neighbour of the other side that shares what drifts.

/// Fewest pairs: fewer have no spread worth the name.
const FEWEST: usize = 3;

/// Neighbours by number in base and new, in order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs {
    /// Numbers in base and new.
    pub list: Vec<(usize, usize)>,
    /// A last session without neighbour.
    pub left_over: bool,
}

/// Pairs the sessions of two sides by their times: interleaved is what falls into neighbours of one session a side each,
/// A B A B as well as A B B A; a run that ended after an A leaves that one over. None where sessions came in blocks, or
/// where a time is not known.
#[must_use]
pub fn pairs(base: &[Option<i128>], new: &[Option<i128>]) -> Option<Pairs> {
    let side = |times: &[Option<i128>], is_new| {
        let timed = times.iter().enumerate().map(|(index, at)| at.map(|at| (at, is_new, index)));
        timed.collect::<Option<Vec<_>>>()
    };
    let mut all = side(base, false)?;
    all.extend(side(new, true)?);
    all.sort_unstable();
    let mut list = Vec::new();
    for pair in all.chunks_exact(2) {
        match (pair[0], pair[1]) {
            ((_, false, base), (_, true, new)) | ((_, true, new), (_, false, base)) => list.push((base, new)),
            _ => return None,
        }
    }
    (list.len() >= FEWEST).then_some(Pairs { list, left_over: all.len() % 2 == 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(all: &str) -> (Vec<Option<i128>>, Vec<Option<i128>>) {
        let of = |side| all.chars().zip(1..).filter(|(c, _)| *c == side).map(|(_, at)| Some(at)).collect();
        (of('A'), of('B'))
    }

    fn paired(all: &str) -> Option<Pairs> {
        let (base, new) = times(all);
        pairs(&base, &new)
    }

    #[test]
    fn turns_are_pairs_in_either_order() {
        for turns in ["ABABAB", "ABBAAB", "BABABA"] {
            let list = vec![(0, 0), (1, 1), (2, 2)];
            assert_eq!(paired(turns), Some(Pairs { list, left_over: false }), "{turns}");
        }
        assert!(paired("ABABABA").unwrap().left_over);
    }

    #[test]
    fn blocks_are_none_and_neither_are_unknown_times_or_two_pairs() {
        for blocks in ["AAABBB", "AABB", "ABAABB", "ABAB", "AAA", ""] {
            assert_eq!(paired(blocks), None, "{blocks}");
        }
        let (mut base, new) = times("ABABAB");
        base[1] = None;
        assert_eq!(pairs(&base, &new), None);
    }

    #[test]
    fn the_order_is_that_of_time_and_not_that_of_the_arguments() {
        let found = pairs(&[Some(50), Some(10), Some(30)], &[Some(20), Some(60), Some(40)]).unwrap();
        assert_eq!(found.list, [(1, 0), (2, 2), (0, 1)]);
    }
}
