//! Arm PrimeCell UART PL011 (DDI 0183), chapter 3. Sending is by polling, receiving by interrupt.

use crate::arch::Mmio;

const UARTDR: usize = 0x000;
const UARTFR: usize = 0x018;
const UARTIBRD: usize = 0x024;
const UARTFBRD: usize = 0x028;
const UARTLCR_H: usize = 0x02c;
const UARTCR: usize = 0x030;
const UARTIMSC: usize = 0x038;
const UARTICR: usize = 0x044;

/// UARTFR: the receive FIFO is empty.
const RXFE: u32 = 1 << 4;
/// UARTFR: the transmit FIFO is full.
const TXFF: u32 = 1 << 5;
/// UARTLCR_H: FIFOs on, words of 8 bits.
const FEN_WLEN_8: u32 = 1 << 4 | 0b11 << 5;
/// UARTCR: UART, transmitter and receiver on.
const UARTEN_TXE_RXE: u32 = 1 << 0 | 1 << 8 | 1 << 9;
/// UARTIMSC and UARTICR: receive FIFO level, and receive timeout, which is for the bytes below that level.
const RX_RT: u32 = 1 << 4 | 1 << 6;

/// The UART.
pub(crate) struct Pl011(Mmio);

impl Pl011 {
    pub(crate) const fn new(registers: Mmio) -> Self {
        Self(registers)
    }

    /// 921600 baud from a clock of 24 MHz: 24,000,000 / (16 * 921,600) = 1.6276 = 1 + 40/64 (+0.16 %).
    ///
    /// QEMU raises the receive interrupt only at the moment when the FIFO's level becomes equal to its trigger. So what
    /// waits there is dropped and the interrupt cleared before it is enabled: a byte left in the FIFO would silence the
    /// UART for good.
    pub(crate) fn init(&self) {
        self.0.write(UARTCR, 0);
        self.0.write(UARTIMSC, 0);
        self.0.write(UARTIBRD, 1);
        self.0.write(UARTFBRD, 40);
        self.0.write(UARTLCR_H, FEN_WLEN_8);
        self.0.write(UARTCR, UARTEN_TXE_RXE);
        self.clear_receive_interrupt();
        while self.receive().is_some() {}
        self.0.write(UARTIMSC, RX_RT);
    }

    /// To be called before the FIFO is drained, never after: a byte that comes in between must raise it again.
    pub(crate) fn clear_receive_interrupt(&self) {
        self.0.write(UARTICR, RX_RT);
    }

    /// The next byte received. Error bits are left aside: a damaged byte damages its frame.
    pub(crate) fn receive(&self) -> Option<u8> {
        (self.0.read(UARTFR) & RXFE == 0).then(|| self.0.read(UARTDR) as u8)
    }

    /// Whether a byte can be sent without waiting.
    pub(crate) fn can_send(&self) -> bool {
        self.0.read(UARTFR) & TXFF == 0
    }

    /// Sends a byte if there is room for it.
    pub(crate) fn try_send(&self, byte: u8) -> bool {
        let room = self.can_send();
        if room {
            self.0.write(UARTDR, u32::from(byte));
        }
        room
    }
}
