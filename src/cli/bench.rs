//! `upbeat bench`: measure a session from outside.

use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::{Args, Subcommand};

use crate::bench::client::{ClientOptions, run_companion, run_flooder, run_with_others};
use crate::bench::latency::LatencyOptions;
use crate::bench::report::{BenchReport, table};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Compare the pacings: each in a headless session of its own, with the same client and the same costs.
    Latency {
        #[command(flatten)]
        options: LatencyOptions,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Be the client: measure the session at WAYLAND_DISPLAY, of this or any other compositor.
    Probe {
        #[command(flatten)]
        options: Box<ClientOptions>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
}

impl Arguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let program = std::env::current_exe().context("this program's own path")?;
        let (report, json) = match self.bench {
            Bench::Latency { options, json } => (options.run(&program, |run| eprintln!("measuring {run}"))?, json),
            Bench::Probe { options, .. } if options.companion.is_some() => {
                let report = match options.flooding {
                    Some(flood) => run_flooder(&options, flood)?,
                    None => run_companion(&options)?,
                };
                println!("{}", serde_json::to_string(&report)?);
                return Ok(ExitCode::SUCCESS);
            }
            Bench::Probe { options, json } => {
                let others = || {
                    let mut command = Command::new(&program);
                    command.args(["bench", "probe"]);
                    command
                };
                (BenchReport { runs: vec![run_with_others(&options, others)?] }, json)
            }
        };
        if json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            print!("{}", table(&report.runs));
        }
        Ok(ExitCode::SUCCESS)
    }
}
