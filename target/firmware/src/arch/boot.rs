//! From reset to [`crate::main`], at EL1 with MMU and caches on. Entered at EL1, or at EL2, which it leaves. A
//! secondary core takes the same way from `secondary_start` to [`crate::secondary_main`].
//!
//! The MMU is needed for its memory types: with it off all memory counts as device memory, which is not cached, and in
//! which exclusive loads and stores, and so read-modify-write atomics, are not to be relied on. The map is that of
//! `mmu.rs`.

use core::arch::global_asm;

global_asm!(
    r#"
    .section .text.boot, "ax"
    .global _start
_start:
    mov     x20, xzr
    b       3f
    .global secondary_start
secondary_start:                        // PSCI hands over the context that CPU_ON was given: the top of a stack
    mov     x20, x0
3:  msr     daifset, #0xf               // a debugger may have started us with interrupts open
    mrs     x0, CurrentEL               // bits 3:2
    lsr     x21, x0, #2
    cmp     x0, #(1 << 2)
    b.eq    1f
    cmp     x0, #(2 << 2)
    b.eq    2f
0:  wfi                                 // EL3 and EL0 are none of ours
    b       0b

2:  mov     x0, #(1 << 31)              // HCR_EL2.RW: EL1 is AArch64; nothing is trapped
    msr     hcr_el2, x0
    mov     x0, #0x3                    // CNTHCTL_EL2: EL1 may read the physical counter and timer
    msr     cnthctl_el2, x0
    msr     cntvoff_el2, xzr            // virtual counter = physical counter
    mov     x0, #0x33ff                 // CPTR_EL2: its RES1 bits; FP is not trapped
    msr     cptr_el2, x0
    msr     hstr_el2, xzr
    mrs     x0, pmcr_el0                // MDCR_EL2: all event counters (PMCR_EL0.N) are EL1's, nothing is trapped
    ubfx    x0, x0, #11, #5
    msr     mdcr_el2, x0
    mrs     x0, midr_el1                // EL1 reads the virtual ids: let them be the real ones
    msr     vpidr_el2, x0
    mrs     x0, mpidr_el1
    msr     vmpidr_el2, x0
    mov     x0, #0x3c5                  // SPSR: EL1h, D A I F masked
    msr     spsr_el2, x0
    adr     x0, 1f
    msr     elr_el2, x0
    eret

1:  msr     spsel, #1
    ldr     x0, ={mair}
    msr     mair_el1, x0
    ldr     x0, ={tcr}
    msr     tcr_el1, x0
    ldr     x0, ={table}
    msr     ttbr0_el1, x0
    dsb     sy
    tlbi    vmalle1                     // what a reset left there is unknown; data caches are invalid after one
    ic      iallu
    dsb     nsh
    isb
    ldr     x0, =0x30d01805             // SCTLR_EL1: its RES1 bits; MMU, data and instruction cache on
    msr     sctlr_el1, x0
    isb
    mov     x0, #(3 << 20)              // CPACR_EL1.FPEN: before Rust, since it uses the FP registers for copies
    msr     cpacr_el1, x0
    ldr     x0, ={vectors}
    msr     vbar_el1, x0
    isb
    mov     x29, xzr                    // the end of every backtrace
    mov     x30, xzr
    cbnz    x20, 5f
    ldr     x0, =__stack_top
    mov     sp, x0
    ldr     x0, =__bss_start            // both ends are aligned to 16 bytes
    ldr     x1, =__bss_end
3:  cmp     x0, x1
    b.hs    4f
    stp     xzr, xzr, [x0], #16
    b       3b
4:  mov     w0, w21                     // the exception level that the image was entered at
    b       {main}
5:  mov     sp, x20
    b       {secondary_main}
    "#,
    mair = const super::mmu::MAIR,
    tcr = const super::mmu::TCR,
    table = sym super::mmu::TABLE,
    vectors = sym super::vectors::vector_table,
    main = sym crate::main,
    secondary_main = sym crate::secondary_main,
);
