//! `upbeat validate [FILE]`: check a configuration file.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The file [default: upbeat/config.toml in the configuration directory].
    file: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("{:?}", self.file)
    }
}
