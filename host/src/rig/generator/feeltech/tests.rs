use super::super::NAME;
use super::super::transcript::{declared, play};
use super::*;

const TEXT: &str = include_str!("../../../../../fixtures/transcripts/feeltech-fy6900.txt");
const TRAIN: PulseTrain =
    PulseTrain { cycles: 0, period_ns: 500_000_000, width_ns: 250_000_000, edge: EdgeName::Rising };

fn whole_train(text: &'static str) -> Result<(), GeneratorError> {
    let (port, script) = play(text);
    let mut generator = Feeltech::open(&declared("feeltech-fy6900", ""), Dialogue::new(NAME, port))?;
    generator.prepare(&TRAIN)?;
    assert!(!generator.complete(Duration::ZERO)?, "no window is open");
    generator.arm()?;
    assert!(generator.complete(Duration::ZERO)?, "a train of no edges is soon over");
    generator.make_safe()?;
    drop(generator);
    script.end();
    Ok(())
}

#[test]
fn an_fy6900_is_spoken_to_as_in_the_transcript() {
    whole_train(TEXT).expect("it can");
}

#[test]
fn what_reads_back_otherwise_is_refused() {
    for (query, found, other) in [
        ("RMD", "0000050000", "0000020000"),
        ("RMF", "< 00000002.000000", "< 00000002.100000"),
        ("RMA", "0000033000", "0000050000"),
        ("RMO", "0000001650", "4294965646"),
    ] {
        let error = whole_train(TEXT.replace(found, other).leak()).expect_err("it is another").to_string();
        assert!(error.contains(query) && error.contains(other.trim_start_matches("< ")), "{error}");
    }
}

#[test]
fn another_instrument_is_refused_and_a_width_beyond_its_duty_too() {
    let error =
        whole_train(TEXT.replace("FY6900-60M", "JDS6600").leak()).expect_err("it is none").to_string();
    assert!(error.contains("UMO") && error.contains("JDS6600"), "{error}");
    let (port, _script) = play(TEXT);
    let generator =
        Feeltech::open(&declared("feeltech-fy6900", ""), Dialogue::new(NAME, port)).expect("it answers");
    let narrow = PulseTrain { period_ns: 1_000_000_000, width_ns: 1_000, ..TRAIN };
    let error = generator.settings(&narrow).err().expect("it cannot").to_string();
    assert!(error.contains("duty"), "{error}");
    let falling = PulseTrain { edge: EdgeName::Falling, width_ns: 5_000_000, ..TRAIN };
    assert_eq!(generator.settings(&falling).expect("it can")[2].command, "WMD99.000");
}
