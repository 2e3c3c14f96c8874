//! UBX NAV-SAT, MON-HW and MON-RF: satellites in use, and the antenna.
//!
//! No satellite in use refuses a reference. An antenna that is reported open or shorted is worth a note and no more:
//! behind a splitter receivers report it of antennas that work.

use super::nav::{refuse, state};
use super::{Say, u8_at};
use crate::events::{StateSource, Trust};

/// NAV-SAT.
pub(super) fn satellites(body: &[u8], say: Say<'_>) {
    if body.len() < 8 || body.len() != 8 + 12 * usize::from(u8_at(body, 5)) {
        return refuse(say, "NAV-SAT: its length does not fit its count of satellites");
    }
    let used = body[8..].chunks_exact(12).filter(|satellite| satellite[8] & 1 << 3 != 0).count();
    if used == 0 {
        let words = "no satellite is in use".to_owned();
        state(StateSource::UbxNavSat, Trust::Unlocked, None, words, say);
    }
}

/// MON-HW.
pub(super) fn hardware(body: &[u8], say: Say<'_>) {
    if body.len() < 60 {
        return refuse(say, "MON-HW: shorter than 60 bytes");
    }
    antenna(u8_at(body, 20), say);
}

/// MON-RF: a block for each band.
pub(super) fn bands(body: &[u8], say: Say<'_>) {
    if body.len() < 4 || body.len() != 4 + 24 * usize::from(u8_at(body, 1)) {
        return refuse(say, "MON-RF: its length does not fit its count of blocks");
    }
    body[4..].chunks_exact(24).for_each(|block| antenna(u8_at(block, 2), say));
}

fn antenna(status: u8, say: Say<'_>) {
    let words = match status {
        3 => "its antenna is shorted",
        4 => "its antenna is open",
        _ => return,
    };
    state(StateSource::UbxMon, Trust::NotStated, None, words.to_owned(), say);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{frame, said};
    use super::*;
    use crate::events::ReferenceEvent;

    fn words<'e>(events: &'e [ReferenceEvent]) -> Vec<(&'e str, Trust)> {
        let of = |event: &'e ReferenceEvent| match event {
            ReferenceEvent::State(state) => Some((state.words.as_str(), state.trust)),
            _ => None,
        };
        events.iter().filter_map(of).collect()
    }

    #[test]
    fn no_satellite_in_use_is_no_lock() {
        let sky = |used: u8| {
            let mut body = vec![0, 0, 0, 0, 1, 2, 0, 0];
            body.extend([0; 24]);
            body[16] = used << 3;
            frame(1, 0x35, &body)
        };
        assert!(said(&sky(1)).is_empty());
        assert_eq!(words(&said(&sky(0))), [("no satellite is in use", Trust::Unlocked)]);
    }

    #[test]
    fn an_open_antenna_is_a_note() {
        let hardware = |status: u8| {
            let mut body = vec![0; 60];
            body[20] = status;
            frame(0x0a, 0x09, &body)
        };
        assert!(said(&hardware(2)).is_empty());
        assert_eq!(words(&said(&hardware(4))), [("its antenna is open", Trust::NotStated)]);
        let mut body = vec![0, 2, 0, 0];
        body.extend([0; 48]);
        body[4 + 24 + 2] = 3;
        assert_eq!(words(&said(&frame(0x0a, 0x38, &body))), [("its antenna is shorted", Trust::NotStated)]);
    }

    #[test]
    fn a_count_that_does_not_fit_is_refused() {
        for (class, id, length) in
            [(1, 0x35, 7), (1, 0x35, 21), (0x0a, 0x09, 59), (0x0a, 0x38, 3), (0x0a, 0x38, 10)]
        {
            let events = said(&frame(class, id, &vec![1; length]));
            assert!(matches!(&events[..], [ReferenceEvent::Refused { .. }]), "{id:#x} {length}");
        }
    }
}
