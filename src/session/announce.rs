//! Announces the session to the D-Bus session bus and to systemd: the addresses of its sockets, and that it is ready.
//!
//! Programs that the D-Bus session bus starts (the server of gnome-terminal, portals) are not children of the session:
//! they have the environment of the bus. So the bus gets the session's variables, but only if it belongs to this
//! session. A session in a window of another session shares the bus of that session, and programs started by that bus
//! belong to the outer session.
//!
//! ```text
//!   started by                        announces the session to
//!   systemd (NOTIFY_SOCKET)           systemd, the bus, and reports to systemd that the session is ready
//!   a login on a virtual terminal     the bus
//!   dbus-run-session                  the bus: it was made for this session
//!   anything else                     nothing
//! ```

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use sd_notify::NotifyState;

use super::BackendKind;

/// Commands that pass the environment to services before systemd counts the session as ready. A missing command is no
/// error: then there is also no service that needs it.
const ENVIRONMENTS: [&[&str]; 2] = [&["systemctl", "--user", "set-environment"], BUS];
/// Updates the environment of the bus; and of systemd, if systemd starts the services of the bus.
const BUS: &[&str] = &["dbus-update-activation-environment", "--systemd"];

/// How long the session waits for the bus before it starts programs, which may need such services. A working bus
/// answers within milliseconds; a bus that hangs must not block the session.
const PATIENCE: Duration = Duration::from_millis(500);
/// `dbus-run-session`, cut to the 15 bytes of a process name that the kernel keeps.
const OF_THE_BUS: &str = "dbus-run-sessio";

/// Announces a session to which clients can connect.
pub(super) fn announce(backend: BackendKind, environment: &[(&str, OsString)]) {
    if std::env::var_os("NOTIFY_SOCKET").is_some() {
        for command in ENVIRONMENTS {
            run_announcement(command, environment);
        }
        if let Err(error) = sd_notify::notify(false, &[NotifyState::Ready]) {
            tracing::error!(%error, "cannot notify the service manager that the session is ready");
        }
    } else if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() && (backend == BackendKind::Drm || has_own_bus()) {
        update_bus_environment(environment);
    }
}

/// Whether the session's parent process has started the bus for this session.
fn has_own_bus() -> bool {
    let parent = std::os::unix::process::parent_id();
    std::fs::read_to_string(format!("/proc/{parent}/comm")).is_ok_and(|name| name.trim_end() == OF_THE_BUS)
}

/// Updates the bus on a thread of its own, and waits for it for at most [`PATIENCE`].
fn update_bus_environment(environment: &[(&str, OsString)]) {
    let (done, finished) = mpsc::channel();
    let environment: Vec<_> = environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let thread = std::thread::Builder::new().name("bus".to_owned()).spawn(move || {
        let environment: Vec<_> = environment.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        run_announcement(BUS, &environment);
        // The receiver is gone if the session has stopped waiting.
        let _ = done.send(());
    });
    match thread {
        Ok(_) if finished.recv_timeout(PATIENCE).is_ok() => {}
        Ok(_) => {
            tracing::warn!("the D-Bus session bus does not answer: programs that it starts may not find the session")
        }
        Err(error) => tracing::warn!(%error, "cannot start a thread to update the D-Bus session bus"),
    }
}

fn run_announcement(command: &[&str], environment: &[(&str, OsString)]) {
    let Some((program, arguments)) = command.split_first() else { return };
    let assignments = environment.iter().map(|(name, value)| {
        let mut assignment = OsString::from(format!("{name}="));
        assignment.push(value);
        assignment
    });
    let status = Command::new(program)
        .args(arguments)
        .args(assignments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .env_remove("NOTIFY_SOCKET")
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => tracing::warn!(program, %status, "cannot pass the session's environment to services"),
        Err(error) => tracing::debug!(program, %error, "cannot pass the session's environment to services"),
    }
}
