//! The best instructions of the machine, chosen while the program runs.
//!
//! A kernel is written once, over eight lanes of a [`Machine`], and compiled for each. No operation is fused or reordered,
//! so all of them give the same bits, which the tests hold them to. `pulp` proves by a token that the machine has the
//! instructions, so nothing here is unsafe.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
mod point;
#[cfg(test)]
mod tests;

use pulp::NullaryFnOnce;

use self::plain::Plain;
pub(super) use self::point::Point;

/// Values that are computed with at once.
pub(super) const LANES: usize = 8;

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// What every machine of its kind has.
    Scalar,
    /// AArch64: two lanes of 64 bits.
    Neon,
    /// x86-64: four lanes of 64 bits.
    Avx2,
    /// x86-64: eight lanes of 64 bits.
    Avx512,
}

impl Instructions {
    /// All of them, the best last.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The best that this machine has.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|one| one.available()).unwrap_or(Self::Scalar)
    }

    /// Whether this machine has them.
    #[must_use]
    pub fn available(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => pulp::x86::V3::is_available(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => pulp::x86::V4::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Computes with these instructions; with those of every machine, where this one lacks them.
    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            Self::Avx512 => {
                if let Some(machine) = pulp::x86::V4::try_new() {
                    return machine.vectorize(Call { work, machine });
                }
            }
            Self::Avx2 => {
                if let Some(machine) = pulp::x86::V3::try_new() {
                    return machine.vectorize(Call { work, machine });
                }
            }
            Self::Scalar | Self::Neon => {}
        }
        #[cfg(target_arch = "aarch64")]
        if self == Self::Neon
            && let Some(machine) = pulp::aarch64::Neon::try_new()
        {
            return machine.vectorize(Call { work, machine });
        }
        work.call(Plain)
    }
}

/// Something to be computed. `call` has to be inlined whole (`#[inline(always)]`, and so all that it calls): what is not
/// inlined is compiled for every machine.
pub(super) trait Work {
    /// What comes of it.
    type Output;
    /// Computes it.
    fn call<M: Machine>(self, machine: M) -> Self::Output;
}

/// A [`Work`] in the form that is dispatched.
struct Call<W, M> {
    work: W,
    machine: M,
}

impl<W: Work, M: Machine> NullaryFnOnce for Call<W, M> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.work.call(self.machine)
    }
}

/// Eight lanes of f64 and of i64, and what is done with them. Integers wrap. `greater` and `less` are those of
/// [`Point::greater`] and [`Point::less`].
pub(super) trait Machine: Copy {
    /// Eight f64.
    type Floats: Copy;
    /// Eight i64.
    type Integers: Copy;

    fn floats(self, values: [f64; LANES]) -> Self::Floats;
    fn to_array(self, values: Self::Floats) -> [f64; LANES];
    fn add(self, left: Self::Floats, right: Self::Floats) -> Self::Floats;
    fn subtract(self, left: Self::Floats, right: Self::Floats) -> Self::Floats;
    fn multiply(self, left: Self::Floats, right: Self::Floats) -> Self::Floats;
    fn greater(self, left: Self::Floats, right: Self::Floats) -> Self::Floats;
    fn less(self, left: Self::Floats, right: Self::Floats) -> Self::Floats;

    fn integers(self, values: [i64; LANES]) -> Self::Integers;
    fn to_integer_array(self, values: Self::Integers) -> [i64; LANES];
    fn add_integers(self, left: Self::Integers, right: Self::Integers) -> Self::Integers;
    fn subtract_integers(self, left: Self::Integers, right: Self::Integers) -> Self::Integers;
    fn greater_integers(self, left: Self::Integers, right: Self::Integers) -> Self::Integers;
    fn less_integers(self, left: Self::Integers, right: Self::Integers) -> Self::Integers;
    fn convert(self, values: Self::Integers) -> Self::Floats;
    fn bits(self, values: Self::Floats) -> Self::Integers;
}
