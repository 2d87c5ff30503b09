//! A client of the private socket, for `upbeat msg`, tests and scripts in Rust.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{PATH_VARIABLE, socket_path};
use crate::ipc::message::event::{Event, EventLine};
use crate::ipc::message::{Request, RequestLine, RequestResult, Response, ResponseLine};

/// Timeout of an answer. It is long because a screenshot of a large output is compressed before the answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum IpcClientError {
    /// The environment leads to no session.
    #[error(
        "no running session found: {PATH_VARIABLE} is not set, and there is no private socket beside that of \
         WAYLAND_DISPLAY. Run this inside the session, or name its socket with --socket"
    )]
    NoSession,
    /// No session listens on this socket.
    #[error("no session listens on {}: {source}", path.display())]
    Connect {
        /// Path of the socket.
        path: PathBuf,
        /// The error of `connect`.
        source: io::Error,
    },
    /// The connection failed, or the answer took too long.
    #[error("the session did not answer: {0}")]
    Io(#[from] io::Error),
    /// The answer is not valid JSON, or has an unknown form.
    #[error("the session answered something that this version does not understand: {0}")]
    Language(#[from] serde_json::Error),
    /// The session refused the request; the text is its reason.
    #[error("{0}")]
    Refused(String),
}

/// A connection to a running session.
#[derive(Debug)]
pub struct IpcClient {
    stream: BufReader<UnixStream>,
}

impl IpcClient {
    /// Connects to the private socket at `path`.
    pub fn connect(path: &Path) -> Result<Self, IpcClientError> {
        let stream =
            UnixStream::connect(path).map_err(|source| IpcClientError::Connect { path: path.to_owned(), source })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(IpcClient { stream: BufReader::new(stream) })
    }

    /// Sends a request and waits for the answer, for at most 30 seconds.
    pub fn request(&mut self, request: Request) -> Result<Response, IpcClientError> {
        // No timeout for picking a window, because the user may take any time.
        let patience = (request != Request::PickWindow).then_some(PATIENCE);
        self.stream.get_ref().set_read_timeout(patience)?;
        let mut line = serde_json::to_vec(&RequestLine::new(request))?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)?;
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has closed the connection").into());
        }
        match serde_json::from_str::<ResponseLine>(&line)?.result {
            RequestResult::Ok(response) => Ok(response),
            RequestResult::Error(sentence) => Err(IpcClientError::Refused(sentence)),
        }
    }
}

/// The event stream of a session, as a blocking iterator.
#[derive(Debug)]
pub struct EventSubscription {
    stream: BufReader<UnixStream>,
}

impl IpcClient {
    /// Subscribes to all events from now on. The first event is the complete state.
    pub fn subscribe(mut self) -> Result<EventSubscription, IpcClientError> {
        self.request(Request::Events)?;
        // No timeout, because a session may have no event for a long time.
        self.stream.get_ref().set_read_timeout(None)?;
        Ok(EventSubscription { stream: self.stream })
    }
}

impl Iterator for EventSubscription {
    type Item = Result<Event, IpcClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = String::new();
            match self.stream.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error.into())),
            }
            if let Ok(news) = serde_json::from_str::<EventLine>(&line) {
                return Some(Ok(news.event));
            }
            // An event of an unknown, newer kind is skipped.
            if let Ok(ResponseLine { result: RequestResult::Error(sentence), .. }) = serde_json::from_str(&line) {
                return Some(Err(IpcClientError::Refused(sentence)));
            }
        }
    }
}

/// Finds the session's private socket: the path in `UPBEAT_SOCKET`, or else the socket beside the Wayland socket called
/// `WAYLAND_DISPLAY`. `environment` looks up environment variables.
pub fn find_socket(environment: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, IpcClientError> {
    let variable = |name| environment(name).filter(|value| !value.is_empty());
    if let Some(path) = variable(PATH_VARIABLE) {
        return Ok(path.into());
    }
    let runtime = variable("XDG_RUNTIME_DIR").ok_or(IpcClientError::NoSession)?;
    let display =
        variable("WAYLAND_DISPLAY").and_then(|name| name.into_string().ok()).ok_or(IpcClientError::NoSession)?;
    let path = socket_path(Path::new(&runtime), &display);
    if path.exists() { Ok(path) } else { Err(IpcClientError::NoSession) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<PathBuf> {
        find_socket(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())).ok()
    }

    #[test]
    fn the_socket_is_found_by_its_variable_or_beside_the_wayland_socket() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = directory.path().to_str().unwrap();
        let beside = [("XDG_RUNTIME_DIR", runtime), ("WAYLAND_DISPLAY", "wayland-4")];
        assert_eq!(find(&[(PATH_VARIABLE, "/run/x")]).unwrap(), Path::new("/run/x"));
        assert_eq!(find(&[]), None);
        assert_eq!(find(&beside), None, "another compositor's display");
        std::fs::write(directory.path().join("wayland-4.upbeat.sock"), "").unwrap();
        assert_eq!(find(&beside).unwrap(), directory.path().join("wayland-4.upbeat.sock"));
    }
}
