//! `upbeat validate [FILE]`: check a configuration file.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use crate::config::{ConfigFile, default_path};

#[derive(Debug, Args)]
pub(super) struct ValidateArguments {
    /// The file [default: upbeat/config.toml in the configuration directory].
    file: Option<PathBuf>,
}

impl ValidateArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let named = self.file.or_else(|| default_path(|name| env::var_os(name)));
        let path = named.context("no file given, and neither XDG_CONFIG_HOME nor HOME is set")?;
        let file = ConfigFile::load(Some(path.clone()), None)?;
        file.config().keyboard.check()?;
        println!("{}: nothing wrong", path.display());
        Ok(ExitCode::SUCCESS)
    }
}
