//! What differs between the families of GPSDOs that are asked: their questions, as data.

/// Whose dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// HP 58503A, Z3801A, Symmetricom.
    Hp,
    /// Jackson Labs.
    Jackson,
}

/// A question that is asked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Without its line end.
    pub text: &'static str,
    /// Asked in one of so many rounds.
    pub every: u32,
    pub(super) answer: Answer,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// T2 and what follows.
    TimeCode,
    /// Seconds, then 1 while in holdover.
    Holdover,
    /// 1 while locked.
    Lock,
    /// Hexadecimal.
    Health,
    /// Seconds between its pulse and the satellites'.
    Interval,
    /// Leap seconds so far.
    Leap,
}

pub(super) const HP: &[Query] = &[
    Query { text: ":PTIM:TCOD?", every: 1, answer: Answer::TimeCode },
    Query { text: ":ROSC:HOLD:DUR?", every: 10, answer: Answer::Holdover },
    Query { text: ":PTIM:TINT?", every: 10, answer: Answer::Interval },
    Query { text: ":PTIM:LEAP:ACC?", every: 60, answer: Answer::Leap },
];
pub(super) const JACKSON: &[Query] = &[
    Query { text: "SYNC:LOCK?", every: 1, answer: Answer::Lock },
    Query { text: "SYNC:HEALTH?", every: 1, answer: Answer::Health },
    Query { text: "SYNC:HOLD:DUR?", every: 5, answer: Answer::Holdover },
    Query { text: "SYNC:TINT?", every: 5, answer: Answer::Interval },
    Query { text: "PTIM:LEAP:ACC?", every: 60, answer: Answer::Leap },
];

impl Family {
    /// What is sent once, before the first question. A line end of its own ends whatever half a command was there.
    #[must_use]
    pub const fn greeting(self) -> &'static [&'static str] {
        match self {
            Self::Hp => &["", ":PTIM:TCOD:FORM F2"],
            Self::Jackson => &[""],
        }
    }

    /// What is asked, in this order.
    #[must_use]
    pub const fn queries(self) -> &'static [Query] {
        match self {
            Self::Hp => HP,
            Self::Jackson => JACKSON,
        }
    }

    /// Milliseconds from one round of questions to the next. A time code names the next pulse and is sent when it is asked
    /// for: asked a little less often than once a second, it comes at every phase of the second in turn, and the earliest
    /// of twenty stands near the pulse before; and no second is named twice.
    #[must_use]
    pub const fn round_ms(self) -> u64 {
        match self {
            Self::Hp => 1070,
            Self::Jackson => 1000,
        }
    }

    /// What ends a command.
    #[must_use]
    pub const fn line_end(self) -> &'static str {
        match self {
            Self::Hp => "\n",
            Self::Jackson => "\r\n",
        }
    }
}
