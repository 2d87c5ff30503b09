//! A session as a systemd service: says when it is ready, and tells the other services of its user where its sockets
//! are. Without systemd (no `NOTIFY_SOCKET`) nothing of this happens.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use sd_notify::NotifyState;

/// What services need to know before the session counts as ready. They may be missing; then nobody asks them either.
const ENVIRONMENTS: [&[&str]; 2] =
    [&["systemctl", "--user", "set-environment"], &["dbus-update-activation-environment"]];

/// Clients can connect: they find the session by this.
pub(super) fn announce(environment: &[(&str, OsString)]) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    for command in ENVIRONMENTS {
        tell(command, environment);
    }
    if let Err(error) = sd_notify::notify(false, &[NotifyState::Ready]) {
        tracing::error!(%error, "the service manager cannot be told that the session is ready");
    }
}

fn tell(command: &[&str], environment: &[(&str, OsString)]) {
    let Some((program, arguments)) = command.split_first() else { return };
    let assignments = environment.iter().map(|(name, value)| {
        let mut assignment = OsString::from(format!("{name}="));
        assignment.push(value);
        assignment
    });
    let told = Command::new(program)
        .args(arguments)
        .args(assignments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .env_remove("NOTIFY_SOCKET")
        .status();
    match told {
        Ok(status) if status.success() => {}
        Ok(status) => tracing::warn!(program, %status, "services do not learn where the session is"),
        Err(error) => tracing::debug!(program, %error, "services are not told where the session is"),
    }
}
