//! Rate limit for warnings about one client: repeated lines of a kind are counted instead of written.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For so long after a line, further lines of its kind about the same client are only counted: a person can read one a
/// second.
const PAUSE: Duration = Duration::from_secs(1);

/// Warnings about one client. The number of suppressed lines is logged with the next line, or when the client is gone.
#[derive(Debug, Default)]
pub(super) struct ClientWarnings(Mutex<Vec<WarningKind>>);

#[derive(Debug)]
struct WarningKind {
    name: &'static str,
    last_logged: Instant,
    more: u32,
}

impl ClientWarnings {
    /// `None` if the line is suppressed; else the number of lines of this kind suppressed since the last.
    pub fn may_log(&self, name: &'static str, now: Instant) -> Option<u32> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kind) = kinds.iter_mut().find(|kind| kind.name == name) else {
            kinds.push(WarningKind { name, last_logged: now, more: 0 });
            return Some(0);
        };
        if now.saturating_duration_since(kind.last_logged) < PAUSE {
            kind.more = kind.more.saturating_add(1);
            return None;
        }
        kind.last_logged = now;
        Some(std::mem::take(&mut kind.more))
    }
}

impl Drop for ClientWarnings {
    fn drop(&mut self) {
        let kinds = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for WarningKind { name, more, .. } in kinds.iter().filter(|kind| kind.more > 0) {
            tracing::warn!(more, about = name, "further warnings about a client that is gone were suppressed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_is_logged_once_a_second_with_the_number_of_suppressed_lines() {
        let complaints = ClientWarnings::default();
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        assert_eq!(complaints.may_log("keymap", at(0)), Some(0));
        assert!((1..1_000).all(|moment| complaints.may_log("keymap", at(moment)).is_none()));
        assert_eq!(complaints.may_log("fence", at(500)), Some(0), "another kind");
        assert_eq!(complaints.may_log("keymap", at(1_000)), Some(999));
        assert_eq!(complaints.may_log("keymap", at(2_000)), Some(0));
        assert_eq!(ClientWarnings::default().may_log("keymap", at(0)), Some(0), "another client");
    }
}
