//! The pacers of one output, and the subset that is awake (may have a plan).
//!
//! An output has as many pacers as clients, and most of them sleep. Every change of a pacer wakes it.
//! [`Pacers::put_idle_to_sleep`] puts pacers back to sleep that have no plan and that no other pacer depends on.

use super::output::OutputMachine;
use super::pacer::Pacer;
pub use crate::id::PacerId;
use crate::time::{Instant, Span};

/// The number of pacers that fit without an allocation.
const CAPACITY: usize = 64;
/// A pacer stays awake this long after its answer, because other pacers may need to know that its client drew at the
/// same time. Longer than any cost.
const RECENT: Span = Span::from_seconds(1);

/// The pacers of one output.
#[derive(Clone, Debug)]
pub(super) struct Pacers {
    slots: Vec<Option<Box<Pacer>>>,
    /// Sorted, with capacity for all pacers.
    awake: Vec<PacerId>,
}

impl Pacers {
    pub fn new() -> Self {
        Pacers { slots: Vec::with_capacity(CAPACITY), awake: Vec::with_capacity(CAPACITY) }
    }

    pub fn add(&mut self, pacer: Pacer) -> PacerId {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Box::new(pacer));
        self.awake.reserve(self.slots.len() - self.awake.len());
        let id = PacerId(slot as u32);
        self.wake(id);
        id
    }

    pub fn remove(&mut self, id: PacerId) {
        if let Some(slot) = self.slots.get_mut(id.0 as usize) {
            *slot = None;
        }
        self.awake.retain(|other| *other != id);
    }

    pub fn get(&self, id: PacerId) -> Option<&Pacer> {
        self.slots.get(id.0 as usize)?.as_deref()
    }

    /// The pacer `id`, to change it: this wakes it.
    pub fn get_mut(&mut self, id: PacerId) -> Option<&mut Pacer> {
        let exists = self.get(id).is_some();
        if exists {
            self.wake(id);
        }
        self.slots.get_mut(id.0 as usize)?.as_deref_mut()
    }

    fn wake(&mut self, id: PacerId) {
        if let Err(place) = self.awake.binary_search(&id) {
            self.awake.insert(place, id);
        }
    }

    /// The awake pacers with their ids.
    pub fn awake(&self) -> impl Iterator<Item = (PacerId, &Pacer)> {
        self.awake.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Changes the awake pacers, in order.
    pub fn for_each_awake(&mut self, mut change: impl FnMut(&mut Pacer)) {
        for id in &self.awake {
            if let Some(pacer) = self.slots.get_mut(id.0 as usize).and_then(Option::as_deref_mut) {
                change(pacer);
            }
        }
    }

    /// Changes all pacers, awake or not.
    pub fn for_each(&mut self, change: impl FnMut(&mut Pacer)) {
        self.slots.iter_mut().flatten().map(|pacer| &mut **pacer).for_each(change);
    }

    /// The first line of the next planned write in place that a refresh has to begin for, and when its content is ready.
    /// `None` with a fixed rate, or if a client draws such content already, for which a refresh was planned or begun.
    pub fn row_to_refresh<T>(&self, now: Instant, output: &OutputMachine<T>) -> Option<(i32, Instant)> {
        let pacers = || self.awake().map(|(_, pacer)| pacer);
        if pacers().any(|pacer| pacer.in_place_row().is_some() && pacer.is_drawing(now)) {
            return None;
        }
        pacers().filter_map(|pacer| pacer.row_to_refresh(now, output)).min_by_key(|(_, ready)| *ready)
    }

    /// Puts pacers to sleep that nothing has to be planned for.
    pub fn put_idle_to_sleep(&mut self, now: Instant) {
        let Pacers { slots, awake } = self;
        awake.retain(|id| {
            let pacer = slots.get(id.0 as usize).and_then(Option::as_deref);
            pacer.is_some_and(|pacer| !may_sleep(pacer, now))
        });
        debug_assert!(
            slots.iter().enumerate().all(|(slot, pacer)| {
                let sleeps = awake.binary_search(&PacerId(slot as u32)).is_err();
                !sleeps || pacer.as_ref().is_none_or(|pacer| may_sleep(pacer, now))
            }),
            "a pacer with a plan sleeps"
        );
    }
}

fn may_sleep(pacer: &Pacer, now: Instant) -> bool {
    let is_drawn = pacer.is_drawing(now) || pacer.unfinished(now).next().is_some();
    let is_called = pacer.is_waiting() || pacer.planned().is_some() || is_drawn;
    !is_called && !pacer.is_interactive(now) && !pacer.answered_since(now - RECENT)
}
