//! What a reference sends, from bytes with arrival times to events: NMEA sentences, UBX frames between them, TSIP packets,
//! or the lines of an instrument that answers commands.

use crate::events::{ReferenceEvent, Stamped};
use crate::units::HostNanos;

use super::gpsdo::{Family, GpsdoDecoder};
use super::splitter::{Piece, Speech, Splitter};
use super::{nmea, tsip, ubx};

/// Decodes the bytes that come from a reference.
#[derive(Debug)]
pub struct ReceiverDecoder {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Speaks by itself.
    Stream(Splitter),
    /// Answers commands.
    Answers(GpsdoDecoder),
}

impl ReceiverDecoder {
    /// For a receiver that speaks NMEA only: anything else is refused.
    #[must_use]
    pub const fn nmea() -> Self {
        Self { kind: Kind::Stream(Splitter::new(Speech::Nmea)) }
    }

    /// For a u-blox receiver: UBX frames, and NMEA sentences between them.
    #[must_use]
    pub const fn ubx() -> Self {
        Self { kind: Kind::Stream(Splitter::new(Speech::Ubx)) }
    }

    /// For a Trimble receiver: TSIP packets.
    #[must_use]
    pub const fn tsip() -> Self {
        Self { kind: Kind::Stream(Splitter::new(Speech::Tsip)) }
    }

    /// For an HP 58503A, Z3801A or a kin of theirs: answers to commands.
    #[must_use]
    pub fn hp_scpi() -> Self {
        Self { kind: Kind::Answers(GpsdoDecoder::new(Family::Hp)) }
    }

    /// For a Jackson Labs GPSDO: answers to commands, NMEA sentences and trace lines between them.
    #[must_use]
    pub fn jackson() -> Self {
        Self { kind: Kind::Answers(GpsdoDecoder::new(Family::Jackson)) }
    }

    /// Takes bytes that arrived together, and returns what they completed. An event's time is that of its own last
    /// byte, also where something broken in front of it delayed the decision.
    pub fn push(&mut self, bytes: &[u8], at: HostNanos) -> Vec<Stamped<ReferenceEvent>> {
        let mut events = Vec::new();
        match &mut self.kind {
            Kind::Stream(splitter) => splitter.push(bytes, at, &mut |at, piece| take(at, piece, &mut events)),
            Kind::Answers(decoder) => decoder.push(bytes, at, &mut events),
        }
        events
    }

    /// Takes note of what was sent to the reference: an answer is told by its question.
    pub fn sent(&mut self, bytes: &[u8]) {
        if let Kind::Answers(decoder) = &mut self.kind {
            decoder.sent(bytes);
        }
    }

    /// Whether what was asked last has no answer yet.
    #[must_use]
    pub const fn awaits_answer(&self) -> bool {
        match &self.kind {
            Kind::Stream(_) => false,
            Kind::Answers(decoder) => decoder.asked().is_some(),
        }
    }

    /// The recording is over: what still waited for more bytes is decided.
    pub fn finish(&mut self) -> Vec<Stamped<ReferenceEvent>> {
        let mut events = Vec::new();
        match &mut self.kind {
            Kind::Stream(splitter) => splitter.finish(&mut |at, piece| take(at, piece, &mut events)),
            Kind::Answers(decoder) => decoder.finish(&mut events),
        }
        events
    }
}

fn take(at: HostNanos, piece: Piece<'_>, events: &mut Vec<Stamped<ReferenceEvent>>) {
    let mut say = |event| events.push(Stamped { at, event });
    match piece {
        Piece::Ubx(frame) => ubx::decode(frame, &mut say),
        Piece::Sentence(sentence) => nmea::decode(sentence).into_iter().for_each(say),
        Piece::Tsip(contents) => tsip::decode(contents, &mut say),
        Piece::Garbage { bytes, reason } => say(refused(bytes, reason)),
    }
}

