//! The `upbeat` command.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

/// What is logged unless `UPBEAT_LOG` says otherwise.
const DEFAULT_LOG: &str = "warn";

fn main() -> ExitCode {
    upbeat::heap::give_large_blocks_back();
    let cli = upbeat::cli::Cli::parse();
    let filter = EnvFilter::try_from_env("UPBEAT_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match cli.run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("upbeat: {error:#}");
            ExitCode::FAILURE
        }
    }
}
