//! Models of what several cores do at once, run in every order that the memory model allows (loom).
//!
//! Run by `just loom`. Each model is small: two or three threads, one or two calls each, at most three preemptions in
//! an order; what is tried is all that is within that bound. Models whose name ends in `is_found` run the same checks
//! on something broken, and must fail.

mod clocks;
mod machine;
mod sequence;
mod stamps;

/// Runs a model in every order with at most `preemptions`.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
