//! The exit status of a session, and of the command that runs in it.

use std::process::ExitCode;

/// The status that the shell sees: the command's own, or 128 + n if signal n ended the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitStatus(u8);

/// A shell adds this to the number of the signal that ended a command.
const SIGNAL_BASE: i32 = 128;

impl ExitStatus {
    /// The command or the session ended without an error.
    pub const SUCCESS: ExitStatus = ExitStatus(0);

    /// The session could not go on.
    pub const FAILURE: ExitStatus = ExitStatus(1);

    /// The status as the number that `exit` takes.
    pub const fn code(self) -> u8 {
        self.0
    }
}

impl From<std::process::ExitStatus> for ExitStatus {
    fn from(status: std::process::ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let code = status.code().or_else(|| status.signal().map(|signal| SIGNAL_BASE + signal));
        ExitStatus(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(status.0)
    }
}
