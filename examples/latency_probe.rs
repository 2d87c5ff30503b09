//! The latency probe for any compositor: draws a window and reports when its frames became light.
//!
//! ```text
//! cargo run --release --example latency_probe -- --load heavy --duration 30
//! cargo run --release --example latency_probe -- --windows 11 --hold --json
//! latency_probe table RUN.json...          one table of earlier runs
//! ```
//!
//! Run it in a session with `WAYLAND_DISPLAY` set. Needs `wp_presentation`; input→light needs
//! `zwlr_virtual_pointer_manager_v1`. `upbeat_bench` explains the columns.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use clap::Parser;
use upbeat_bench::client::{ClientOptions, run_companion, run_with_others};
use upbeat_bench::report::{BenchReport, table};

#[derive(Parser)]
#[command(
    about = "Measures latency and drops of the Wayland compositor it runs in",
    args_conflicts_with_subcommands = true
)]
struct ProbeExampleArgs {
    #[command(subcommand)]
    command: Option<ProbeExampleCommand>,
    #[command(flatten)]
    options: ClientOptions,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum ProbeExampleCommand {
    /// Print the runs of earlier reports as one table
    Table {
        /// Reports as printed with --json
        files: Vec<PathBuf>,
        /// Print them as one report in JSON instead
        #[arg(long)]
        json: bool,
    },
}

fn main() -> anyhow::Result<()> {
    let line = ProbeExampleArgs::parse();
    if let Some(ProbeExampleCommand::Table { files, json }) = line.command {
        return print(&read(&files)?, json);
    }
    if line.options.companion.is_some() {
        println!("{}", serde_json::to_string(&run_companion(&line.options)?)?);
        return Ok(());
    }
    let program = std::env::current_exe().context("this program's own path")?;
    let run = run_with_others(&line.options, || Command::new(&program))?;
    print(&BenchReport { runs: vec![run] }, line.json)
}

fn read(files: &[PathBuf]) -> anyhow::Result<BenchReport> {
    let mut all = BenchReport::default();
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let report: BenchReport = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        all.runs.extend(report.runs);
    }
    Ok(all)
}

fn print(report: &BenchReport, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(report)?);
    } else {
        print!("{}", table(&report.runs));
    }
    Ok(())
}
