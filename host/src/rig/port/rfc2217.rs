//! A serial port behind a telnet server that sets its line as well: RFC 2217, as ser2net, Moxa NPort and pyserial serve
//! it. The protocol itself is the crate `rfc2217`, which does no I/O; this file moves its bytes.
//!
//! A port counts as open when the server has confirmed baud rate, data bits, parity and stop bits. Then both buffers of
//! the server's are purged: what it kept from before is not this run's.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rfc2217::{Client, DataBits, NotReady, Parity, PortSettings as Wanted, Purge, StopBits};

use super::PortError;
use super::tcp::{connect, failed};
use super::transport::{ModemLine, Opened, Output};
use crate::bench_file::{self, Dtr, Line, PortSettings};
use crate::rig::watch::{Deadline, Watch};

/// How long the server may take to confirm the line.
const CONFIRM_ALLOWED: Duration = Duration::from_secs(5);

/// The connection, as reader and writer share it.
#[derive(Clone)]
struct Connection {
    stream: Arc<TcpStream>,
    client: Arc<Mutex<Client>>,
}

impl Connection {
    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the protocol's state and sends what that gives, as one step: replies and data leave in order.
    fn step<T>(&self, change: impl FnOnce(&mut Client) -> T) -> io::Result<T> {
        let mut client = self.client();
        let result = change(&mut client);
        let output = client.take_output();
        if let Err(error) = (&*self.stream).write_all(&output) {
            // A part of it may have been sent, and what follows would be taken for the rest: the connection is ended.
            let _ended_already = self.stream.shutdown(Shutdown::Both);
            let reason = format!("the server takes no bytes: {error}");
            return Err(io::Error::new(ErrorKind::ConnectionAborted, reason));
        }
        while let Some(event) = client.poll_event() {
            log::debug!("rfc2217: {event:?}");
        }
        Ok(result)
    }
}

pub(super) fn open(settings: &PortSettings, to: (&str, u16), watch: &Watch) -> Result<Opened, PortError> {
    let address = settings.address.as_str();
    let stream = connect(address, to, watch)?;
    let client = Client::new(wanted(settings.baud, settings.line));
    let connection = Connection { stream: Arc::new(stream), client: Arc::new(Mutex::new(client)) };
    let mut input = Input { connection: connection.clone(), early: Vec::new() };
    input.confirm(address, watch)?;
    let begin = |client: &mut Client| {
        client.purge(Purge::Both);
        match settings.dtr {
            Dtr::Keep => {}
            Dtr::On => client.set_dtr(true),
            Dtr::Off => client.set_dtr(false),
        }
    };
    connection.step(begin).map_err(|error| failed(address, &error))?;
    input.early.clear();
    Ok(Opened { input: Box::new(input), output: Box::new(Sender(connection)) })
}

fn wanted(baud_rate: u32, line: Line) -> Wanted {
    Wanted {
        baud_rate,
        data_bits: match line.data_bits {
            5 => DataBits::Five,
            6 => DataBits::Six,
            7 => DataBits::Seven,
            _ => DataBits::Eight,
        },
        parity: match line.parity {
            bench_file::Parity::None => Parity::None,
            bench_file::Parity::Odd => Parity::Odd,
            bench_file::Parity::Even => Parity::Even,
        },
        stop_bits: if line.stop_bits == 2 { StopBits::Two } else { StopBits::One },
        ..Wanted::default()
    }
}

struct Input {
    connection: Connection,
    /// Data that arrived and has not been read.
    early: Vec<u8>,
}

impl Input {
    /// Waits until the server has confirmed the line.
    fn confirm(&mut self, address: &str, watch: &Watch) -> Result<(), PortError> {
        let deadline = Deadline::after(CONFIRM_ALLOWED);
        loop {
            watch.check()?;
            // The opening offer is output that waits to be sent.
            let readiness = self.connection.step(|client| client.readiness());
            let not_ready = match readiness.map_err(|error| failed(address, &error))? {
                Ok(()) => return Ok(()),
                Err(not_ready) => not_ready,
            };
            let hopeless = matches!(not_ready, NotReady::Refused | NotReady::Mismatched(_));
            if hopeless || deadline.passed() {
                let (address, reason) = (address.to_owned(), not_ready.to_string());
                return Err(PortError::Open { address, reason });
            }
            match self.receive() {
                Ok(true) => {}
                Ok(false) => {
                    return Err(failed(address, &ErrorKind::UnexpectedEof.into()));
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(failed(address, &error)),
            }
        }
    }

    /// Takes what the server sent; false at its end.
    fn receive(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let count = (&*self.connection.stream).read(&mut buffer)?;
        let data = self.connection.step(|client| client.receive(&buffer[..count]))?;
        self.early.extend(data);
        Ok(count > 0)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.early.is_empty() && !self.receive()? {
            return Ok(0);
        }
        if self.early.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let count = self.early.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.early[..count]);
        self.early.drain(..count);
        Ok(count)
    }
}

struct Sender(Connection);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.step(|client| client.write_data(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Sender {
    fn set_modem_line(&mut self, line: ModemLine, up: bool) -> io::Result<()> {
        self.0.step(|client| match line {
            ModemLine::Dtr => client.set_dtr(up),
            ModemLine::Rts => client.set_rts(up),
            ModemLine::TxdBreak => client.set_break(up),
        })
    }
}

#[cfg(test)]
mod tests;
