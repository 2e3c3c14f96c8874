//! The atomics of this crate. A model run (`--cfg loom`) puts loom's in their place, which try every order that the
//! memory model allows; everything else gets those of `core`.
//!
//! [`unmodelled`] atomics stay those of `core` in a model run too. They hold what the sequence counter guards beside
//! the modelled fields: with all of them modelled the number of orders would be out of reach, and each is written and
//! read between the same two steps of the sequence counter as a modelled one.

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

pub(crate) mod unmodelled {
    pub(crate) use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};
}
