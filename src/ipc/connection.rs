//! One connection to the private socket: reads and writes lines, with bounded buffers.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};

use super::LONGEST_REQUEST;

/// Bytes that are read in one turn.
const READ_AT_ONCE: usize = 16 * 1024;

/// Unsent bytes at which a client that follows events but does not read is disconnected.
const MOST_UNREAD: usize = 1024 * 1024;

/// A connection, its unfinished request and its unsent answer.
#[derive(Debug)]
pub(super) struct IpcConnection {
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// The answer is prepared elsewhere. The next request waits, so that answers keep their order.
    pub(super) waiting: bool,
    /// Number of its last request, counted by the server; 0 before its first.
    pub(super) last_request: u64,
    /// Dropped with the connection.
    life: Arc<()>,
    /// The client follows events.
    pub(super) follows: bool,
    /// Nothing more is read: the client has shut down its side, or is being disconnected.
    closed: bool,
    /// The client is being disconnected and is sent the reason.
    is_disconnecting: bool,
}

/// The client sent a line that is too long, or is gone.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("a request of more than {LONGEST_REQUEST} bytes")]
    TooLong,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl IpcConnection {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(IpcConnection {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            waiting: false,
            last_request: 0,
            life: Arc::new(()),
            follows: false,
            closed: false,
            is_disconnecting: false,
        })
    }

    /// Can be upgraded while the connection exists.
    pub(super) fn life(&self) -> Weak<()> {
        Arc::downgrade(&self.life)
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Whether more may be read: not while a request is unhandled, or an answer unsent or being prepared.
    pub(super) fn may_read(&self) -> bool {
        self.output.is_empty() && !self.waiting && !self.closed && !self.has_request()
    }

    /// Whether a complete request can be handled now.
    pub(super) fn has_request(&self) -> bool {
        !self.waiting && self.input.contains(&b'\n')
    }

    /// Whether there is something to send.
    pub(super) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether nothing more can happen on this connection.
    pub(super) fn is_finished(&self) -> bool {
        let is_over = self.closed && !self.waiting && self.output.is_empty() && !self.input.contains(&b'\n');
        // A client that follows events may shut down its side and still read.
        is_over && !self.follows
    }

    /// Reads once, [`READ_AT_ONCE`] bytes at most.
    pub(super) fn read(&mut self) -> Result<(), ConnectionError> {
        let mut chunk = [0; READ_AT_ONCE];
        match self.stream.read(&mut chunk) {
            Ok(0) => self.closed = true,
            Ok(count) => self.input.extend_from_slice(&chunk[..count]),
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error.into()),
        }
        if self.input.len() > LONGEST_REQUEST && !self.input[..LONGEST_REQUEST].contains(&b'\n') {
            return Err(ConnectionError::TooLong);
        }
        Ok(())
    }

    /// The next complete request, unless an answer must be sent first.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        if self.waiting || self.has_output() {
            return None;
        }
        let end = self.input.iter().position(|byte| *byte == b'\n')?;
        let rest = self.input.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.input, rest);
        line.pop();
        Some(line)
    }

    /// Queues an answer, and sends as much of it as fits.
    pub(super) fn answer(&mut self, mut line: Vec<u8>) -> Result<(), ConnectionError> {
        line.push(b'\n');
        self.output.append(&mut line);
        self.write()
    }

    /// Whether it may be disconnected to make room for a new client.
    pub(super) fn is_idle(&self) -> bool {
        self.is_disconnecting || self.may_read() && !self.follows
    }

    /// Sends an event to a client that follows events. A client with [`MOST_UNREAD`] unsent bytes is sent `farewell`
    /// instead and disconnected.
    pub(super) fn send_event(&mut self, line: &[u8], farewell: &[u8]) -> Result<(), ConnectionError> {
        if self.output.len() <= MOST_UNREAD {
            return self.answer(line.to_vec());
        }
        // A line that is partly sent is completed first.
        let end = self.output.iter().position(|byte| *byte == b'\n').map_or(self.output.len(), |at| at + 1);
        self.output.truncate(end);
        self.output.shrink_to_fit();
        self.input.clear();
        (self.follows, self.closed, self.is_disconnecting) = (false, true, true);
        self.answer(farewell.to_vec())
    }

    /// Sends as much as fits.
    pub(super) fn write(&mut self) -> Result<(), ConnectionError> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(count) => drop(self.output.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_transient(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
