//! Which of the two ways of capturing takes the next edge.

use ppsrig_wire::EdgeMode;

/// How the next edge is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// By the GPIO interrupt handler.
    Irq,
    /// By reading the pin in a loop; the GPIO interrupt is masked meanwhile.
    Poll,
}

impl Turn {
    /// Whose turn it is after `captured` captures of a window. Alternate mode begins with poll, so that poll edges
    /// bracket each interrupt edge. It depends on the count alone, so that both sides agree without a shared flag.
    #[must_use]
    pub const fn after(mode: EdgeMode, captured: u32) -> Self {
        match mode {
            EdgeMode::Irq => Self::Irq,
            EdgeMode::Poll => Self::Poll,
            EdgeMode::Alternate => {
                if captured.is_multiple_of(2) {
                    Self::Poll
                } else {
                    Self::Irq
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternate_begins_with_poll_and_takes_turns() {
        let turns = [0, 1, 2, 3].map(|captured| Turn::after(EdgeMode::Alternate, captured));
        assert_eq!(turns, [Turn::Poll, Turn::Irq, Turn::Poll, Turn::Irq]);
    }

    #[test]
    fn the_other_modes_never_change() {
        for captured in [0, 1, u32::MAX] {
            assert_eq!(Turn::after(EdgeMode::Irq, captured), Turn::Irq);
            assert_eq!(Turn::after(EdgeMode::Poll, captured), Turn::Poll);
        }
    }
}
