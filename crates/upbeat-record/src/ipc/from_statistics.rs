//! Converts the statistics that are kept into the messages of the private socket.

use crate::ipc::message::{CadenceStats, Frequency, Miss, OutputOrWindow, OutputStats, WindowStats};
use crate::trace::why_late;
use upbeat_timing::id::WindowId;
use upbeat_timing::record::{
    BlameCounts, ClientFrameRecord, EventRate, FrameRecord, OutputStatistics, SmoothnessCounters, WindowStatistics,
};
use upbeat_timing::time::Instant;

impl Frequency {
    /// The value of `rate` at `now`.
    pub fn new(rate: &EventRate, now: Instant) -> Self {
        Frequency { per_second: rate.per_second(now), total: rate.total() }
    }
}

impl CadenceStats {
    /// The values of `cadence` at `now`.
    pub fn new(cadence: &SmoothnessCounters, misses: BlameCounts, now: Instant) -> Self {
        CadenceStats {
            frames: Frequency::new(&cadence.frames, now),
            drops: Frequency::new(&cadence.drops, now),
            hitches: Frequency::new(&cadence.hitches, now),
            misses,
        }
    }
}

impl OutputStats {
    /// The statistics of the output called `name` at `now`.
    pub fn new(name: &str, statistics: &OutputStatistics, now: Instant) -> Self {
        OutputStats {
            output: name.to_owned(),
            cadence: CadenceStats::new(&statistics.cadence, statistics.misses, now),
            compose: statistics.compose.summary(),
            wake: statistics.wake.summary(),
            latch_to_light: statistics.latch_to_light.summary(),
        }
    }
}

impl WindowStats {
    /// The statistics of `window` at `now`.
    pub fn new(window: WindowId, app_id: &str, statistics: &WindowStatistics, now: Instant) -> Self {
        WindowStats {
            window,
            app_id: app_id.to_owned(),
            cadence: CadenceStats::new(&statistics.cadence, statistics.misses, now),
            input_to_light: statistics.input_to_light.summary(),
            callback_to_light: statistics.callback_to_light.summary(),
            commit_to_light: statistics.commit_to_light.summary(),
        }
    }
}

impl Miss {
    /// The miss of a frame of the output called `name`; `None` if the frame was in time.
    pub fn of_output(record: &FrameRecord, name: &str, now: Instant) -> Option<Self> {
        Some(Miss {
            target: OutputOrWindow::Output(name.to_owned()),
            refresh: record.target.0,
            ago: now - record.present,
            blame: record.miss?.blame(),
            sentence: why_late::output_sentence(record, name)?,
        })
    }

    /// The miss of a frame of a window; `None` if the frame was in time.
    pub fn of_client(record: &ClientFrameRecord, app_id: &str, now: Instant) -> Option<Self> {
        Some(Miss {
            target: OutputOrWindow::Window(record.window.unwrap_or_default()),
            refresh: record.target.0,
            ago: now - record.present,
            blame: record.miss?.blame(),
            sentence: why_late::client_sentence(record, app_id)?,
        })
    }

    /// The newest `limit` of `misses`, the oldest first.
    pub fn newest(mut misses: Vec<Miss>, limit: usize) -> Vec<Miss> {
        misses.sort_by_key(|miss| std::cmp::Reverse(miss.ago));
        let surplus = misses.len().saturating_sub(limit);
        misses.split_off(surplus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::record::MissReason;
    use upbeat_timing::time::Span;

    #[test]
    fn newest_misses_are_listed_with_the_oldest_first() {
        let now = Instant::ZERO + Span::from_seconds(100);
        let record = |seconds: i64| FrameRecord {
            present: Instant::ZERO + Span::from_seconds(seconds),
            miss: Some(MissReason::WokeLate { by: Span::from_millis(1) }),
            ..Default::default()
        };
        let misses = [70, 99, 80, 90].map(|at| Miss::of_output(&record(at), "HEADLESS-1", now).unwrap());
        let ago: Vec<_> = Miss::newest(misses.to_vec(), 3).iter().map(|miss| miss.ago).collect();
        assert_eq!(ago, [20, 10, 1].map(Span::from_seconds));
        assert_eq!(Miss::of_output(&FrameRecord::default(), "HEADLESS-1", now), None);
    }
}
