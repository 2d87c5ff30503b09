//! Starts the other clients of a run, each in a process of its own, so that the compositor sees separate clients.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::ClientOptions;
use super::error::ClientError;
use super::session::run;
use crate::report::RunReport;

/// Starts the other windows of `options`, waits until each is mapped, then measures this window.
///
/// `program` makes the command that starts a probe: this program's own path, with the subcommand that calls
/// [`run_companion`](super::run_companion). The arguments of the window are added to it.
pub fn run_with_others(options: &ClientOptions, program: impl Fn() -> Command) -> Result<RunReport, ClientError> {
    let resting = if options.idle_windows > 0 {
        let mut command = program();
        command.args(options.resting_arguments());
        let mut resting = CompanionProcess::start(options.windows + options.flood, command)?;
        resting.wait_until_ready()?;
        Some(resting)
    } else {
        None
    };
    let mut others = Vec::new();
    for number in 1..options.windows {
        let mut command = program();
        command.args(options.companion_arguments(number));
        others.push(CompanionProcess::start(number, command)?);
    }
    for other in &mut others {
        other.wait_until_ready()?;
    }
    for number in 0..options.idle {
        let mut command = program();
        command.args(options.idle_arguments(number));
        let mut idle = CompanionProcess::start(options.windows + options.flood + number, command)?;
        idle.wait_until_ready()?;
        others.push(idle);
    }
    let mut flooders = Vec::new();
    for number in 0..options.flood {
        let mut command = program();
        command.args(options.flooder_arguments(number));
        let mut flooder = CompanionProcess::start(options.windows + number, command)?;
        flooder.wait_until_ready()?;
        flooders.push(flooder);
    }
    let mut report = run(options)?;
    for flooder in flooders {
        let flooded = flooder.finish()?;
        *report.flood_commits_per_s.get_or_insert(0.0) += flooded.frames as f64 / flooded.seconds.max(1e-9);
    }
    for other in others {
        report.others.push(other.finish()?);
    }
    if let Some(resting) = resting {
        resting.finish()?;
    }
    Ok(report)
}

struct CompanionProcess {
    number: u32,
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl CompanionProcess {
    fn start(number: u32, mut command: Command) -> Result<CompanionProcess, ClientError> {
        let failed = |problem: String| ClientError::Other { number, problem };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("cannot be started: {error}")))?;
        let stdout = child.stdout.take().ok_or_else(|| failed("has no output".to_owned()))?;
        Ok(CompanionProcess { number, child, stdout: BufReader::new(stdout) })
    }

    fn failed(&self, problem: impl ToString) -> ClientError {
        ClientError::Other { number: self.number, problem: problem.to_string() }
    }

    fn wait_until_ready(&mut self) -> Result<(), ClientError> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line) {
            Ok(_) if line.trim() == "ready" => Ok(()),
            Ok(_) => Err(self.failed("ended before it was mapped")),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Ends the process and returns its report.
    fn finish(mut self) -> Result<RunReport, ClientError> {
        drop(self.child.stdin.take());
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).map_err(|error| self.failed(error))?;
        let status = self.child.wait().map_err(|error| self.failed(error))?;
        serde_json::from_str(&text).map_err(|error| self.failed(format!("ended with {status} and no report: {error}")))
    }
}

impl Drop for CompanionProcess {
    /// Kills the process, so that none is left behind after an error of this window or of another.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
