//! The `upbeat` command.

use std::io::IsTerminal;
use std::process::ExitCode;

use tracing_appender::non_blocking::NonBlockingBuilder;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use upbeat::log_limits::LogLimits;
use upbeat::log_noise::LogNoise;

/// What is logged unless `UPBEAT_LOG` says otherwise: what is wrong, where the session is, and who draws.
const DEFAULT_LOG: &str = "warn,upbeat::session::hello=info,upbeat::session::renderer=info";
/// Lines of the log that may wait to be written.
const LINES_WAITING: usize = 4_096;

fn main() -> ExitCode {
    upbeat::heap::give_large_blocks_back();
    let cli = upbeat::cli::Cli::from_arguments();
    // On a thread of its own: a pipe that nobody reads, or a full disk, is nothing to the session. What does not fit is lost.
    let writer = || NonBlockingBuilder::default().buffered_lines_limit(LINES_WAITING).finish(std::io::stderr());
    let (log, _ends_last) = upbeat::session::signals::out_of_reach(writer);
    let filter = EnvFilter::try_from_env("UPBEAT_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    // A log that is asked for has everything.
    let is_default = std::env::var_os("UPBEAT_LOG").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(log.clone())
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal())
        .finish()
        .with(is_default.then_some(LogNoise))
        .with(LogLimits::new(log))
        .init();
    match cli.run() {
        Ok(code) => code,
        Err(error) if nobody_reads(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("upbeat: {}", sentence(&error));
            ExitCode::FAILURE
        }
    }
}

/// Whether what was printed went to a pipe that was closed, as `head` does when it has enough: that is no mistake. (A session that
/// hangs up is another error, around this one.)
fn nobody_reads(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// What is wrong and why. Many errors name their cause themselves: it is not said twice.
fn sentence(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}
