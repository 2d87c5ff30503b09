//! `upbeat simulate`: the timing core on a simulated display.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<OsString>,
}

impl Arguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        bail!("the simulator is not built into this version ({} arguments ignored)", self.rest.len())
    }
}
