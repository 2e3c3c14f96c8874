//! Every set of instructions that this machine has does what arrays do, to the bit.

use super::{Instructions, LANES, Machine, Work};

/// All operations on some numbers.
struct Everything([f64; LANES], [f64; LANES], [i64; LANES], [i64; LANES]);

impl Work for Everything {
    type Output = (Vec<[u64; LANES]>, Vec<[i64; LANES]>);

    #[inline(always)]
    fn call<M: Machine>(self, machine: M) -> Self::Output {
        let (a, b) = (machine.floats(self.0), machine.floats(self.1));
        let (c, d) = (machine.integers(self.2), machine.integers(self.3));
        let floats = [
            machine.add(a, b),
            machine.subtract(a, b),
            machine.multiply(a, b),
            machine.greater(a, b),
            machine.less(a, b),
            machine.convert(c),
            machine.convert(d),
        ];
        let integers = [
            machine.add_integers(c, d),
            machine.subtract_integers(c, d),
            machine.greater_integers(c, d),
            machine.less_integers(c, d),
            machine.bits(a),
        ];
        let bits = floats.map(|values| machine.to_array(values).map(f64::to_bits));
        (bits.to_vec(), integers.map(|values| machine.to_integer_array(values)).to_vec())
    }
}

#[test]
fn all_instructions_of_the_machine_give_the_same_bits() {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as i64 ^ (state << 40) as i64
    };
    let odd = [0, 1, -1, i64::MAX, i64::MIN, i64::MIN + 1, (1 << 53) + 1, -(1 << 62)];
    for round in 0..200 {
        let mut integers: [i64; LANES] = std::array::from_fn(|_| next() >> (round % 60));
        let others: [i64; LANES] = if round == 0 { odd } else { std::array::from_fn(|_| next()) };
        if round == 1 {
            integers = odd;
        }
        let floats = integers.map(|value| value as f64 * 1e-12);
        let other_floats = if round == 2 {
            [0.0, -0.0, f64::NAN, 1e300, -1e300, 5e-324, 1.0, -1.0]
        } else {
            others.map(|value| value as f64 * 3e-13)
        };
        let of =
            |instructions: Instructions| instructions.run(Everything(floats, other_floats, integers, others));
        let expected = of(Instructions::Scalar);
        for instructions in Instructions::ALL.into_iter().filter(|one| one.available()) {
            assert_eq!(of(instructions), expected, "{instructions:?}, round {round}");
        }
    }
}

#[test]
fn the_best_instructions_are_available() {
    assert!(Instructions::best().available());
    assert!(Instructions::Scalar.available());
}
