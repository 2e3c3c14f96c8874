//! Statics that are safe to share between the idle loop and the interrupt handler of one core.

use core::{
    cell::{RefCell, UnsafeCell},
    sync::atomic::{AtomicBool, Ordering},
};

use super::cpu;

/// A value that is used only while interrupts are masked.
pub(crate) struct IrqCell<T>(RefCell<T>);

// SAFETY: there is one core, and `lock` is the only way to the RefCell and runs with interrupts masked, so no two uses
// overlap; a use from within a use is refused by the RefCell.
unsafe impl<T: Send> Sync for IrqCell<T> {}

impl<T> IrqCell<T> {
    /// Holds `value`.
    pub(crate) const fn new(value: T) -> Self {
        Self(RefCell::new(value))
    }

    /// Runs `f` on the value with interrupts masked, and leaves the mask as it was found.
    pub(crate) fn lock<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let mask = cpu::mask_interrupts();
        let result = f(&mut self.0.borrow_mut());
        cpu::restore_interrupts(mask);
        result
    }
}

/// A value that is handed out for ever, once.
pub(crate) struct ClaimOnce<T> {
    claimed: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `claim` hands out the value at most once, to the only core.
unsafe impl<T: Send> Sync for ClaimOnce<T> {}

impl<T> ClaimOnce<T> {
    /// Holds `value`.
    pub(crate) const fn new(value: T) -> Self {
        Self { claimed: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value. Panics if it was claimed before.
    #[expect(clippy::mut_from_ref, reason = "the flag allows it once")]
    pub(crate) fn claim(&'static self) -> &'static mut T {
        let mask = cpu::mask_interrupts();
        let claimed = self.claimed.load(Ordering::Relaxed);
        self.claimed.store(true, Ordering::Relaxed);
        cpu::restore_interrupts(mask);
        assert!(!claimed, "claimed twice");
        // SAFETY: the flag was false, and was set with interrupts masked on the only core, so this line runs once and
        // the reference is the only one.
        unsafe { &mut *self.value.get() }
    }
}
