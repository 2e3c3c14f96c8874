//! What can be wrong with a probe, a board or an image: six clear errors, exit code 2, each in under ten seconds.

mod common;

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{
    PATIENCE, Place, bench_with, bench_without_bring_up, fixtures, image, refusal, text, virtual_bench,
};
use object::{Object, ObjectSection, ObjectSymbol};

const ALLOWED: Duration = Duration::from_secs(10);

/// Runs ppsrig, which has to refuse in time, and returns what it said. Nothing may be left running.
fn refused_in_time(place: &Place, arguments: &[&str]) -> String {
    let _turn = virtual_bench();
    let started = Instant::now();
    let output = place.ppsrig(arguments).output().expect("ppsrig starts");
    let taken = started.elapsed();
    let stderr = refusal(&output);
    assert!(taken < ALLOWED, "{taken:?}: {stderr}");
    place.wait_until_nothing_runs();
    stderr
}

fn scenario(name: &str) -> String {
    fixtures().join("scenarios").join(name).display().to_string()
}

#[test]
fn a_flipped_bit_in_ram_fails_the_verify_with_its_address() {
    let place = Place::new();
    let stderr = refused_in_time(&place, &["flash", "--scenario", &scenario("flipped-bit.toml")]);
    assert!(stderr.contains("verify failed at 0x402"), "{stderr}");
}

#[test]
fn a_wrong_chip_is_told_from_a_missing_probe() {
    let place = Place::new();
    let chip = ("\"../boards/qemu-virt-a53.yaml:QemuVirtA53\"", "\"RaspberryPi4B\"");
    let bench = place.file("wrong-chip.toml", bench_with(&[chip]));
    let stderr = refused_in_time(&place, &["flash", &bench.display().to_string()]);
    assert!(stderr.contains("no RaspberryPi4B answers") && stderr.contains("`chip`"), "{stderr}");
}

#[test]
fn a_chip_that_the_description_does_not_have_is_refused_with_those_it_has() {
    let place = Place::new();
    let bench = place.file("typo.toml", bench_with(&[(":QemuVirtA53", ":QemuVirtA54")]));
    let stderr = refused_in_time(&place, &["flash", &bench.display().to_string()]);
    assert!(stderr.contains("no chip `QemuVirtA54`") && stderr.contains("QemuVirtA53"), "{stderr}");
}

#[test]
fn a_missing_probe_points_to_the_list() {
    let place = Place::new();
    let bench = place.file("no-probe.toml", bench_with(&[("@run/swd.sock", "@run/other.sock")]));
    let stderr = refused_in_time(&place, &["flash", &bench.display().to_string()]);
    assert!(
        stderr.contains("cannot open probe 20b7:9db1:unix:") && stderr.contains("ppsrig list"),
        "{stderr}"
    );
}

#[test]
fn a_dead_board_is_told_from_a_missing_probe() {
    let place = Place::new();
    let stderr = refused_in_time(&place, &["flash", "--scenario", &scenario("dead-board.toml")]);
    assert!(stderr.contains("no QemuVirtA53 answers") && stderr.contains("powered"), "{stderr}");
}

#[test]
fn a_probe_that_another_ppsrig_holds_names_it_and_a_hung_probe_is_given_up() {
    let place = Place::new();
    let socket = place.path().join("swd.sock");
    let silent = UnixListener::bind(&socket).expect("a free name");
    let bench = place.file("shared.toml", bench_without_bring_up(place.path())).display().to_string();
    let first = place.ppsrig(["flash", &bench]).stderr(Stdio::piped()).spawn().expect("ppsrig starts");
    // Its probe session has reached the probe, so it holds the lock.
    let _never_answers = accepted(&silent);
    // Another bench, by its link, with the same probe.
    let other = bench_without_bring_up(place.path()).replace("board.tty", "other.tty");
    let other = place.file("other.toml", other).display().to_string();
    let output = place.ppsrig(["flash", &other]).output().expect("ppsrig starts");
    let stderr = refusal(&output);
    assert!(stderr.contains(&format!("is in use by ppsrig (pid {})", first.id())), "{stderr}");
    let output = first.wait_with_output().expect("it was started");
    let stderr = refusal(&output);
    assert!(stderr.contains("no answer for") && stderr.contains("attaching"), "{stderr}");
}

