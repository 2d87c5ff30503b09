//! Services of the user hear where the session's sockets are, and systemd when it is ready.
//!
//! Programs that the D-Bus session bus starts (the server behind gnome-terminal, portals) are not children of the session: they
//! have the environment of the bus. So the bus is told, but only where it belongs to this session. A window of another
//! session shares that one's bus, and programs that are started there belong there.
//!
//! ```text
//!   started by                        tells
//!   systemd (NOTIFY_SOCKET)           systemd, the bus, and systemd that the session is ready
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

/// What services need to know before the session counts as ready. They may be missing; then nobody asks them either.
const ENVIRONMENTS: [&[&str]; 2] = [&["systemctl", "--user", "set-environment"], BUS];
/// Tells the bus; and systemd, where that starts the services of the bus.
const BUS: &[&str] = &["dbus-update-activation-environment", "--systemd"];

/// How long the session waits for the bus before it starts programs, which may want such services: the bus answers within
/// milliseconds, or it hangs and would take the session along.
const PATIENCE: Duration = Duration::from_millis(500);
/// As much of the name of the program that makes a bus for another as the kernel keeps.
const OF_THE_BUS: &str = "dbus-run-sessio";

/// Clients can connect: they find the session by this.
pub(super) fn announce(backend: BackendKind, environment: &[(&str, OsString)]) {
    if std::env::var_os("NOTIFY_SOCKET").is_some() {
        for command in ENVIRONMENTS {
            tell(command, environment);
        }
        if let Err(error) = sd_notify::notify(false, &[NotifyState::Ready]) {
            tracing::error!(%error, "the service manager cannot be told that the session is ready");
        }
    } else if std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() && (backend == BackendKind::Drm || made_the_bus())
    {
        tell_in_time(environment);
    }
}

/// Whether the program that started the session made the bus for it.
fn made_the_bus() -> bool {
    let parent = std::os::unix::process::parent_id();
    std::fs::read_to_string(format!("/proc/{parent}/comm")).is_ok_and(|name| name.trim_end() == OF_THE_BUS)
}

/// Tells the bus, on a thread of its own that is waited for only so long.
fn tell_in_time(environment: &[(&str, OsString)]) {
    let (done, told) = mpsc::channel();
    let environment: Vec<_> = environment.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let teller = std::thread::Builder::new().name("bus".to_owned()).spawn(move || {
        let environment: Vec<_> = environment.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        tell(BUS, &environment);
        // The session may have gone on.
        let _ = done.send(());
    });
    match teller {
        Ok(_) if told.recv_timeout(PATIENCE).is_ok() => {}
        Ok(_) => {
            tracing::warn!("the D-Bus session bus does not answer: programs that it starts may not find the session")
        }
        Err(error) => tracing::warn!(%error, "the D-Bus session bus is not told where the session is"),
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
