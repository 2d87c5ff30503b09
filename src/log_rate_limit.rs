//! Limits how often a place in the code may log warnings and errors; further lines are counted. Libraries, too, warn
//! each time a client does something wrong, and a client can do that as often as it likes.
//!
//! Lines about one known client are limited per client (`guard::warning_allowed`). This limit is for all other lines.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// In this period …
const WHILE: Duration = Duration::from_secs(1);
/// … one place in the code may write so many lines: more than a person reads.
const LINES: u32 = 20;

#[derive(Debug)]
struct CallsiteBudget {
    since: Instant,
    lines: u32,
}

/// Drops lines beyond the limit and writes their number to `log`.
#[derive(Debug)]
pub struct LogRateLimit<W> {
    log: Mutex<W>,
    places: Mutex<HashMap<Identifier, CallsiteBudget>>,
}

impl<W: Write> LogRateLimit<W> {
    pub fn new(log: W) -> Self {
        LogRateLimit { log: Mutex::new(log), places: Mutex::default() }
    }

    /// Whether a line from the callsite of `metadata` may be written at `now`.
    fn may_write(&self, metadata: &Metadata<'_>, now: Instant) -> bool {
        if *metadata.level() > Level::WARN {
            return true;
        }
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(metadata.callsite()).or_insert(CallsiteBudget { since: now, lines: 0 });
        if now.saturating_duration_since(place.since) >= WHILE {
            let more = place.lines.saturating_sub(LINES);
            *place = CallsiteBudget { since: now, lines: 0 };
            if more > 0 {
                let (file, line) = (metadata.file().unwrap_or_default(), metadata.line().unwrap_or_default());
                let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writeln!(log, "{more} more lines like the next were not written ({file}:{line})");
            }
        }
        place.lines = place.lines.saturating_add(1);
        place.lines <= LINES
    }
}

impl<S: Subscriber, W: Write + 'static> Layer<S> for LogRateLimit<W>
where
    Self: Send + Sync,
{
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.may_write(event.metadata(), Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt;

    /// Collects the written bytes.
    #[derive(Clone, Default)]
    struct CapturedLimitedLog(Arc<Mutex<Vec<u8>>>);

    impl Write for CapturedLimitedLog {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn flooded_callsite_is_limited_and_counted_and_other_lines_are_written() {
        let paper = CapturedLimitedLog::default();
        let theirs = paper.clone();
        let limits = LogRateLimit::new(paper.clone());
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::DEBUG)
            .with_writer(move || theirs.clone())
            .finish()
            .with(limits);
        let lines = |word: &str| String::from_utf8_lossy(&paper.0.lock().unwrap()).matches(word).count();
        tracing::subscriber::with_default(subscriber, || {
            let flood = |times| (0..times).for_each(|_| tracing::warn!("flooded"));
            flood(22_000);
            (0..100).for_each(|_| tracing::debug!("asked for"));
            tracing::warn!("another");
            // The whole test takes less than a second; on a slower machine a few more lines are written.
            assert!((20..200).contains(&lines("flooded")), "{}", lines("flooded"));
            std::thread::sleep(WHILE);
            flood(1);
        });
        assert_eq!((lines("asked for"), lines("another")), (100, 1));
        assert!(lines("more lines like the next were not written") >= 1);
    }
}
