//! The `upbeat` command.

use std::io::IsTerminal;
use std::process::ExitCode;

use tracing_appender::non_blocking::NonBlockingBuilder;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use upbeat::log_filter::LogFilter;
use upbeat::log_rate_limit::LogRateLimit;
use upbeat::session::{RENDERER_LOG_TARGET, START_LOG_TARGET};

/// Lines of the log that may wait for the writing thread; further ones are lost.
const LINES_WAITING: usize = 4_096;

/// Default for `UPBEAT_LOG`: warnings, where the session runs, and its renderer.
fn default_log() -> EnvFilter {
    EnvFilter::new(format!("warn,{START_LOG_TARGET}=info,{RENDERER_LOG_TARGET}=info"))
}

fn main() -> ExitCode {
    upbeat::allocator_settings::return_large_blocks();
    let cli = upbeat::cli::Cli::from_arguments();
    // On a thread of its own, so that a full pipe or disk cannot block the session. Lines that do not fit are lost.
    let writer = || NonBlockingBuilder::default().buffered_lines_limit(LINES_WAITING).finish(std::io::stderr());
    let (log, _ends_last) = upbeat::session::signals::with_signals_blocked(writer);
    let filter = EnvFilter::try_from_env("UPBEAT_LOG").unwrap_or_else(|_| default_log());
    // A user who sets `UPBEAT_LOG` gets every line.
    let is_default = std::env::var_os("UPBEAT_LOG").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(log.clone())
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .finish()
        .with(is_default.then_some(LogFilter))
        .with(LogRateLimit::new(log))
        .init();
    match cli.run() {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("upbeat: {}", sentence(&error));
            ExitCode::FAILURE
        }
    }
}

/// Whether the output went to a closed pipe. That is no error: `head`, for example, closes it when it has enough. (When
/// a session hangs up, this error is wrapped in another.)
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The error and its causes. A cause that the text names already is not repeated.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}
