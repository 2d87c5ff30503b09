//! `upbeat trace`: converts a frame log to a Perfetto trace.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use upbeat_record::trace::perfetto;

#[derive(Debug, Args)]
pub(super) struct TraceArguments {
    /// A frame log, as `--frame-log` or `upbeat msg record` writes it.
    log: PathBuf,
    /// The trace; open it at <https://ui.perfetto.dev>.
    #[arg(long, short = 'o', value_name = "TRACE")]
    output: PathBuf,
}

impl TraceArguments {
    /// Writes the trace and prints a summary.
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let open = || File::open(&self.log).map(BufReader::new);
        let create = || {
            let named = |error| io::Error::other(format!("cannot write {}: {error}", self.output.display()));
            File::create(&self.output).map(BufWriter::new).map_err(named)
        };
        let written = perfetto::write(open, create).with_context(|| self.log.display().to_string())?;
        let perfetto::TraceTotals { frames, misses, cut_off } = written;
        if cut_off {
            eprintln!("{}: its last line is cut off and was left out", self.log.display());
        }
        println!(
            "{}: {frames} frames, {misses} of them missed; open it at https://ui.perfetto.dev",
            self.output.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
