//! The exception vectors. Interrupts are taken; everything else is reported and ends the run.

use core::arch::global_asm;

unsafe extern "C" {
    /// The table below; only its address is used.
    pub(super) fn vector_table();
}

global_asm!(
    r#"
    .section .text.vectors, "ax"
    .macro unexpected vector
    .balign 0x80
    mov     x0, #\vector
    b       unexpected_entry
    .endm

    .balign 0x800                       // VBAR_EL1 needs it
    .global vector_table
vector_table:
    unexpected 0                        // current level with SP_EL0: synchronous, IRQ, FIQ, SError
    unexpected 1
    unexpected 2
    unexpected 3
    unexpected 4                        // current level with SP_ELx: synchronous
    .balign 0x80
    b       irq_entry
    unexpected 6
    unexpected 7
    unexpected 8                        // lower level
    unexpected 9
    unexpected 10
    unexpected 11
    unexpected 12
    unexpected 13
    unexpected 14
    unexpected 15

unexpected_entry:                       // never returns, so nothing is saved; the stack may be what is broken
    ldr     x1, =__stack_top
    mov     sp, x1
    mrs     x1, esr_el1
    mrs     x2, elr_el1
    mrs     x3, far_el1
    b       {unexpected}

    // Saves what the procedure call standard lets the handler clobber: x0 to x18, x30, and all of q0 to q31, since of
    // q8 to q15 only the lower halves are preserved. ELR and SPSR stay as they are: interrupts do not nest.
irq_entry:
    sub     sp, sp, #(160 + 512 + 16)
    stp     x0, x1, [sp, #0]
    // The capture. Taking an exception synchronises the context, so the counter cannot have been read before it: no
    // ISB is needed here.
    mrs     x0, cntvct_el0
    stp     x2, x3, [sp, #16]
    stp     x4, x5, [sp, #32]
    stp     x6, x7, [sp, #48]
    stp     x8, x9, [sp, #64]
    stp     x10, x11, [sp, #80]
    stp     x12, x13, [sp, #96]
    stp     x14, x15, [sp, #112]
    stp     x16, x17, [sp, #128]
    stp     x18, x30, [sp, #144]
    add     x1, sp, #160
    stp     q0, q1, [x1], #32
    stp     q2, q3, [x1], #32
    stp     q4, q5, [x1], #32
    stp     q6, q7, [x1], #32
    stp     q8, q9, [x1], #32
    stp     q10, q11, [x1], #32
    stp     q12, q13, [x1], #32
    stp     q14, q15, [x1], #32
    stp     q16, q17, [x1], #32
    stp     q18, q19, [x1], #32
    stp     q20, q21, [x1], #32
    stp     q22, q23, [x1], #32
    stp     q24, q25, [x1], #32
    stp     q26, q27, [x1], #32
    stp     q28, q29, [x1], #32
    stp     q30, q31, [x1], #32
    mrs     x2, fpsr
    mrs     x3, fpcr
    stp     x2, x3, [x1]
    bl      {irq}
    add     x1, sp, #160
    ldp     q0, q1, [x1], #32
    ldp     q2, q3, [x1], #32
    ldp     q4, q5, [x1], #32
    ldp     q6, q7, [x1], #32
    ldp     q8, q9, [x1], #32
    ldp     q10, q11, [x1], #32
    ldp     q12, q13, [x1], #32
    ldp     q14, q15, [x1], #32
    ldp     q16, q17, [x1], #32
    ldp     q18, q19, [x1], #32
    ldp     q20, q21, [x1], #32
    ldp     q22, q23, [x1], #32
    ldp     q24, q25, [x1], #32
    ldp     q26, q27, [x1], #32
    ldp     q28, q29, [x1], #32
    ldp     q30, q31, [x1], #32
    ldp     x2, x3, [x1]
    msr     fpsr, x2
    msr     fpcr, x3
    ldp     x2, x3, [sp, #16]
    ldp     x4, x5, [sp, #32]
    ldp     x6, x7, [sp, #48]
    ldp     x8, x9, [sp, #64]
    ldp     x10, x11, [sp, #80]
    ldp     x12, x13, [sp, #96]
    ldp     x14, x15, [sp, #112]
    ldp     x16, x17, [sp, #128]
    ldp     x18, x30, [sp, #144]
    ldp     x0, x1, [sp, #0]
    add     sp, sp, #(160 + 512 + 16)
    eret
    "#,
    irq = sym crate::interrupts::irq,
    unexpected = sym crate::report::unexpected_exception,
);
