//! Statics that are safe to share between the idle loop and the interrupt handler of the first core, and between
//! cores.

use core::{
    cell::{RefCell, UnsafeCell},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
};

use super::cpu;

/// A value of the first core's that is used only while interrupts are masked.
pub(crate) struct IrqCell<T>(RefCell<T>);

// SAFETY: the first core alone uses it, whose idle loop and interrupt handler call it, and `lock` is the only way to
// the RefCell and runs with interrupts masked, so no two uses overlap; a use from within a use is refused by the
// RefCell.
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

// SAFETY: `claim` hands out the value at most once.
unsafe impl<T: Send> Sync for ClaimOnce<T> {}

impl<T> ClaimOnce<T> {
    /// Holds `value`.
    pub(crate) const fn new(value: T) -> Self {
        Self { claimed: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value. Panics if it was claimed before.
    #[expect(clippy::mut_from_ref, reason = "the flag allows it once")]
    pub(crate) fn claim(&'static self) -> &'static mut T {
        assert!(!self.claimed.swap(true, Ordering::Relaxed), "claimed twice");
        // SAFETY: the flag was false, and was set by an atomic exchange, so this line runs once and the reference is
        // the only one.
        unsafe { &mut *self.value.get() }
    }
}

/// A value that one core at a time uses. Interrupt handlers must not: they could wait for the code that they
/// interrupted.
pub(crate) struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `lock` lets one core at a time to the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// Holds `value`.
    pub(crate) const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until no core uses the value, then runs `f` on it. Not to be nested.
    pub(crate) fn lock<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            cpu::relax();
        }
        // SAFETY: the flag was false and is true now, by an atomic exchange, so this core alone gets here until the
        // flag is cleared below. A panic in `f` stops the core with the flag set.
        let result = f(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

/// A reference that is put there once, for the other cores.
pub(crate) struct Published<T: 'static>(AtomicPtr<T>);

impl<T: Sync> Published<T> {
    /// Nothing yet.
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Makes it known.
    pub(crate) fn publish(&self, value: &'static T) {
        self.0.store(ptr::from_ref(value).cast_mut(), Ordering::Release);
    }

    /// What was made known.
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or from `publish`: a shared reference that lives for ever, to what may be shared.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }
}
