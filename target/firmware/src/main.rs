//! The bare-metal image of a ppsrig board.
//!
//! The boot code of [`arch`] enters [`main`], which sets up the devices of [`board`], gives the interrupt handler its
//! half of the work ([`interrupts`]) and stays in the [`idle`] loop. What to do is decided in `ppsrig-app`; here is
//! only what touches the machine. Unsafe code lives in `arch` and `board` alone.
#![no_std]
#![no_main]

mod arch;
mod board;
mod cores;
mod idle;
mod interrupts;
mod path;
mod report;

use heapless::{String, spsc::Queue};
use ppsrig_app::{
    CaptureRing, Capturer, Controller, Measuring,
    jumps::{Clocksources, OTHER_ID, OTHER_OFFSET},
    path::PathMemory,
};
use ppsrig_timekeeping::{Clocksource, ClocksourceFlags, ClocksourceId, Timekeeper};
use ppsrig_wire::Identity;

use crate::{
    arch::{ArmArchCounter, ClaimOnce, counter, cpu, image, pmu, psci},
    cores::Job,
    idle::Idle,
    interrupts::Handler,
};

/// Bytes from the link that wait for the idle loop: several commands.
const RECEIVED_BYTES: usize = 1024;
/// Implemented bits of the counter that the kernel relies on (`CLOCKSOURCE_MASK(56)` in `arm_arch_timer.c`).
const COUNTER_BITS: u32 = 56;
/// Ticks of the coarse clock in a second; the kernel's `CONFIG_HZ`, 250 as in most distributions.
const TICKS_PER_SECOND: u64 = 250;

static RECEIVED: ClaimOnce<Queue<u8, RECEIVED_BYTES>> = ClaimOnce::new(Queue::new());
static CLOCKSOURCE: ClaimOnce<Option<Clocksource>> = ClaimOnce::new(None);
static OTHER_CLOCKSOURCE: ClaimOnce<Option<Clocksource>> = ClaimOnce::new(None);
static TIMEKEEPER: ClaimOnce<Option<Timekeeper<ArmArchCounter>>> = ClaimOnce::new(None);
static CAPTURES: ClaimOnce<CaptureRing> = ClaimOnce::new(CaptureRing::new());
static PATH: ClaimOnce<PathMemory> = ClaimOnce::new(PathMemory::new());
static JOB: ClaimOnce<Option<Job>> = ClaimOnce::new(None);

/// Entered once by the boot code on the first core: interrupts are masked, MMU, stack and FP unit are usable, the bss
/// is clear. `entered_at` is the exception level that the image was entered at.
extern "C" fn main(entered_at: u32) -> ! {
    psci::entered_at(entered_at);
    pmu::start();
    let (received, bytes) = RECEIVED.claim().split();
    let (writer, reader) = CAPTURES.claim().split();
    let hz = u32::try_from(counter::declared_hz()).unwrap_or(u32::MAX);
    let clock = Clocksource::register_hz(ArmArchCounter::read, COUNTER_BITS, hz)
        .with(ClocksourceId::ARM_ARCH_COUNTER, ClocksourceFlags::CAN_INLINE_READ);
    let clock = &*CLOCKSOURCE.claim().insert(clock);
    let other = Clocksource::register_hz(|_| counter::now() + OTHER_OFFSET, COUNTER_BITS, hz);
    let other = OTHER_CLOCKSOURCE.claim().insert(other.with(OTHER_ID, ClocksourceFlags::NONE));
    let timekeeper = TIMEKEEPER.claim().insert(Timekeeper::new(clock)).timekeeping_init();
    let clocks = timekeeper.timekeeper();
    board::init();
    interrupts::install(Handler {
        capturer: Capturer::new(writer),
        timekeeper,
        received,
        tick: counter::declared_hz() / TICKS_PER_SECOND,
    });
    cpu::unmask_interrupts();
    let measuring = Measuring::new(PATH.claim(), arch::cores::count());
    let controller = Controller::new(identity(), reader, measuring);
    let job = JOB.claim().insert(Job::new(clocks, Clocksources { arch: clock, other }));
    Idle::new(controller, bytes, clocks, job, image::mailbox()).run()
}

/// Entered by each other core from the boot code, whenever it is switched on; interrupts are masked, and stay so.
extern "C" fn secondary_main() -> ! {
    cores::secondary(arch::cores::this())
}

/// What this board says of itself.
fn identity() -> Identity {
    Identity {
        protocol: image::protocol_version(),
        command: 0,
        declared_counter_hz: counter::declared_hz(),
        midr: cpu::midr(),
        exception_level: cpu::exception_level(),
        capabilities: board::capabilities(),
        git_hash: String::try_from(env!("PPSRIG_GIT_HASH")).unwrap_or_default(),
        board: String::try_from(board::NAME).unwrap_or_default(),
    }
}
