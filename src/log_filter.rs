//! Filters lines that libraries log as errors although nothing is wrong. Our own code reports the outcome.
//!
//! * EGL calls back for each error of a device that is only probed, and Smithay logs it. A device that cannot render is
//!   skipped, and our code logs the reason ([`probing`]).
//! * Smithay drops the DRM master when a session is paused. The session's daemon has done so already, so the kernel
//!   reports an error. It also tries to become the master of each device that it opens, even of one that only renders.
//! * A client goes on sending until it reads its protocol error. Its requests are ignored, and `wayland-server` logs
//!   each.
//! * libwayland ends its lines where `wayland-backend` begins a new one, which leaves an empty line.
//!
//! All other lines from the same places are written.

use std::cell::Cell;
use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Log target of Smithay's EGL code.
const EGL: &str = "smithay::backend::egl";
/// Log target of Smithay's DRM devices.
const DRM_DEVICE: &str = "smithay::backend::drm::device";
/// Starts of the lines about the DRM master: dropped, or not obtained.
const MASTER: [&str; 2] = ["Failed to drop drm master state", "Unable to become drm master"];

/// Target of all lines from libraries that log with the crate `log`.
const LOG: &str = "log";
/// Start of the lines about clients that have a protocol error already.
const DEAD_CLIENT: &str = "Receiving a request from a dead client";

thread_local! {
    /// A device is being probed on this thread.
    static PROBING: Cell<bool> = const { Cell::new(false) };
}

/// Probes whether a device can render. EGL errors are expected meanwhile, so they are not logged.
pub fn probing<T>(probe: impl FnOnce() -> T) -> T {
    /// Ends the probe, even if `probe` panics.
    struct Probe(bool);
    impl Drop for Probe {
        fn drop(&mut self) {
            PROBING.set(self.0);
        }
    }
    let _probe = Probe(PROBING.replace(true));
    probe()
}

/// Filters the lines named in the module's documentation.
#[derive(Debug, Default)]
pub struct LogFilter;

impl<S: Subscriber> Layer<S> for LogFilter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let target = event.metadata().target();
        if target.starts_with(EGL) {
            return !PROBING.get();
        }
        if target == LOG {
            let message = message_of(event);
            return !message.trim().is_empty() && !message.starts_with(DEAD_CLIENT);
        }
        !target.starts_with(DRM_DEVICE) || !MASTER.iter().any(|start| message_of(event).starts_with(start))
    }
}

fn message_of(event: &Event<'_>) -> String {
    struct MessageVisitor(String);
    impl Visit for MessageVisitor {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            if field.name() == "message" {
                self.0 = format!("{value:?}");
            }
        }
    }
    let mut message = MessageVisitor(String::new());
    event.record(&mut message);
    message.0
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct CapturedNoiseLog(Arc<Mutex<Vec<u8>>>);

    impl Write for CapturedNoiseLog {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The lines that the filter lets through while `speak` runs.
    fn written(speak: impl FnOnce()) -> String {
        let paper = CapturedNoiseLog::default();
        let writer = paper.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish().with(LogFilter);
        tracing::subscriber::with_default(subscriber, speak);
        String::from_utf8(paper.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn egl_errors_are_suppressed_only_while_probing() {
        let egl_fails = || tracing::error!(target: "smithay::backend::egl::ffi", "[EGL] 0x3001 (NOT_INITIALIZED)");
        assert_eq!(written(|| probing(egl_fails)), "");
        let lines = written(|| {
            probing(|| tracing::error!("of something else"));
            egl_fails();
        });
        assert!(lines.contains("of something else") && lines.contains("NOT_INITIALIZED"), "{lines}");
    }

    #[test]
    fn lines_about_dead_clients_and_empty_lines_are_suppressed() {
        let lines = written(|| {
            tracing::error!(target: "log", "Receiving a request from a dead client ?!");
            tracing::error!(target: "log", "\n");
            tracing::warn!(target: "log", "Dispatching error encountered");
        });
        assert_eq!((lines.lines().count(), lines.contains("Dispatching error")), (1, true), "{lines}");
    }

    #[test]
    fn failed_drm_master_drop_is_suppressed_and_failed_acquire_is_not() {
        let cause = "Invalid argument";
        let lines = written(|| {
            tracing::error!(target: "smithay::backend::drm::device", "Failed to drop drm master state Error: {cause}");
            tracing::error!(target: "smithay::backend::drm::device::fd", "Failed to drop drm master state. Error: {cause}");
            let unprivileged = "Unable to become drm master, assuming unprivileged mode";
            tracing::warn!(target: "smithay::backend::drm::device::fd", "{unprivileged}");
        });
        assert_eq!(lines, "");
        let lines = written(|| {
            tracing::error!(target: "smithay::backend::drm::device", "Failed to acquire drm master again. Error: {cause}");
        });
        assert!(lines.contains("acquire drm master"), "{lines}");
    }
}
