//! The pulse of a GPSDO (HP and Symmetricom, Jackson Labs, any other): one a second, on the second, whoever listens. Nobody
//! commands it, and nothing about it can be set or switched off from here.

use std::time::Duration;

use super::running::Running;
use super::{Generator, GeneratorError, PulseTrain};
use crate::bench_file::GeneratorDriver;
use crate::plan::PREAMBLE_PERIOD_NS;

/// A pulse a second that nobody commands.
#[derive(Debug, Default)]
pub(super) struct GpsdoPulse {
    running: Running,
}

impl GpsdoPulse {
    pub(super) fn new() -> Self {
        Self::default()
    }
}

impl Generator for GpsdoPulse {
    fn identity(&self) -> &str {
        "the GPSDO's own pulse, one a second, not commanded"
    }

    fn prepare(&mut self, train: &PulseTrain) -> Result<(), GeneratorError> {
        if train.period_ns != PREAMBLE_PERIOD_NS {
            let reason = "it has one edge a second: give --rate 1".to_owned();
            return Err(GeneratorError::Cannot { driver: GeneratorDriver::GpsdoPulse.name(), reason });
        }
        self.running.prepare(train);
        Ok(())
    }

    fn arm(&mut self) -> Result<(), GeneratorError> {
        self.running.begin();
        Ok(())
    }

    fn complete(&mut self, wait: Duration) -> Result<bool, GeneratorError> {
        Ok(self.running.complete(wait))
    }

    fn make_safe(&mut self) -> Result<(), GeneratorError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_file::EdgeName;

    #[test]
    fn it_has_an_edge_a_second_and_no_other_rate() {
        let mut pulse = GpsdoPulse::new();
        let train = PulseTrain { cycles: 2, period_ns: 500_000_000, width_ns: 1, edge: EdgeName::Rising };
        let error = pulse.prepare(&train).unwrap_err().to_string();
        assert!(error.contains("--rate 1"), "{error}");
        assert!(!pulse.complete(Duration::ZERO).unwrap(), "nothing was begun");
        pulse.prepare(&PulseTrain { cycles: 0, period_ns: 1_000_000_000, ..train }).unwrap();
        pulse.arm().unwrap();
        assert!(pulse.complete(Duration::ZERO).unwrap());
        pulse.make_safe().unwrap();
    }
}
