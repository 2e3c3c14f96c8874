//! What holds for every message and every stream of bytes.

mod common;

use common::{from_board, identity, to_board};
use ppsrig_wire::{
    FromBoard, ToBoard,
    frame::{Accumulator, FrameError, MAX_FRAME, decode, encode},
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

fn frame<M: Serialize>(sequence: u16, message: &M) -> Vec<u8> {
    let mut bytes = [0; MAX_FRAME];
    let length = encode(sequence, message, &mut bytes).expect("every message fits a frame");
    bytes[..length].to_vec()
}

type Piece<M> = Result<(u16, M), FrameError>;

fn receive<M: DeserializeOwned>(bytes: impl IntoIterator<Item = u8>) -> Vec<Piece<M>> {
    let mut accumulator = Accumulator::new();
    bytes.into_iter().filter_map(|byte| accumulator.push(byte, decode::<M>)).collect()
}

fn whole<M: DeserializeOwned>(bytes: impl IntoIterator<Item = u8>) -> Vec<(u16, M)> {
    receive(bytes).into_iter().flatten().collect()
}

/// What can happen to a frame on its way.
#[derive(Clone, Debug)]
enum Damage {
    Flip { at: prop::sample::Index, mask: u8 },
    Cut { at: prop::sample::Index, bytes: usize },
    Insert { at: prop::sample::Index, bytes: Vec<u8> },
    Swap { one: prop::sample::Index, other: prop::sample::Index },
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 1u8..).prop_map(|(at, mask)| Damage::Flip { at, mask }),
        (at(), 1usize..20).prop_map(|(at, bytes)| Damage::Cut { at, bytes }),
        (at(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        (at(), at()).prop_map(|(one, other)| Damage::Swap { one, other }),
    ]
}

impl Damage {
    fn done_to(&self, frame: &mut Vec<u8>) {
        if frame.is_empty() {
            return;
        }
        match self {
            Self::Flip { at, mask } => {
                let at = at.index(frame.len());
                frame[at] ^= mask;
            }
            Self::Cut { at, bytes } => {
                let at = at.index(frame.len());
                frame.drain(at..frame.len().min(at + bytes));
            }
            Self::Insert { at, bytes } => {
                let at = at.index(frame.len());
                frame.splice(at..at, bytes.iter().copied());
            }
            Self::Swap { one, other } => {
                let (one, other) = (one.index(frame.len()), other.index(frame.len()));
                frame.swap(one, other);
            }
        }
    }
}

proptest! {
    #[test]
    fn every_command_comes_back(sequence: u16, message in to_board()) {
        let bytes = frame(sequence, &message);
        prop_assert_eq!(decode::<ToBoard>(&bytes[..bytes.len() - 1]), Ok((sequence, message)));
    }

    #[test]
    fn every_message_of_the_board_comes_back(sequence: u16, message in from_board()) {
        let bytes = frame(sequence, &message);
        prop_assert_eq!(decode::<FromBoard>(&bytes[..bytes.len() - 1]), Ok((sequence, message)));
    }

    #[test]
    fn garbage_never_panics_and_is_no_message(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let as_one_piece: Piece<FromBoard> = decode(&bytes);
        prop_assert!(as_one_piece.is_err());
        prop_assert_eq!(whole::<FromBoard>(bytes.iter().copied()), vec![]);
        prop_assert_eq!(whole::<ToBoard>(bytes), vec![]);
    }

    #[test]
    fn a_body_of_garbage_never_panics(sequence: u16, body in prop::collection::vec(any::<u8>(), 0..200)) {
        // The CRC is right, so that the body reaches postcard.
        let mut content = sequence.to_le_bytes().to_vec();
        content.extend(body);
        let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&content);
        content.extend(crc.to_le_bytes());
        let mut bytes = [0; 2 * MAX_FRAME];
        let length = cobs::encode(&content, &mut bytes);
        match decode::<FromBoard>(&bytes[..length]) {
            Ok((found, _)) | Err(FrameError::Unknown { sequence: found }) => prop_assert_eq!(found, sequence),
            Err(FrameError::Damaged) => prop_assert!(false, "the frame is whole"),
        }
    }

    #[test]
    fn frames_in_a_row_are_all_found(messages in prop::collection::vec(from_board(), 0..10)) {
        let sent: Vec<_> = (0u16..).zip(messages).collect();
        let stream = sent.iter().flat_map(|(sequence, message)| frame(*sequence, message));
        prop_assert_eq!(whole::<FromBoard>(stream), sent);
    }

    #[test]
    fn a_damaged_frame_is_never_another_message(
        message in from_board(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mut bytes = frame(7, &message);
        damages.iter().for_each(|damage| damage.done_to(&mut bytes));
        bytes.push(0);
        for found in whole::<FromBoard>(bytes) {
            prop_assert_eq!(found, (7, message.clone()), "only damage that undid itself may leave the message");
        }
    }

    #[test]
    fn whole_frames_around_damage_are_all_found(
        before in from_board(),
        garbage in prop::collection::vec(any::<u8>(), 0..600),
        after in from_board(),
    ) {
        let mut stream = frame(1, &before);
        stream.extend(garbage);
        stream.push(0);
        stream.extend(frame(2, &after));
        prop_assert_eq!(whole::<FromBoard>(stream), vec![(1, before), (2, after)]);
    }

    #[test]
    fn a_torn_frame_takes_at_most_its_neighbour_with_it(
        messages in prop::collection::vec(from_board(), 3),
        from: prop::sample::Index,
        bytes in 1usize..40,
    ) {
        let frames: Vec<_> = (0u16..).zip(&messages).map(|(sequence, message)| frame(sequence, message)).collect();
        let mut torn = frames[0].clone();
        let from = from.index(torn.len());
        torn.drain(from..torn.len().min(from + bytes));
        let stream = [&torn[..], &frames[1], &frames[2]].concat();
        let found = whole::<FromBoard>(stream);
        prop_assert!(found.contains(&(2, messages[2].clone())));
        prop_assert!(!found.iter().any(|(sequence, _)| *sequence == 0), "the torn frame is not found");
    }
}

#[test]
fn every_single_flipped_bit_is_noticed() {
    let message = ToBoard::StopCapture { window: 300 };
    let good = frame(0x0102, &message);
    for bit in 0..8 * (good.len() - 1) {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(whole::<ToBoard>(bytes), vec![], "bit {bit}");
    }
}

#[test]
fn a_short_frame_is_damaged() {
    for length in 0..6 {
        let mut bytes = [0; 16];
        let encoded = cobs::encode(&[1, 2, 3, 4, 5, 6][..length], &mut bytes);
        assert_eq!(decode::<ToBoard>(&bytes[..encoded]), Err(FrameError::Damaged), "{length} bytes");
    }
}

#[test]
fn an_unknown_variant_names_the_frame_so_that_it_can_be_answered() {
    let bytes = frame(77, &200u8);
    assert_eq!(decode::<ToBoard>(&bytes[..bytes.len() - 1]), Err(FrameError::Unknown { sequence: 77 }));
}

proptest! {
    #[test]
    fn a_grown_identity_is_read_by_an_older_host(identity in identity(), field: u64) {
        let old = FromBoard::Identity(identity);
        let bytes = frame(1, &(&old, field));
        prop_assert_eq!(decode::<FromBoard>(&bytes[..bytes.len() - 1]), Ok((1, old)));
    }
}
