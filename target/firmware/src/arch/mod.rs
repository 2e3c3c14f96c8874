//! What is the same on every Armv8-A core: boot, vectors, counter, and the few cells that make sharing with an
//! interrupt handler safe.
#![expect(unsafe_code, reason = "boot, system registers and device memory are outside the language")]

mod boot;
mod cell;
mod clock;
pub(crate) mod cores;
pub(crate) mod counter;
pub(crate) mod cpu;
pub(crate) mod dither;
pub(crate) mod image;
mod mmio;
mod mmu;
pub(crate) mod pair;
pub(crate) mod pmu;
pub(crate) mod psci;
pub(crate) mod timer;
mod vectors;

pub(crate) use cell::{ClaimOnce, IrqCell};
pub(crate) use clock::ArmArchCounter;
pub(crate) use mmio::Mmio;
