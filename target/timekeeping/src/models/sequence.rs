//! The sequence counter alone.

use loom::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::explore;
use crate::seqcount::{INVALID, SUSPENDED, SeqCount};

struct Pair {
    seq: SeqCount,
    first: AtomicU64,
    second: AtomicU64,
}

impl Pair {
    fn new() -> Arc<Self> {
        Arc::new(Self { seq: SeqCount::new(0), first: AtomicU64::new(0), second: AtomicU64::new(0) })
    }

    fn values(&self) -> (u64, u64) {
        (self.first.load(Ordering::Relaxed), self.second.load(Ordering::Relaxed))
    }

    fn write(&self, value: u64, states: u32) {
        self.seq.write(states, || {
            self.first.store(value, Ordering::Relaxed);
            self.second.store(value, Ordering::Relaxed);
        });
    }

    fn read(&self) -> (u64, u64) {
        loop {
            let seq = self.seq.read_begin();
            let values = self.values();
            if !self.seq.read_retry(seq) {
                return values;
            }
        }
    }
}

fn one_writer_one_reader(read: impl Fn(&Pair) -> Option<(u64, u64)> + Copy + Send + Sync + 'static) {
    explore(4, move || {
        let pair = Pair::new();
        let writer = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                pair.write(1, 0);
                pair.write(2, 0);
            })
        };
        if let Some((first, second)) = read(&pair) {
            assert_eq!(first, second, "a torn pair");
        }
        writer.join().expect("it ends");
        assert_eq!(pair.read(), (2, 2));
    });
}

#[test]
fn loom_a_reader_never_sees_half_a_write() {
    one_writer_one_reader(|pair| Some(pair.read()));
}

#[test]
fn loom_a_reader_that_does_not_wait_never_sees_half_a_write() {
    one_writer_one_reader(|pair| {
        let seq = pair.seq.read_begin_ready()?;
        let values = pair.values();
        if pair.seq.read_retry(seq) { None } else { Some(values) }
    });
}

#[test]
#[should_panic(expected = "a torn pair")]
fn loom_a_reader_that_does_not_look_again_is_found() {
    one_writer_one_reader(|pair| {
        pair.seq.read_begin();
        Some(pair.values())
    });
}

/// On one machine, with one compiler, this may never go wrong: only the model shows it.
#[test]
#[should_panic(expected = "a torn pair")]
fn loom_a_writer_without_its_fence_is_found() {
    explore(4, || {
        let pair = Pair::new();
        let (seq, data) = (Arc::new(AtomicU64::new(0)), Arc::clone(&pair));
        let writer = {
            let seq = Arc::clone(&seq);
            thread::spawn(move || {
                seq.store(1, Ordering::Relaxed);
                data.first.store(1, Ordering::Relaxed);
                data.second.store(1, Ordering::Relaxed);
                seq.store(2, Ordering::Release);
            })
        };
        let begin = seq.load(Ordering::Acquire);
        let (first, second) = pair.values();
        loom::sync::atomic::fence(Ordering::Acquire);
        if begin % 2 == 0 && seq.load(Ordering::Relaxed) == begin {
            assert_eq!(first, second, "a torn pair");
        }
        writer.join().expect("it ends");
    });
}

#[test]
fn loom_states_come_with_the_data_that_was_written_with_them() {
    explore(4, || {
        let pair = Pair::new();
        let writer = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                pair.write(1, SUSPENDED);
                pair.write(2, INVALID);
            })
        };
        loop {
            let seq = pair.seq.read_begin();
            let values = pair.values();
            if !pair.seq.read_retry(seq) {
                let expected = match (seq.suspended(), seq.clock_valid()) {
                    (false, true) => 0,
                    (true, true) => 1,
                    (_, false) => 2,
                };
                assert_eq!(values, (expected, expected));
                break;
            }
        }
        writer.join().expect("it ends");
        assert!(pair.seq.read_begin_ready().is_none());
    });
}
