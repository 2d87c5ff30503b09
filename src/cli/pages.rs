//! `upbeat man DIR` and `upbeat completions SHELL`: further files of an installation.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;

use super::manual;

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell to write it for.
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// Directory for the pages; it is created if it does not exist.
    folder: PathBuf,
}

impl CompletionsArguments {
    /// Prints the completion script.
    pub(super) fn run(self, mut command: Command) -> anyhow::Result<ExitCode> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut command, "upbeat", &mut text);
        io::stdout().lock().write_all(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ManArguments {
    /// Writes a page for each command, one for the configuration and one for messages.
    pub(super) fn run(self, command: Command) -> anyhow::Result<ExitCode> {
        let failed = || self.folder.display().to_string();
        fs::create_dir_all(&self.folder).with_context(failed)?;
        clap_mangen::generate_to(command, &self.folder).with_context(failed)?;
        for (name, text) in manual::pages() {
            write(&self.folder.join(name), &text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}
