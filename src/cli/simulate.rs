//! `upbeat simulate`: how each pacing would perform with recorded or synthetic frames.

use std::process::ExitCode;

use clap::Args;

/// The load to simulate.
#[derive(Debug, Args)]
pub(super) struct SimulateArguments {
    #[command(flatten)]
    simulation: upbeat_lab::cli::SimulateArgs,
}

impl SimulateArguments {
    /// Runs the simulation and prints its report.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        upbeat_lab::cli::run(&self.simulation)?;
        Ok(ExitCode::SUCCESS)
    }
}
