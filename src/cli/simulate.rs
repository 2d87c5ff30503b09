//! `upbeat simulate`: what each way of pacing would do with recorded or made-up frames.

use std::process::ExitCode;

use clap::Args;

/// What to simulate.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    simulation: upbeat_lab::cli::SimulateArgs,
}

impl Arguments {
    /// Runs the simulation and prints what came out.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        upbeat_lab::cli::run(&self.simulation)?;
        Ok(ExitCode::SUCCESS)
    }
}