/// Bytes that are nothing.
pub(super) fn refused(bytes: usize, reason: &str) -> ReferenceEvent {
    let plural = if bytes == 1 { "byte" } else { "bytes" };
    ReferenceEvent::Refused { reason: format!("{bytes} {plural}: {reason}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::{TimeMessage, TimeScale, TimeSource, Trust};
    use crate::units::GpsSecond;

    /// TIM-TP of a recorded u-blox M8T.
    const TIM_TP: &[u8] =
        b"\xb5\x62\x0d\x01\x10\x00\x98\x9f\x2d\x0e\x00\x00\x00\x00\x86\x26\x00\x00\x62\x08\x0b\x0f\xc0\x33";
    const TIM_TP_SECOND: GpsSecond = GpsSecond(2146 * 604_800 + 237_889);
    const RMC: &[u8] = b"$GPRMC,005947.00,A,3715.6616,N,12157.6709,W,0.0,0.0,080710,,*2F\r\n";
    /// Another kind of frame, which holds a whole sentence in its payload.
    fn opaque_frame() -> Vec<u8> {
        let mut frame = vec![0xb5, 0x62, 0x04, 0x02];
        frame.extend((RMC.len() as u16).to_le_bytes());
        frame.extend(RMC);
        let (mut a, mut b) = (0_u8, 0_u8);
        for &byte in &frame[2..] {
            a = a.wrapping_add(byte);
            b = b.wrapping_add(a);
        }
        frame.extend([a, b]);
        frame
    }

    fn decoded(bytes: &[u8], read_size: usize) -> Vec<ReferenceEvent> {
        let mut decoder = ReceiverDecoder::ubx();
        let mut events: Vec<_> = bytes
            .chunks(read_size)
            .zip(0..)
            .flat_map(|(read, at)| decoder.push(read, HostNanos(at)))
            .collect();
        events.extend(decoder.finish());
        events.into_iter().map(|stamped| stamped.event).collect()
    }

    fn sources(events: &[ReferenceEvent]) -> Vec<TimeSource> {
        let source = |event: &ReferenceEvent| match event {
            ReferenceEvent::Time(message) => Some(message.source),
            _ => None,
        };
        events.iter().filter_map(source).collect()
    }

    fn refusals(events: &[ReferenceEvent]) -> Vec<&str> {
        let mut reasons = Vec::new();
        for event in events {
            if let ReferenceEvent::Refused { reason } = event {
                reasons.push(reason.as_str());
            }
        }
        reasons
    }

    #[test]
    fn sentences_between_frames_are_found_at_every_read_size() {
        let bytes = [TIM_TP, RMC, &opaque_frame(), TIM_TP, RMC].concat();
        let tp = TimeMessage {
            source: TimeSource::UbxTimTp,
            second: TIM_TP_SECOND,
            trust: Trust::Locked,
            qerr_ps: Some(9862),
            scale: TimeScale::Utc,
        };
        for read_size in [1, 2, 3, 7, 64, 1000] {
            let events = decoded(&bytes, read_size);
            assert_eq!(events.len(), 4, "{events:?}");
            assert_eq!(events[0], ReferenceEvent::Time(tp));
            assert_eq!(sources(&events)[1], TimeSource::NmeaRmc);
        }
    }

    #[test]
    fn an_event_has_the_time_of_its_own_last_byte() {
        // A broken length holds two good frames back until it is found out.
        let mut broken = TIM_TP.to_vec();
        broken[4] = 48;
        let mut decoder = ReceiverDecoder::ubx();
        let mut events = decoder.push(&broken, HostNanos(1));
        events.extend(decoder.push(TIM_TP, HostNanos(2)));
        assert!(events.is_empty());
        events.extend(decoder.push(RMC, HostNanos(3)));
        let times: Vec<_> = events.iter().map(|stamped| stamped.at.0).collect();
        assert_eq!(times, [1, 2, 3]);
        assert!(matches!(events[0].event, ReferenceEvent::Refused { .. }));
    }

    #[test]
    fn a_corrupted_length_swallows_at_most_its_own_frame() {
        for length in 0..=u16::MAX {
            if length == 16 || length % 97 != 0 && length > 300 {
                continue;
            }
            let mut broken = TIM_TP.to_vec();
            broken[4..6].copy_from_slice(&length.to_le_bytes());
            let bytes = [&broken[..], TIM_TP, RMC, TIM_TP].concat();
            let events = decoded(&bytes, 64);
            let expected = [TimeSource::UbxTimTp, TimeSource::NmeaRmc, TimeSource::UbxTimTp];
            assert_eq!(sources(&events), expected, "length {length}");
            assert_eq!(refusals(&events).len(), 1, "length {length}: {events:?}");
        }
    }

    #[test]
    fn half_a_frame_and_half_a_sentence_are_refused() {
        for cut in 1..TIM_TP.len() {
            let events = decoded(&[&TIM_TP[..cut], RMC].concat(), 5);
            assert_eq!(sources(&events), [TimeSource::NmeaRmc], "cut at {cut}");
            assert_eq!(refusals(&events).len(), 1, "cut at {cut}: {events:?}");
            let events = decoded(&[RMC, &TIM_TP[..cut]].concat(), 5);
            assert_eq!((sources(&events).len(), refusals(&events).len()), (1, 1), "cut at {cut}: {events:?}");
        }
        assert_eq!(refusals(&decoded(&RMC[..20], 5)), ["20 bytes: the recording ends inside a sentence"]);
        let events = decoded(&[&RMC[..20], RMC].concat(), 5);
        assert_eq!(
            (sources(&events).len(), refusals(&events)),
            (1, vec!["20 bytes: a sentence that was cut short"])
        );
        assert!(decoded(b"", 1).is_empty());
        assert!(decoded(b"\r\n\r\n", 1).is_empty());
    }

    #[test]
    fn a_wrong_baud_rate_is_reported_in_portions_before_the_end() {
        let mut decoder = ReceiverDecoder::ubx();
        let events = decoder.push(&[0xe6; 3000], HostNanos(9));
        let portion = ReferenceEvent::Refused { reason: "1024 bytes: neither UBX nor NMEA".to_owned() };
        assert_eq!(events, vec![Stamped { at: HostNanos(9), event: portion }; 2]);
        assert_eq!(decoder.finish().len(), 1);
    }

    #[test]
    fn a_receiver_of_nmea_only_is_not_asked_for_frames() {
        let mut decoder = ReceiverDecoder::nmea();
        let events = decoder.push(&[&[0xb5, 0x62], RMC].concat(), HostNanos(0));
        let events: Vec<_> = events.into_iter().map(|stamped| stamped.event).collect();
        assert_eq!(refusals(&events), ["2 bytes: neither UBX nor NMEA"]);
        assert_eq!(sources(&events), [TimeSource::NmeaRmc]);
    }

    fn garbage() -> impl Strategy<Value = Vec<u8>> {
        let byte =
            prop_oneof![4 => any::<u8>(), 1 => Just(b'$'), 1 => Just(0xb5), 1 => Just(0x62), 1 => 0..40_u8];
        prop::collection::vec(byte, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn all_that_is_intact_is_found_and_nothing_else(
            pieces in prop::collection::vec((garbage(), any::<bool>()), 1..8),
            read_size in 1..100_usize,
        ) {
            let mut bytes = Vec::new();
            let mut expected = Vec::new();
            for (garbage, ubx) in &pieces {
                bytes.extend(garbage);
                bytes.extend(if *ubx { TIM_TP } else { RMC });
                expected.push(if *ubx { TimeSource::UbxTimTp } else { TimeSource::NmeaRmc });
            }
            let events = decoded(&bytes, read_size);
            prop_assert_eq!(sources(&events), expected);
            prop_assert_eq!(decoded(&bytes, 1), events);
        }

        #[test]
        fn any_bytes_give_the_same_events_at_any_read_size(
            bytes in prop::collection::vec(garbage(), 0..60),
            read_size in 2..100_usize,
        ) {
            let bytes = bytes.concat();
            prop_assert_eq!(decoded(&bytes, read_size), decoded(&bytes, 1));
        }
    }
}
