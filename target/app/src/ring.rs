//! The ring of capture records between the place where an edge is seen and the idle loop.
//!
//! One writer, one reader, no lock: the reader never delays the interrupt handler. Plain loads and stores are enough
//! for that.

use core::sync::atomic::{AtomicU32, Ordering};

use heapless::spsc::{Consumer, Producer, Queue};
use ppsrig_wire::Capture;

/// Records that the ring holds: five seconds of edges at 100 a second while the link stands still.
pub const RING_RECORDS: usize = 511;

/// The ring and its counts.
#[derive(Debug)]
pub struct CaptureRing {
    /// One place of the queue always stays empty.
    queue: Queue<Capture, { RING_RECORDS + 1 }>,
    counts: Counts,
}

/// Written by the writer only.
#[derive(Debug)]
struct Counts {
    captured: AtomicU32,
    dropped: AtomicU32,
}

impl CaptureRing {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            queue: Queue::new(),
            counts: Counts { captured: AtomicU32::new(0), dropped: AtomicU32::new(0) },
        }
    }

    /// The two ends.
    pub fn split(&mut self) -> (CaptureWriter<'_>, CaptureReader<'_>) {
        let (producer, consumer) = self.queue.split();
        (CaptureWriter { producer, counts: &self.counts }, CaptureReader { consumer, counts: &self.counts })
    }
}

impl Default for CaptureRing {
    fn default() -> Self {
        Self::new()
    }
}

/// The end that records are put into.
pub struct CaptureWriter<'a> {
    producer: Producer<'a, Capture>,
    counts: &'a Counts,
}

impl CaptureWriter<'_> {
    /// Begins to count from 0.
    pub(crate) fn restart(&mut self) {
        self.counts.captured.store(0, Ordering::Relaxed);
        self.counts.dropped.store(0, Ordering::Relaxed);
    }

    /// Captures so far, which is the next capture's number.
    #[must_use]
    pub(crate) fn captured(&self) -> u32 {
        self.counts.captured.load(Ordering::Relaxed)
    }

    /// Puts a record in and counts it, as dropped if the ring is full.
    pub(crate) fn put(&mut self, capture: Capture) {
        if self.producer.enqueue(capture).is_err() {
            let dropped = self.counts.dropped.load(Ordering::Relaxed);
            self.counts.dropped.store(dropped.wrapping_add(1), Ordering::Release);
        }
        self.counts.captured.store(self.captured().wrapping_add(1), Ordering::Release);
    }
}

/// The end that records are taken from.
pub struct CaptureReader<'a> {
    consumer: Consumer<'a, Capture>,
    counts: &'a Counts,
}

impl CaptureReader<'_> {
    /// Takes the oldest record.
    pub fn take(&mut self) -> Option<Capture> {
        self.consumer.dequeue()
    }

    /// Captures of the window so far and how many of them were dropped: never more dropped than captured.
    #[must_use]
    pub fn counts(&self) -> (u32, u32) {
        // Dropped is read first: a capture between the two reads can then only add to the other figure.
        let dropped = self.counts.dropped.load(Ordering::Acquire);
        (self.counts.captured.load(Ordering::Acquire), dropped)
    }
}
