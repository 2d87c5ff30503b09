//! Frame statistics of each window: frames, drops and costs.

use std::collections::VecDeque;

use ahash::HashMap;

use upbeat_timing::id::SurfaceId;
use upbeat_timing::record::{ClientFrameRecord, RECORDS_KEPT, WindowStatistics};

/// Number of recent missed frames kept for each window.
const MISSES_KEPT: usize = 16;
/// Number of destroyed surfaces whose histories are kept: a window or two with their menus.
const GONE_KEPT: usize = 4;

/// Frame history of one surface.
#[derive(Debug, Default)]
pub struct SurfaceHistory {
    pub statistics: WindowStatistics,
    /// Recent missed frames, oldest first.
    pub missed: VecDeque<ClientFrameRecord>,
}

/// Frame histories of all surfaces, and of the last destroyed surfaces, so that a program's statistics can be read
/// shortly after its end.
#[derive(Debug)]
pub struct WindowHistories {
    /// `None` until the surface's first frame.
    histories: HashMap<SurfaceId, Option<Box<SurfaceHistory>>>,
    /// Destroyed surfaces with a history, oldest first.
    gone: VecDeque<SurfaceId>,
    /// The last frames of all surfaces.
    recent: VecDeque<ClientFrameRecord>,
}

impl Default for WindowHistories {
    fn default() -> Self {
        WindowHistories {
            histories: HashMap::default(),
            gone: VecDeque::new(),
            recent: VecDeque::with_capacity(RECORDS_KEPT),
        }
    }
}

impl WindowHistories {
    /// A surface was created.
    pub fn begin(&mut self, surface: SurfaceId) {
        self.histories.insert(surface, None);
    }

    /// Records a frame with a known outcome, even after its surface was destroyed. Allocates only while the
    /// surface's history grows beyond its former maximum.
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

    /// The history of `surface`.
    pub fn get(&self, surface: SurfaceId) -> Option<&SurfaceHistory> {
        self.histories.get(&surface)?.as_deref()
    }

    /// The last frames of all surfaces, oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &ClientFrameRecord> {
        self.recent.iter()
    }

    /// Every surface that had a frame, with its history.
    pub fn iter(&self) -> impl Iterator<Item = (SurfaceId, &SurfaceHistory)> {
        let histories = self.histories.iter();
        histories.filter_map(|(surface, history)| Some((*surface, history.as_deref()?)))
    }

    /// The surface was destroyed. Its history is kept until [`GONE_KEPT`] later surfaces are destroyed.
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
