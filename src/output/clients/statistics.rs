//! Frames, drops and costs of each window.

use std::collections::VecDeque;

use ahash::HashMap;

use upbeat_timing::id::SurfaceId;
use upbeat_timing::record::{ClientFrameRecord, RECORDS_KEPT, WindowStatistics};

/// Missed frames of a window that are kept: what went wrong last.
const MISSES_KEPT: usize = 16;
/// Surfaces that are gone whose histories are kept: a window or two with their menus.
const GONE_KEPT: usize = 4;

/// What is known of one surface's frames.
#[derive(Debug, Default)]
pub struct SurfaceHistory {
    /// Frames, drops, costs.
    pub statistics: WindowStatistics,
    /// The last frames that were missed, oldest first.
    pub missed: VecDeque<ClientFrameRecord>,
}

/// What is known of the frames of every surface that there is, and of the last that there were: a program that has ended
/// can be asked about for a while.
#[derive(Debug)]
pub struct Windows {
    /// By surface; empty until its first frame.
    histories: HashMap<SurfaceId, Option<Box<SurfaceHistory>>>,
    /// Surfaces with a history that are gone, oldest first.
    gone: VecDeque<SurfaceId>,
    /// The last frames of all of them.
    recent: VecDeque<ClientFrameRecord>,
}

impl Default for Windows {
    fn default() -> Self {
        Windows { histories: HashMap::default(), gone: VecDeque::new(), recent: VecDeque::with_capacity(RECORDS_KEPT) }
    }
}

impl Windows {
    /// There is a surface.
    pub fn begin(&mut self, surface: SurfaceId) {
        self.histories.insert(surface, None);
    }

    /// Learns from a frame whose fate is known, which may be after its surface is gone. Allocates while there is more to
    /// remember than there ever was of this surface.
    pub fn observe(&mut self, record: &ClientFrameRecord) {
        let Some(history) = self.histories.get_mut(&record.surface) else { return };
        let history = history.get_or_insert_default();
        if self.recent.len() == RECORDS_KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(*record);
        history.statistics.observe(record);
        if record.miss.is_some() {
            if history.missed.len() == MISSES_KEPT {
                history.missed.pop_front();
            }
            history.missed.push_back(*record);
        }
    }

    /// What is known of `surface`.
    pub fn get(&self, surface: SurfaceId) -> Option<&SurfaceHistory> {
        self.histories.get(&surface)?.as_deref()
    }

    /// The last frames of all surfaces, oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &ClientFrameRecord> {
        self.recent.iter()
    }

    /// Every surface that has shown something.
    pub fn iter(&self) -> impl Iterator<Item = (SurfaceId, &SurfaceHistory)> {
        let histories = self.histories.iter();
        histories.filter_map(|(surface, history)| Some((*surface, history.as_deref()?)))
    }

    /// The surface is gone. Its history is kept until so many others went.
    pub(in crate::output) fn end(&mut self, surface: SurfaceId) {
        if self.get(surface).is_none() {
            self.histories.remove(&surface);
            return;
        }
        self.gone.push_back(surface);
        if self.gone.len() > GONE_KEPT
            && let Some(oldest) = self.gone.pop_front()
        {
            self.histories.remove(&oldest);
        }
    }
}
