//! Frames, drops and costs of each window.

use std::collections::HashMap;

use crate::timing::id::{ClientId, SurfaceId};
use crate::timing::record::{ClientFrameRecord, Ring, WindowStatistics};

/// Frames of a window whose records are kept.
const RECORDS: usize = crate::timing::record::RECORDS_KEPT;

/// What is known of one surface's frames.
#[derive(Debug, Default)]
pub struct SurfaceHistory {
    /// Whose.
    pub client: ClientId,
    /// Frames, drops, costs.
    pub statistics: WindowStatistics,
    /// The last frames.
    pub records: Ring<ClientFrameRecord, RECORDS>,
}

/// What is known of every surface's frames.
#[derive(Debug, Default)]
pub struct Windows(HashMap<SurfaceId, Box<SurfaceHistory>>);

impl Windows {
    /// Learns from a frame whose fate is known. Allocates for a surface's first frame only.
    pub fn observe(&mut self, record: &ClientFrameRecord) {
        let history = self.0.entry(record.surface).or_default();
        history.client = record.client;
        history.statistics.observe(record);
        history.records.push(*record);
    }

    /// What is known of `surface`.
    pub fn get(&self, surface: SurfaceId) -> Option<&SurfaceHistory> {
        self.0.get(&surface).map(Box::as_ref)
    }

    /// Every surface that has shown something.
    pub fn iter(&self) -> impl Iterator<Item = (SurfaceId, &SurfaceHistory)> {
        self.0.iter().map(|(surface, history)| (*surface, history.as_ref()))
    }

    /// The client is gone.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.0.retain(|_, history| history.client != client);
    }
}
