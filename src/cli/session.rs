//! `upbeat [OPTIONS] [-- COMMAND...]`: run a session.

use std::ffi::OsString;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

use crate::config::OutputMode;
use crate::session::{self, BackendKind, RendererKind, SessionOptions};

/// Options of a session.
#[derive(Debug, Args)]
pub(super) struct SessionArguments {
    /// Backend that shows the frames.
    #[arg(long, value_enum, value_name = "BACKEND", default_value_t)]
    pub(super) backend: BackendKind,

    /// An output of a headless or nested session; may be given several times. A range of rates, such as
    /// 2560x1440@48-144, makes a variable refresh rate.
    #[arg(long = "output", value_name = "WIDTHxHEIGHT@HZ")]
    pub(super) outputs: Vec<OutputMode>,

    /// For measurements: overlay planes of each virtual output, at most 8. They show clients' buffers in shared memory.
    #[arg(long, hide = true, value_name = "N", default_value_t = 0)]
    overlay_planes: u32,

    /// Renderer that composes frames.
    #[arg(long, value_enum, value_name = "RENDERER", default_value_t)]
    renderer: RendererKind,

    /// For tests, with a renderer on the CPU: clients may allocate buffers on this display device, and use its
    /// timelines, although no hardware renders here.
    #[arg(long, hide = true, value_name = "NODE")]
    lend_device: Option<PathBuf>,

    /// Configuration file [default: upbeat/config.toml in the configuration directory, if it exists].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Write one JSON line per frame to FILE.
    #[arg(long, value_name = "FILE")]
    frame_log: Option<PathBuf>,

    /// Write a picture of every refresh to the directory DIR/OUTPUT (headless).
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,

    /// Write every refresh to one FILE, and the refreshes of a second output to FILE-OUTPUT (headless).
    #[arg(long, value_name = "FILE")]
    record_stream: Option<PathBuf>,

    /// Record only this part of each output, in pixels.
    #[arg(long, value_name = "X,Y,WIDTHxHEIGHT", value_parser = session::parse_picture_rect)]
    record_only: Option<session::PictureRect>,

    /// Name of the Wayland socket [default: the first free of wayland-1, wayland-2, ...].
    #[arg(long, value_name = "NAME")]
    pub(super) socket: Option<String>,

    /// Write the socket's name and a newline to file descriptor N once clients can connect.
    #[arg(long, value_name = "N")]
    ready_fd: Option<RawFd>,

    /// Program to run in the session, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

impl SessionArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let options = SessionOptions {
            backend: self.backend,
            outputs: self.outputs,
            overlay_planes: self.overlay_planes,
            renderer: self.renderer,
            lend_device: self.lend_device,
            config: self.config,
            frame_log: self.frame_log,
            record: self.record,
            record_stream: self.record_stream,
            record_only: self.record_only,
            socket: self.socket,
            ready: self.ready_fd.map(inherited).transpose()?,
            command: self.command,
        };
        Ok(session::run(options)?.into())
    }
}

/// Takes over a descriptor that our parent left open for us. It becomes close-on-exec, so that programs of the session
/// do not inherit it.
fn inherited(number: RawFd) -> anyhow::Result<OwnedFd> {
    if number <= libc::STDERR_FILENO {
        bail!("--ready-fd {number}: a descriptor above 2 was expected (0 to 2 are the standard streams)");
    }
    // SAFETY: the kernel only looks up the number, and answers for any number.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = fcntl_getfd(descriptor).with_context(|| format!("--ready-fd {number}: no such descriptor is open"))?;
    fcntl_setfd(descriptor, flags | FdFlags::CLOEXEC).with_context(|| format!("--ready-fd {number}"))?;
    // SAFETY: the descriptor is open, and was opened by our parent for us: nothing in this process owns it. This runs
    // once, before anything else is opened.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
