//! Stepping a core through what it really executes between two reads of its counter.
//!
//! It works through the debug registers alone, so it shows what hardware executes as well: branches as they were taken,
//! patched instructions as they stand in memory. The image has its interrupts masked there; one that is taken would be
//! stepped through as well.

use std::time::{Duration, Instant};

use probe_rs::MemoryInterface;

use super::load::{Loaded, chain};
use super::{Executed, Stage};

/// How long the core may take to where stepping begins.
const APPROACH_ALLOWED: Duration = Duration::from_secs(60);
/// From one sign of life to the next meanwhile.
const LOOK: Duration = Duration::from_millis(500);
/// More instructions than any snapshot takes.
const MOST: usize = 2000;
/// `MRS Xt, CNTVCT_EL0`, with the register's five bits left out (Arm ARM C6.2.246, D24.10.26).
const READ_COUNTER: u32 = 0xD53B_E040;
const REGISTER: u32 = 0b1_1111;

/// Whether an instruction reads the virtual counter.
#[must_use]
pub const fn is_counter_read(word: u32) -> bool {
    word & !REGISTER == READ_COUNTER
}

impl Loaded<'_> {
    /// Lets a halted core run to `from`, then steps it up to the next read of the counter. It stays halted.
    pub(super) fn trace(&mut self, from: u64) -> Result<Vec<Executed>, String> {
        self.run_to(from)?;
        let mut executed = Vec::new();
        loop {
            (self.progress)(Stage::Step, executed.len() as u64, 0);
            let next = self.next_instruction()?;
            executed.push(next);
            if executed.len() > 1 && is_counter_read(next.word) {
                return Ok(executed);
            }
            if executed.len() > MOST {
                return Err(format!(
                    "{MOST} instructions from {from:#x} on, none reads the counter; is that the caller's read?"
                ));
            }
            *self.operations += 1;
            self.core.step().map_err(|error| {
                format!("cannot step the instruction at {:#x}: {}", next.address, chain(&error))
            })?;
        }
    }

    fn run_to(&mut self, address: u64) -> Result<(), String> {
        let failed = |error| format!("breakpoint at {address:#x}: {}", chain(&error));
        *self.operations += 1;
        self.core.set_hw_breakpoint(address).map_err(failed)?;
        self.start()?;
        let began = Instant::now();
        (self.progress)(Stage::Approach, 0, 0);
        while !self.core.core_halted().map_err(failed)? {
            if began.elapsed() > APPROACH_ALLOWED {
                return Err(format!(
                    "the core did not come to {address:#x} within {} s; does this image take commands from its mailbox?",
                    APPROACH_ALLOWED.as_secs()
                ));
            }
            *self.operations += 1;
            // A time-out only means that it still runs.
            let _runs = self.core.wait_for_core_halted(LOOK);
            (self.progress)(Stage::Approach, 0, 0);
        }
        *self.operations += 2;
        // probe-rs reads registers only of a core whose halt it has seen.
        self.core.status().map_err(failed)?;
        self.core.clear_hw_breakpoint(address).map_err(failed)
    }

    /// The instruction that the core executes next.
    fn next_instruction(&mut self) -> Result<Executed, String> {
        *self.operations += 2;
        let pc = self.core.program_counter().id();
        let address: u64 = self
            .core
            .read_core_reg(pc)
            .map_err(|error| format!("cannot read the program counter: {}", chain(&error)))?;
        let word = self
            .core
            .read_word_32(address)
            .map_err(|error| format!("cannot read the instruction at {address:#x}: {}", chain(&error)))?;
        Ok(Executed { address, word })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_the_counter_are_told_from_other_reads() {
        for register in 0..32 {
            assert!(is_counter_read(0xD53B_E040 | register));
        }
        // CNTPCT_EL0, CNTFRQ_EL0, PMCCNTR_EL0, and a write of the counter's compare value.
        for word in [0xD53B_E020, 0xD53B_E000, 0xD53B_9D00, 0xD51B_E340] {
            assert!(!is_counter_read(word), "{word:#x}");
        }
    }
}
