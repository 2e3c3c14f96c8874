//! From reset to [`crate::main`], at EL1 with the MMU off. Entered at EL1, or at EL2, which it leaves.
//!
//! With the MMU off every data access counts as device memory: it must be aligned (the compiler's target sees to
//! that), and exclusive loads and stores are not to be relied on, hence no read-modify-write atomics anywhere.

use core::arch::global_asm;

global_asm!(
    r#"
    .section .text.boot, "ax"
    .global _start
_start:
    msr     daifset, #0xf               // a debugger may have started us with interrupts open
    mrs     x0, CurrentEL               // bits 3:2
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
    ldr     x0, =0x30d00800             // SCTLR_EL1: its RES1 bits; MMU and caches off
    msr     sctlr_el1, x0
    mov     x0, #(3 << 20)              // CPACR_EL1.FPEN: before Rust, since it uses the FP registers for copies
    msr     cpacr_el1, x0
    ldr     x0, ={vectors}
    msr     vbar_el1, x0
    isb
    ldr     x0, =__stack_top
    mov     sp, x0
    ldr     x0, =__bss_start            // both ends are aligned to 16 bytes
    ldr     x1, =__bss_end
3:  cmp     x0, x1
    b.hs    4f
    stp     xzr, xzr, [x0], #16
    b       3b
4:  mov     x29, xzr                    // the end of every backtrace
    mov     x30, xzr
    b       {main}
    "#,
    vectors = sym super::vectors::vector_table,
    main = sym crate::main,
);
