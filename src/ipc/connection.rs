//! One client of the private socket: lines in, lines out, within bounds.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};

use super::LONGEST_REQUEST;

/// How much is read in one turn.
const READ_AT_ONCE: usize = 16 * 1024;

/// What may wait for somebody who follows what happens and does not read.
const MOST_UNREAD: usize = 1024 * 1024;

/// A connection, its unfinished request and its unsent answer.
#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// The answer to a request is being worked on: the next request waits, so that answers come in order.
    pub(super) waiting: bool,
    /// When it asked for something last, by the server's count of requests; 0 if never.
    pub(super) last_request: u64,
    /// Goes with it.
    life: Arc<()>,
    /// It is told of what happens.
    pub(super) follows: bool,
    /// The other side has said everything, or is not listened to any more.
    closed: bool,
    /// It was let go of, and is told so.
    parts: bool,
}

/// The client said something that cannot be a request, or is gone.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectionError {
    #[error("a request of more than {LONGEST_REQUEST} bytes")]
    TooLong,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            waiting: false,
            last_request: 0,
            life: Arc::new(()),
            follows: false,
            closed: false,
            parts: false,
        })
    }

    /// Upgrades while it is there.
    pub(super) fn life(&self) -> Weak<()> {
        Arc::downgrade(&self.life)
    }

    pub(super) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Whether more may be read: not while a request is left to meet, or an answer unsent or being worked on.
    pub(super) fn listens(&self) -> bool {
        self.output.is_empty() && !self.waiting && !self.closed && !self.has_request()
    }

    /// Whether a whole request waits to be met, and may be.
    pub(super) fn has_request(&self) -> bool {
        !self.waiting && self.input.contains(&b'\n')
    }

    /// Whether there is something to send.
    pub(super) fn speaks(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether nothing more will happen here.
    pub(super) fn finished(&self) -> bool {
        let is_over = self.closed && !self.waiting && self.output.is_empty() && !self.input.contains(&b'\n');
        // Who follows may have nothing to say any more.
        is_over && !self.follows
    }

    /// Reads what has come, up to a bound.
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

    /// The next whole request, unless an answer has to be sent first.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        if self.waiting || self.speaks() {
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

    /// Whether it can give way to somebody else.
    pub(super) fn is_idle(&self) -> bool {
        self.parts || self.listens() && !self.follows
    }

    /// Tells somebody who follows of what happened. Who has not read what was told for long is let go of, with `farewell`.
    pub(super) fn tell(&mut self, line: &[u8], farewell: &[u8]) -> Result<(), ConnectionError> {
        if self.output.len() <= MOST_UNREAD {
            return self.answer(line.to_vec());
        }
        // A line that is half sent is whole first.
        let end = self.output.iter().position(|byte| *byte == b'\n').map_or(self.output.len(), |at| at + 1);
        self.output.truncate(end);
        self.output.shrink_to_fit();
        self.input.clear();
        (self.follows, self.closed, self.parts) = (false, true, true);
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
