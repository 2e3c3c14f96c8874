//! Memory of a halted Armv8-A core, moved a block at a time.
//!
//! probe-rs 0.32 moves every word of an Armv8-A core's memory in round trips of its own, two to write it and two to read it
//! back, and loading is spent waiting for them. Here a block of words is one transfer, as probe-rs does it for Armv7-A: with
//! EDSCR.MA each access to a data transfer register is a store or a load (Arm ARM K9, "fast data download" and "upload"), and
//! the access port's banked data registers reach these registers without moving on. Aborts end a block as they do in
//! probe-rs.

use probe_rs::architecture::arm::ap::{ApRegister, BD0, BD1, BD2, BD3, TAR};
use probe_rs::architecture::arm::armv8a::Armv8aError;
use probe_rs::architecture::arm::dp::DpAddress;
use probe_rs::architecture::arm::{ApV2Address, ArmDebugInterface, ArmError, FullyQualifiedApAddress};
use probe_rs::{CoreType, Error, RegisterId, Session};
use probe_rs_target::{ApAddress, CoreAccessOptions};

/// Bytes that one access moves.
const WORD: usize = 4;
/// The registers that the accesses go through: X0 holds the address, X1 the word.
const USED: [RegisterId; 2] = [RegisterId(0), RegisterId(1)];

/// The debug registers fill a page.
const PAGE: u32 = 0x1000;
/// DBGDTRRX_EL0, EDITR, EDSCR and DBGDTRTX_EL0 share the 16 bytes from here on; in this order BD0 to BD3 reach them.
const BANK: u32 = 0x080;
const DBGDTRRX: u64 = BD0::ADDRESS;
const EDITR: u64 = BD1::ADDRESS;
const EDSCR: u64 = BD2::ADDRESS;
const DBGDTRTX: u64 = BD3::ADDRESS;
const EDRCR: u32 = 0x090;

const EDSCR_ERR: u32 = 1 << 6;
const EDSCR_MA: u32 = 1 << 20;
const EDSCR_ITE: u32 = 1 << 24;
const EDSCR_TXFULL: u32 = 1 << 29;
const EDSCR_RXFULL: u32 = 1 << 30;
const EDRCR_CSE: u32 = 1 << 2;

/// `MRS X0, DBGDTR_EL0` and `MSR DBGDTR_EL0, X0`.
const RECEIVE_X0: u32 = 0xD533_0400;
const SEND_X0: u32 = 0xD513_0400;

/// The core takes an instruction in nanoseconds; a probe looks at most a few times.
const LOOKS: usize = 1000;

/// A halted core whose memory is being moved. Blocks are whole words at word-aligned addresses.
pub(super) struct Bulk<'a> {
    interface: &'a mut dyn ArmDebugInterface,
    port: FullyQualifiedApAddress,
    base: u32,
}