#[test]
fn an_image_linked_for_another_board_is_refused_with_the_board_s_ram() {
    let place = Place::new();
    let description =
        std::fs::read_to_string(fixtures().join("boards/qemu-virt-a53.yaml")).expect("it is there");
    assert!(description.contains("0x40000000") && description.contains("0x48000000"), "{description}");
    let elsewhere = description.replace("0x40000000", "0x80000000").replace("0x48000000", "0x88000000");
    let elsewhere = place.file("elsewhere.yaml", elsewhere);
    let chip = format!("\"{}:QemuVirtA53\"", elsewhere.display());
    let bench = bench_with(&[("\"../boards/qemu-virt-a53.yaml:QemuVirtA53\"", &chip)]);
    let bench = place.file("elsewhere.toml", bench);
    let stderr = refused_in_time(&place, &["flash", &bench.display().to_string()]);
    assert!(stderr.contains("0x40200000..") && stderr.contains("0x80000000..0x88000000"), "{stderr}");
}

#[test]
fn memory_that_the_board_does_not_have_is_named_by_its_address() {
    let place = Place::new();
    let description =
        std::fs::read_to_string(fixtures().join("boards/qemu-virt-a53.yaml")).expect("it is there");
    let larger = place.file("larger.yaml", description.replace("0x48000000", "0x48100000"));
    let chip = format!("\"{}:QemuVirtA53\"", larger.display());
    let bench = bench_with(&[("\"../boards/qemu-virt-a53.yaml:QemuVirtA53\"", &chip)]);
    let bench = place.file("larger.toml", bench).display().to_string();
    let beyond = image_with_its_data_at(&place, 0x4800_0000).display().to_string();
    let stderr = refused_in_time(&place, &["flash", &bench, "--image", &beyond]);
    assert!(stderr.contains("bytes back at 0x48000000") && stderr.contains("data abort"), "{stderr}");
}

#[test]
fn a_protocol_version_from_the_future_is_refused_with_both_versions() {
    let place = Place::new();
    let future = image_of_the_future(&place, 77);
    let stderr = refused_in_time(&place, &["run", "--image", &future.display().to_string()]);
    assert!(stderr.contains("protocol version 77") && stderr.contains("this ppsrig version 1"), "{stderr}");
    let rig = text(&std::fs::read(place.bundle().join("raw/rig.log")).expect("it was recorded"));
    assert!(rig.contains("\"did\":\"stopped\""), "{rig}");
}

fn accepted(listener: &UnixListener) -> UnixStream {
    listener.set_nonblocking(true).expect("it is a socket");
    let started = Instant::now();
    loop {
        if let Ok((stream, _)) = listener.accept() {
            return stream;
        }
        assert!(started.elapsed() < PATIENCE, "nobody came to the probe");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The image with another protocol version in it.
fn image_of_the_future(place: &Place, version: u16) -> PathBuf {
    let mut bytes = std::fs::read(image()).expect("it is built");
    let offset = {
        let elf = object::File::parse(bytes.as_slice()).expect("it is an ELF file");
        let symbol = elf.symbol_by_name("PPSRIG_PROTOCOL").expect("the firmware has it");
        let section = symbol.section_index().expect("it is defined");
        let section = elf.section_by_index(section).expect("it is there");
        let (offset, _) = section.file_range().expect("it is in the file");
        usize::try_from(offset + symbol.address() - section.address()).expect("the file fits memory")
    };
    assert_eq!(bytes[offset..offset + 2], ppsrig_wire::PROTOCOL_VERSION.to_le_bytes());
    bytes[offset..offset + 2].copy_from_slice(&version.to_le_bytes());
    place.file("future.elf", bytes)
}

/// The image with another load address of its last segment.
fn image_with_its_data_at(place: &Place, address: u64) -> PathBuf {
    use object::read::elf::{FileHeader as _, ProgramHeader as _};
    let mut bytes = std::fs::read(image()).expect("it is built");
    let header = object::elf::FileHeader64::<object::Endianness>::parse(bytes.as_slice()).expect("it is ELF");
    let endian = header.endian().expect("it has one");
    let segments = header.program_headers(endian, bytes.as_slice()).expect("it has some");
    let last = segments.last().expect("it has some").p_paddr(endian).to_le_bytes();
    // The physical address stands behind the virtual one, which is the same.
    let twice = [last, last].concat();
    let offset = bytes.windows(16).position(|bytes| bytes == twice).expect("it is in the file") + 8;
    bytes[offset..offset + 8].copy_from_slice(&address.to_le_bytes());
    place.file("beyond.elf", bytes)
}
