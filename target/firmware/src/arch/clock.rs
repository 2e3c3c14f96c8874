//! What timekeeping needs of the core: CNTVCT_EL0 read in place, the patched branch that selects it, and the pointer
//! to the clocksource in use.
//!
//! The branch is the kernel's jump label: each site is one instruction, `b off` while disabled and `nop` while
//! enabled, and a table of the sites lies between two symbols of the linker script (`.static_branches`).

use core::{
    arch::asm,
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use ppsrig_timekeeping::{Arch, Clocksource, ClocksourceCell, StaticBranch};

use super::counter;

/// An Armv8-A core with its arch counter.
pub(crate) struct ArmArchCounter;

impl Arch for ArmArchCounter {
    type ReadInlined = ReadInlined;
    type Clock = ClocksourcePointer;

    #[inline(always)]
    fn arch_inlined_clocksource_read() -> u64 {
        read_before_loads()
    }
}

impl ArmArchCounter {
    /// The same through a pointer.
    pub(crate) fn read(_: &Clocksource) -> u64 {
        read_before_loads()
    }
}

/// The counter now, read before any load that follows: else the look back at the sequence counter could be done before
/// the counter is read, and not see the writer. A counter read is no memory access that a barrier would order, so a load
/// is made to depend on its value, which the barrier in the look back orders.
#[inline(always)]
fn read_before_loads() -> u64 {
    #[cfg(feature = "one-more")]
    // SAFETY: does nothing.
    unsafe {
        asm!("nop", options(nomem, nostack, preserves_flags));
    }
    let ticks = counter::now();
    // SAFETY: loads the word at the stack pointer, and drops it.
    unsafe {
        asm!(
            "eor {zero}, {ticks}, {ticks}",
            "ldr xzr, [sp, {zero}]",
            ticks = in(reg) ticks,
            zero = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
    ticks
}

/// The branch that selects the inlined read. There is one, in the text.
pub(crate) struct ReadInlined;

/// A place where [`ReadInlined::likely`] was compiled in.
#[repr(C)]
struct Site {
    instruction: usize,
    off: usize,
}

unsafe extern "C" {
    static __static_branches_start: [Site; 0];
    static __static_branches_end: [Site; 0];
}

const NOP: u32 = 0xd503_201f;

impl StaticBranch for ReadInlined {
    fn disabled() -> Self {
        Self.disable();
        Self
    }

    #[inline(always)]
    fn likely(&self) -> bool {
        // SAFETY: goes on, or to the label; registers and memory stay as they are. The table's entry names the
        // instruction by its address.
        unsafe {
            asm!(
                "2: b {off}",
                ".pushsection .static_branches, \"a\"",
                ".balign 8",
                ".quad 2b, {off}",
                ".popsection",
                off = label { return false },
                options(nomem, nostack, preserves_flags),
            );
        }
        true
    }

    fn enable(&self) {
        patch(|_| NOP);
    }

    fn disable(&self) {
        patch(|site| 0x1400_0000 | (((site.off.wrapping_sub(site.instruction) >> 2) as u32) & 0x03ff_ffff));
    }
}

/// Writes an instruction to every site. Another core may go on with the old one until its next context
/// synchronisation: timekeeping allows for that.
fn patch(instruction: impl Fn(&Site) -> u32) {
    let (mut site, end) = (&raw const __static_branches_start, &raw const __static_branches_end);
    while site.cast::<Site>() < end.cast::<Site>() {
        // SAFETY: the linker script puts both symbols around whole entries, which nothing writes.
        let entry = unsafe { &*site.cast::<Site>() };
        let place: *mut u32 = ptr::with_exposed_provenance_mut(entry.instruction);
        // SAFETY: the entry names an instruction of our own text, which is mapped writable; B and NOP are among the
        // instructions that may be exchanged while another core executes them (Arm ARM, "Concurrent modification and
        // execution of instructions"). The cache maintenance makes it visible to instruction fetches.
        unsafe {
            place.write_volatile(instruction(entry));
            asm!(
                "dc cvau, {place}", "dsb ish", "ic ivau, {place}", "dsb ish", "isb",
                place = in(reg) place, options(nostack, preserves_flags),
            );
        }
        site = site.cast::<Site>().wrapping_add(1).cast();
    }
}

/// A pointer to a clocksource, always a valid one.
pub(crate) struct ClocksourcePointer(AtomicPtr<Clocksource>);

impl ClocksourceCell for ClocksourcePointer {
    fn new(clock: &'static Clocksource) -> Self {
        Self(AtomicPtr::new(ptr::from_ref(clock).cast_mut()))
    }

    #[inline(always)]
    fn load(&self) -> &'static Clocksource {
        // SAFETY: only `new` and `store` write the pointer, both from a shared reference that lives for ever.
        unsafe { &*self.0.load(Ordering::Relaxed) }
    }

    fn store(&self, clock: &'static Clocksource) {
        self.0.store(ptr::from_ref(clock).cast_mut(), Ordering::Relaxed);
    }
}