/// Gives `act` the memory of the session's first core, which is halted, and the core its registers back afterwards.
pub(super) fn with_bulk<R>(session: &mut Session, act: impl FnOnce(&mut Bulk<'_>) -> R) -> Result<R, Error> {
    let (port, base) = debug_registers(session)?;
    let mut core = session.core(0)?;
    let mut kept = [0_u64; USED.len()];
    for (register, value) in USED.into_iter().zip(&mut kept) {
        *value = core.read_core_reg(register)?;
    }
    drop(core);
    let interface = session.get_arm_interface()?;
    let result = act(&mut Bulk { interface, port, base });
    let mut core = session.core(0)?;
    for (register, value) in USED.into_iter().zip(kept) {
        core.write_core_reg(register, value)?;
    }
    Ok(result)
}

/// The access port and the address of an Armv8-A core's debug registers.
fn debug_registers(session: &Session) -> Result<(FullyQualifiedApAddress, u32), Error> {
    let core = session.target().cores.first().filter(|core| core.core_type == CoreType::Armv8a);
    if let Some(CoreAccessOptions::Arm(options)) = core.map(|core| &core.core_access_options)
        && let Some(base) =
            options.debug_base.and_then(|base| u32::try_from(base).ok()).filter(|base| base % PAGE == 0)
    {
        let dp = options.targetsel.map_or(DpAddress::Default, DpAddress::Multidrop);
        let port = match options.ap {
            ApAddress::V1(port) => FullyQualifiedApAddress::v1_with_dp(dp, port),
            ApAddress::V2(base) => FullyQualifiedApAddress::v2_with_dp(dp, ApV2Address::new(base)),
        };
        return Ok((port, base));
    }
    Err(Error::Other(format!(
        "the first core of {} is not described as one of Armv8-A with a page of debug registers below 4 GiB",
        session.target().name
    )))
}

impl Bulk<'_> {
    /// Writes a block.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let words: Vec<_> =
            bytes.as_chunks::<WORD>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        self.point_at(address)?;
        let moved = self.in_memory_access_mode(|bulk| {
            bulk.interface.write_raw_ap_register_repeated(&bulk.port, DBGDTRRX, &words)
        });
        self.check(moved)
    }

    /// Reads a block.
    pub(super) fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let (chunks, _) = bytes.as_chunks_mut::<WORD>();
        // In front the register's old content, which the first load replaces.
        let mut words = vec![0; chunks.len()];
        self.point_at(address)?;
        self.execute(SEND_X0, EDSCR_TXFULL)?;
        let moved = self.in_memory_access_mode(|bulk| {
            bulk.interface.read_raw_ap_register_repeated(&bulk.port, DBGDTRTX, &mut words)
        });
        // The last one is fetched without loading another, which might lie beyond RAM.
        let last = moved.and_then(|()| self.get(DBGDTRTX));
        words.extend(last.as_ref().ok());
        self.check(last.map(|_| ()))?;
        for (chunk, word) in chunks.iter_mut().zip(&words[1..]) {
            *chunk = word.to_le_bytes();
        }
        Ok(())
    }

    /// Puts the access port in front of the registers, and the address into X0.
    fn point_at(&mut self, address: u64) -> Result<(), Error> {
        self.set(TAR::ADDRESS, self.base + BANK)?;
        self.set(DBGDTRTX, (address >> 32) as u32)?;
        self.set(DBGDTRRX, address as u32)?;
        self.wait_for(EDSCR_RXFULL)?;
        self.execute(RECEIVE_X0, 0)
    }

    fn execute(&mut self, instruction: u32, then: u32) -> Result<(), Error> {
        self.set(EDITR, instruction)?;
        self.wait_for(EDSCR_ITE | then)
    }

    fn wait_for(&mut self, flags: u32) -> Result<(), Error> {
        for _ in 0..LOOKS {
            let status = self.get(EDSCR)?;
            if status & EDSCR_ERR != 0 {
                return self.check(Ok(()));
            }
            if status & flags == flags {
                return Ok(());
            }
        }
        Err(Error::Timeout)
    }

    fn in_memory_access_mode<R>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<R, ArmError>,
    ) -> Result<R, ArmError> {
        let status = self.get(EDSCR)?;
        self.set(EDSCR, status | EDSCR_MA)?;
        let result = act(self);
        let ended = self.set(EDSCR, status & !EDSCR_MA);
        let result = result?;
        ended.map(|()| result)
    }

    /// An abort leaves EDSCR.ERR behind, which is cleared.
    fn check(&mut self, moved: Result<(), ArmError>) -> Result<(), Error> {
        moved?;
        if self.get(EDSCR)? & EDSCR_ERR == 0 {
            return Ok(());
        }
        let mut memory = self.interface.memory_interface(&self.port)?;
        memory.write_word_32(u64::from(self.base + EDRCR), EDRCR_CSE)?;
        Err(Error::Arm(Armv8aError::DataAbort.into()))
    }

    fn get(&mut self, register: u64) -> Result<u32, ArmError> {
        self.interface.read_raw_ap_register(&self.port, register)
    }

    fn set(&mut self, register: u64, value: u32) -> Result<(), ArmError> {
        self.interface.write_raw_ap_register(&self.port, register, value)
    }
}
