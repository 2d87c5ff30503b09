//! Runs a bench's sessions: the compositor with a single client, in a temporary folder.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

use super::pixels::PixelError;
use upbeat_record::trace::line::LogLine;
use upbeat_timing::record::{ClientFrameRecord, FrameRecord};

/// Why a bench gave no figures.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The session's folder or its configuration cannot be written.
    #[error("{path}: {source}")]
    Folder { path: PathBuf, source: io::Error },
    /// The compositor does not start.
    #[error("{program} cannot be started: {source}")]
    Start { program: PathBuf, source: io::Error },
    /// A session ended without a report; its messages are on stderr.
    #[error("{run}: the session ended with {status}")]
    Session { run: String, status: std::process::ExitStatus },
    /// The recording or the probe's journal cannot be used.
    #[error("{run}: {source}")]
    Pixels { run: String, source: PixelError },
    /// The simulated game of the smoothness bench failed.
    #[error("{run}: {source}")]
    Game { run: String, source: Box<super::smoothness::GameError> },
    /// The client's standard output is no report.
    #[error("{run}: the client's report cannot be read: {source}")]
    Report { run: String, source: serde_json::Error },
}

/// The backend of a bench's sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum SessionBackend {
    /// Virtual displays
    #[default]
    Headless,
    /// Windows of the compositor in which the bench is started. That compositor reports light. Its pixels cannot be
    /// recorded, so no run is verified
    Nested,
    /// This machine's displays in their modes, from a terminal without a session. Nothing is recorded there either
    Drm,
}

impl SessionBackend {
    /// The argument of the compositor's `--backend`.
    fn backend(self) -> &'static str {
        match self {
            SessionBackend::Headless => "headless",
            SessionBackend::Nested => "nested",
            SessionBackend::Drm => "drm",
        }
    }
}

/// A folder for the sessions' sockets and configuration; removed when dropped.
#[derive(Debug)]
pub(super) struct SessionFolder {
    path: PathBuf,
    /// Path of the program that contains the compositor and the clients.
    upbeat: PathBuf,
}

impl SessionFolder {
    /// Creates a folder for sessions of this program.
    pub(super) fn create(upbeat: &Path) -> Result<Self, BenchError> {
        let path = env::temp_dir().join(format!("upbeat-bench-{}", std::process::id()));
        // The folder of a socket must be accessible to its owner only.
        let created = fs::DirBuilder::new().mode(0o700).create(&path);
        match created {
            Ok(()) => Ok(SessionFolder { path, upbeat: upbeat.to_owned() }),
            Err(source) => Err(BenchError::Folder { path, source }),
        }
    }

    /// A session in this folder, headless by default, on an output `WIDTHxHEIGHT@HZ` and with this configuration
    /// (TOML). Errors name `run`.
    pub(super) fn session(&self, run: &str, output: &str, config: &str) -> Result<BenchSession, BenchError> {
        let path = self.path("config.toml");
        fs::write(&path, config).map_err(|source| BenchError::Folder { path: path.clone(), source })?;
        let mut command = Command::new(&self.upbeat);
        command
            .arg("--config")
            .arg(path)
            .env("XDG_RUNTIME_DIR", &self.path)
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("DISPLAY")
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        let (upbeat, run, output) = (self.upbeat.clone(), run.to_owned(), output.to_owned());
        Ok(BenchSession { command, upbeat, run, displays: SessionBackend::default(), output })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path); // in the way of nobody if it stays
    }
}

/// The output frames of a frame log, in the order of the log.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn output_records(log: PathBuf) -> Result<Vec<FrameRecord>, BenchError> {
    let of_output = |line| if let LogLine::Output(explained) = line { Some(explained.record) } else { None };
    Ok(log_lines(log)?.into_iter().filter_map(of_output).collect())
}

/// The clients' frames of a frame log, in the order of the log.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn client_records(log: PathBuf) -> Result<Vec<ClientFrameRecord>, BenchError> {
    let of_client = |line| if let LogLine::Client(explained) = line { Some(explained.record) } else { None };
    Ok(log_lines(log)?.into_iter().filter_map(of_client).collect())
}

fn log_lines(log: PathBuf) -> Result<Vec<LogLine>, BenchError> {
    let text = fs::read_to_string(&log).map_err(|source| BenchError::Folder { path: log, source })?;
    // Skip lines of other types and of later versions.
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// A configured session that has not started.
#[derive(Debug)]
pub(super) struct BenchSession {
    command: Command,
    upbeat: PathBuf,
    run: String,
    displays: SessionBackend,
    /// Mode of a virtual output or a window; ignored on real monitors.
    output: String,
}

impl BenchSession {
    pub(super) fn with_backend(mut self, displays: SessionBackend) -> Self {
        self.displays = displays;
        if displays == SessionBackend::Nested {
            if let Some(display) = env::var_os("WAYLAND_DISPLAY") {
                // The session has a runtime folder of its own, so the parent's socket needs an absolute path.
                let folder = env::var_os("XDG_RUNTIME_DIR").unwrap_or_default();
                self.command.env("WAYLAND_DISPLAY", Path::new(&folder).join(display));
            }
            if let Some(display) = env::var_os("DISPLAY") {
                self.command.env("DISPLAY", display);
            }
        }
        self
    }

    /// Adds an option of the compositor with its value.
    pub(super) fn with_option(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.arg(name).arg(value);
        self
    }

    /// Runs the session to its end, with `upbeat bench CLIENT ARGUMENTS` as its only client. The client prints the
    /// report.
    pub(super) fn run<T: DeserializeOwned>(
        mut self,
        client: &str,
        arguments: impl IntoIterator<Item: AsRef<OsStr>>,
    ) -> Result<T, BenchError> {
        if self.displays != SessionBackend::Drm {
            self.command.args(["--output", &self.output]);
        }
        self.command
            .args(["--backend", self.displays.backend(), "--"])
            .arg(&self.upbeat)
            .args(["bench", client])
            .args(arguments);
        let started = self.command.output();
        let output = started.map_err(|source| BenchError::Start { program: self.upbeat, source })?;
        if !output.status.success() {
            return Err(BenchError::Session { run: self.run, status: output.status });
        }
        serde_json::from_slice(&output.stdout).map_err(|source| BenchError::Report { run: self.run, source })
    }
}
