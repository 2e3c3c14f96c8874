//! The atomics of this crate. A model run (`--cfg loom`) puts loom's in their place, which try every order that the
//! memory model allows; everything else gets those of `core`.
//!
//! [`unmodelled`] atomics stay those of `core` in a model run too, which keeps the number of orders within reach. A model
//! must leave their values alone: a reader that loom gives an old value of a modelled atomic gets the latest of these.

#[cfg(not(all(test, loom)))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(all(test, loom))]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence},
};

#[cfg(all(test, not(loom)))]
pub(crate) use core::sync::atomic::AtomicBool;

pub(crate) mod unmodelled {
    pub(crate) use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};
}
