//! The board: its devices, its addresses, its name. One board so far, QEMU's `virt` machine; another is another file
//! beside `virt.rs` with the same names in it.
#![expect(unsafe_code, reason = "only the board knows which addresses are devices")]

mod gicv2;
mod pl011;
mod pl061;
mod virt;

pub(crate) use virt::{
    GIC, GPIO, GPIO_INTERRUPT, NAME, TIMER_INTERRUPT, UART, UART_INTERRUPT, capabilities, init, lower_echo,
    raise_echo,
};
