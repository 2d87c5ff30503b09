//! Limits how often a place in the code may log warnings and errors; further lines are counted. Libraries, too, warn
//! each time a client does something wrong, and a client can do that as often as it likes.
//!
//! Lines about one known client are limited per client (`guard::complaint`). This limit is for all other lines.

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
struct Place {
    since: Instant,
    lines: u32,
}

/// Drops lines beyond the limit and writes their number to `log`.
#[derive(Debug)]
pub struct LogLimits<W> {
    log: Mutex<W>,
    places: Mutex<HashMap<Identifier, Place>>,
}

impl<W: Write> LogLimits<W> {
    pub fn new(log: W) -> Self {
        LogLimits { log: Mutex::new(log), places: Mutex::default() }
    }

    /// Whether a line from the callsite of `metadata` may be written at `now`.
    fn may_write(&self, metadata: &Metadata<'_>, now: Instant) -> bool {
        if *metadata.level() > Level::WARN {
            return true;
        }
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = places.entry(metadata.callsite()).or_insert(Place { since: now, lines: 0 });
        if now.saturating_duration_since(place.since) >= WHILE {
            let more = place.lines.saturating_sub(LINES);
            *place = Place { since: now, lines: 0 };
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

impl<S: Subscriber, W: Write + 'static> Layer<S> for LogLimits<W>
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
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn warnings_without_number_are_few_lines_and_a_count_and_others_are_all_written() {
        let paper = Paper::default();
        let theirs = paper.clone();
        let limits = LogLimits::new(paper.clone());
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
