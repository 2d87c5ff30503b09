//! Frames, drops and costs of each window.

use std::collections::{HashMap, VecDeque};

use crate::timing::id::SurfaceId;
use crate::timing::record::{ClientFrameRecord, Ring, WindowStatistics};

/// Frames of a window whose records are kept.
const RECORDS: usize = crate::timing::record::RECORDS_KEPT;
/// Surfaces that are gone whose histories are kept, of more than 100 KiB each: a window or two with their menus.
const GONE_KEPT: usize = 4;

/// What is known of one surface's frames.
#[derive(Debug, Default)]
pub struct SurfaceHistory {
    /// Frames, drops, costs.
    pub statistics: WindowStatistics,
    /// The last frames.
    pub records: Ring<ClientFrameRecord, RECORDS>,
}

/// What is known of the frames of every surface that there is, and of the last that there were: a program that has ended
/// can be asked about for a while.
#[derive(Debug, Default)]
pub struct Windows {
    /// By surface; empty until its first frame.
    histories: HashMap<SurfaceId, Option<Box<SurfaceHistory>>>,
    /// Surfaces with a history that are gone, oldest first.
    gone: VecDeque<SurfaceId>,
}

impl Windows {
    /// There is a surface.
    pub fn begin(&mut self, surface: SurfaceId) {
        self.histories.insert(surface, None);
    }

    /// Learns from a frame whose fate is known, which may be after its surface is gone. Allocates for a surface's first
    /// frame only.
    pub fn observe(&mut self, record: &ClientFrameRecord) {
        let Some(history) = self.histories.get_mut(&record.surface) else { return };
        let history = history.get_or_insert_default();
        history.statistics.observe(record);
        history.records.push(*record);
    }

    /// What is known of `surface`.
    pub fn get(&self, surface: SurfaceId) -> Option<&SurfaceHistory> {
        self.histories.get(&surface)?.as_deref()
    }

    /// Every surface that has shown something.
    pub fn iter(&self) -> impl Iterator<Item = (SurfaceId, &SurfaceHistory)> {
        let histories = self.histories.iter();
        histories.filter_map(|(surface, history)| Some((*surface, history.as_deref()?)))
    }

    /// The surface is gone. Its history is kept until so many others went.
    pub(super) fn end(&mut self, surface: SurfaceId) {
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
