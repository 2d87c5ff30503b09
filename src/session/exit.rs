//! How a session, and the command that runs in it, ended.

use std::process::ExitCode;

/// The status that the shell sees: that of the command, or 128 + n if signal n ended it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitStatus(u8);

/// What a shell adds to the number of the signal that ended a command.
const SIGNAL_BASE: i32 = 128;

impl ExitStatus {
    /// All went well.
    pub const SUCCESS: ExitStatus = ExitStatus(0);

    /// The session could not go on.
    pub const FAILURE: ExitStatus = ExitStatus(1);

    /// The status as a number.
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
