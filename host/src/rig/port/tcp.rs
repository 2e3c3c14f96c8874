//! A TCP server that passes bytes through: ser2net in raw mode, or an instrument's own socket (often port 5025).

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use rustix::net::sockopt;

use super::transport::{Opened, Output};
use super::{PortError, READ_TIMEOUT};
use crate::rig::watch::Watch;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A server that lost its power says nothing more: after so much silence it is asked whether it is there.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(5);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(2);
const KEEPALIVE_TRIES: u32 = 3;

impl Output for TcpStream {}

pub(super) fn open(address: &str, to: (&str, u16), watch: &Watch) -> Result<Opened, PortError> {
    let stream = connect(address, to, watch)?;
    let output = stream.try_clone().map_err(|error| failed(address, &error))?;
    Ok(Opened { input: Box::new(stream), output: Box::new(output) })
}

/// Connects to the first of the host's addresses that answers.
pub(super) fn connect(address: &str, to: (&str, u16), watch: &Watch) -> Result<TcpStream, PortError> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host name has no address");
    for candidate in to.to_socket_addrs().map_err(|error| failed(address, &error))? {
        watch.check()?;
        match TcpStream::connect_timeout(&candidate, CONNECT_TIMEOUT) {
            Ok(stream) => {
                configure(&stream).map_err(|error| failed(address, &error))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(failed(address, &last))
}

fn configure(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(CONNECT_TIMEOUT))?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE_AFTER)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE_EVERY)?;
    sockopt::set_tcp_keepcnt(stream, KEEPALIVE_TRIES)?;
    Ok(())
}

pub(super) fn failed(address: &str, error: &io::Error) -> PortError {
    PortError::Open { address: address.to_owned(), reason: error.to_string() }
}
