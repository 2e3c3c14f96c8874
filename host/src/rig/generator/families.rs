//! The instruments that start a train on the reference's pulse: what each is told and asked, as data. A new family is a
//! table here, a row in `open`, and its peculiarities on the virtual bench.
//!
//! None of them was ever run on hardware. Syntax: Keysight 33500 and 33600 operating and service guide; Siglent SDG
//! programming guide, and public drivers that use it; Rigol DG1000Z and DG800 programming guides. Where these contradict
//! each other it is the instrument's own answer that decides, see [`Delay`] and [`External`].

/// What one family wants to be told and asked. In texts, `{period}`, `{width}`, `{high}`, `{low}`, `{offset}` (seconds and
/// volts), `{cycles}` and `{polarity}` are replaced.
#[derive(Debug)]
pub struct Family {
    /// For people.
    pub name: &'static str,
    /// Sent first, whatever goes on: nothing is fired any more.
    pub quiet: &'static [&'static str],
    /// What `{polarity}` is for a rising and for a falling edge.
    pub polarities: [&'static str; 2],
    /// Sent in this order, the output being off: levels and polarity are as they shall be before it is switched on.
    pub settings: &'static [&'static str],
    /// Settings that are read back.
    pub read_back: &'static [ReadBack],
    /// Whether its reference input can be chosen over the port.
    pub external: External,
    /// How the train is put off against the pulse, if it is.
    pub delay: Delay,
    /// Switches the output on.
    pub on: &'static str,
    /// Switches it off, and ends a train.
    pub off: &'static [&'static str],
    /// What tells whether it is off: that is the answer's first word.
    pub is_off: (&'static str, &'static [&'static str]),
    /// From here on the reference's next pulse starts the train.
    pub arm: &'static str,
    /// What proves that it is armed.
    pub armed: Option<ReadBack>,
    /// How it is known that the train is over.
    pub completion: Completion,
    /// What reads its error queue, if it has one.
    pub errors: Option<&'static str>,
    /// How far a number that is read back may be off, relative: what the display's last digit is worth.
    pub tolerance: f64,
}

/// A setting that is read back.
#[derive(Clone, Copy, Debug)]
pub struct ReadBack {
    /// The query.
    pub query: &'static str,
    /// Which value of the answer it is; the whole answer if none.
    pub key: Option<&'static str>,
    /// What it must be.
    pub wanted: Wanted,
}

/// What a setting must read back as.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// A number with this text, and how far it may be off besides what is relative.
    Number(&'static str, f64),
    /// A word, or one that begins with it.
    Word(&'static str),
}

/// Whether the external 10 MHz can be chosen.
#[derive(Clone, Copy, Debug)]
pub enum External {
    /// By this command, and proved by this query, which answers a text with this word in it.
    Set(&'static str, &'static str, &'static str),
    /// As above, but the sources disagree whether there is such a command: an instrument that does not answer the query
    /// has none, and is said to run from whatever its front panel says.
    Perhaps(&'static str, &'static str, &'static str),
}

/// How a train is put off.
#[derive(Clone, Copy, Debug)]
pub enum Delay {
    /// By this command, and proved by that.
    Command(&'static str, ReadBack),
    /// By a key of this command whose name the sources disagree on: the one that the answer to the query has in it.
    Key {
        /// The command, `{key}` being replaced.
        command: &'static str,
        /// The query.
        query: &'static str,
        /// What the key may be.
        keys: &'static [&'static str],
    },
}

/// How it is known that a train is over.
#[derive(Clone, Copy, Debug)]
pub enum Completion {
    /// This is answered with 1 then.
    Answered(&'static str),
    /// It does not say, and the next pulse would start another: it is stopped as soon as the train is over, by when the
    /// board captured its first edge.
    Stopped,
}

const fn number(query: &'static str, key: Option<&'static str>, wanted: &'static str) -> ReadBack {
    ReadBack { query, key, wanted: Wanted::Number(wanted, 0.0) }
}

/// Volts: what a display shows of a level near zero.
const fn level(query: &'static str, key: Option<&'static str>, wanted: &'static str) -> ReadBack {
    ReadBack { query, key, wanted: Wanted::Number(wanted, 1e-3) }
}

const fn word(query: &'static str, key: Option<&'static str>, wanted: &'static str) -> ReadBack {
    ReadBack { query, key, wanted: Wanted::Word(wanted) }
}

/// Keysight 33500 and 33600. It answers conflicts by changing a setting, and queues an error: in this order there is none.
pub const KEYSIGHT_33500: Family = Family {
    name: "Keysight 33500",
    quiet: &["ABOR", "OUTP OFF", "*RST", "*CLS"],
    polarities: ["NORM", "INV"],
    settings: &[
        "OUTP OFF",
        "BURS:STAT OFF",
        "FUNC PULS",
        "FUNC:PULS:PER {period}",
        "FUNC:PULS:WIDT {width}",
        "OUTP:LOAD INF",
        "VOLT:HIGH {high}",
        "VOLT:LOW {low}",
        "OUTP:POL {polarity}",
        "INIT:CONT OFF",
        "BURS:MODE TRIG",
        "BURS:NCYC {cycles}",
        "TRIG:SOUR EXT",
        "TRIG:SLOP POS",
        "TRIG:COUN 1",
        "BURS:STAT ON",
    ],
    read_back: &[
        number("FUNC:PULS:PER?", None, "{period}"),
        number("FUNC:PULS:WIDT?", None, "{width}"),
        number("BURS:NCYC?", None, "{cycles}"),
        level("VOLT:HIGH?", None, "{high}"),
        level("VOLT:LOW?", None, "{low}"),
        word("OUTP:POL?", None, "{polarity}"),
    ],
    external: External::Set("ROSC:SOUR EXT", "ROSC:SOUR?", "EXT"),
    delay: Delay::Command(
        "TRIG:DEL {offset}",
        ReadBack { query: "TRIG:DEL?", key: None, wanted: Wanted::Number("{offset}", 4e-9) },
    ),
    on: "OUTP ON",
    off: &["ABOR", "OUTP OFF"],
    is_off: ("OUTP?", &["0", "+0"]),
    arm: "INIT",
    armed: None,
    completion: Completion::Answered("*OPC?"),
    errors: Some("SYST:ERR?"),
    tolerance: 1e-6,
};

/// Siglent SDG: keys and values in lists, numbers with their units; nothing says that a value was clamped, so all of them
/// are read back. Its trigger is armed all the time, so it is the trigger's source that arms it.
pub const SIGLENT_SDG: Family = Family {
    name: "Siglent SDG",
    quiet: &["C1:OUTP OFF"],
    polarities: ["OFF", "ON"],
    settings: &[
        "C1:OUTP OFF",
        "C1:BTWV STATE,OFF",
        "C1:OUTP LOAD,HZ",
        "C1:BSWV WVTP,PULSE",
        "C1:BSWV PERI,{period}",
        "C1:BSWV WIDTH,{width}",
        "C1:BSWV HLEV,{high}",
        "C1:BSWV LLEV,{low}",
        "C1:BSWV DLY,0",
        "C1:INVT {polarity}",
        // The other keys of a burst are taken only while it is on.
        "C1:BTWV STATE,ON",
        "C1:BTWV TRSR,MAN",
        "C1:BTWV GATE_NCYC,NCYC",
        "C1:BTWV TIME,{cycles}",
        "C1:BTWV EDGE,RISE",
    ],
    read_back: &[
        word("C1:BSWV?", Some("WVTP"), "PULSE"),
        number("C1:BSWV?", Some("PERI"), "{period}"),
        number("C1:BSWV?", Some("WIDTH"), "{width}"),
        level("C1:BSWV?", Some("HLEV"), "{high}"),
        level("C1:BSWV?", Some("LLEV"), "{low}"),
        word("C1:INVT?", None, "{polarity}"),
        word("C1:BTWV?", Some("STATE"), "ON"),
        word("C1:BTWV?", Some("TRSR"), "MAN"),
        word("C1:BTWV?", Some("GATE_NCYC"), "NCYC"),
        number("C1:BTWV?", Some("TIME"), "{cycles}"),
        word("C1:BTWV?", Some("EDGE"), "RISE"),
    ],
    external: External::Set("ROSC EXT", "ROSC?", "EXT"),
    delay: Delay::Key { command: "C1:BTWV {key},{offset}", query: "C1:BTWV?", keys: &["DLAY", "DLY"] },
    on: "C1:OUTP ON",
    off: &["C1:BTWV TRSR,MAN", "C1:OUTP OFF"],
    is_off: ("C1:OUTP?", &["OFF"]),
    arm: "C1:BTWV TRSR,EXT",
    armed: Some(word("C1:BTWV?", Some("TRSR"), "EXT")),
    completion: Completion::Stopped,
    errors: None,
    tolerance: 1e-6,
};

/// Rigol DG800, DG1000Z and DG2000: seven digits are read back, and a value out of range is clamped with a message on
/// the screen alone.
pub const RIGOL_DG: Family = Family {
    name: "Rigol DG",
    quiet: &[":OUTP1 OFF", "*CLS"],
    polarities: ["NORM", "INV"],
    settings: &[
        ":OUTP1 OFF",
        ":SOUR1:BURS:STAT OFF",
        ":OUTP1:LOAD INF",
        ":SOUR1:FUNC PULS",
        ":SOUR1:PER {period}",
        ":SOUR1:FUNC:PULS:WIDT {width}",
        ":SOUR1:VOLT:HIGH {high}",
        ":SOUR1:VOLT:LOW {low}",
        ":OUTP1:POL {polarity}",
        ":SOUR1:BURS:MODE TRIG",
        ":SOUR1:BURS:NCYC {cycles}",
        ":SOUR1:BURS:TRIG:SOUR MAN",
        ":SOUR1:BURS:TRIG:SLOP POS",
        ":SOUR1:BURS:STAT ON",
    ],
    read_back: &[
        number(":SOUR1:PER?", None, "{period}"),
        number(":SOUR1:FUNC:PULS:WIDT?", None, "{width}"),
        number(":SOUR1:BURS:NCYC?", None, "{cycles}"),
        level(":SOUR1:VOLT:HIGH?", None, "{high}"),
        level(":SOUR1:VOLT:LOW?", None, "{low}"),
        word(":OUTP1:POL?", None, "{polarity}"),
        word(":SOUR1:BURS:TRIG:SOUR?", None, "MAN"),
        word(":SOUR1:BURS:STAT?", None, "ON"),
    ],
    external: External::Perhaps(":SYST:ROSC:SOUR EXT", ":SYST:ROSC:SOUR?", "EXT"),
    delay: Delay::Command(
        ":SOUR1:BURS:TDEL {offset}",
        ReadBack { query: ":SOUR1:BURS:TDEL?", key: None, wanted: Wanted::Number("{offset}", 1e-9) },
    ),
    on: ":OUTP1 ON",
    off: &[":SOUR1:BURS:TRIG:SOUR MAN", ":OUTP1 OFF"],
    is_off: (":OUTP1?", &["OFF", "0"]),
    arm: ":SOUR1:BURS:TRIG:SOUR EXT",
    armed: Some(word(":SOUR1:BURS:TRIG:SOUR?", None, "EXT")),
    completion: Completion::Stopped,
    errors: Some(":SYST:ERR?"),
    tolerance: 1e-6,
};
