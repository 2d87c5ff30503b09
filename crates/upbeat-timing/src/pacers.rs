//! The pacers of one output, and which of them there is anything to plan for.
//!
//! An output has as many pacers as there are clients on it, most of which rest. Whoever changes a pacer wakes it;
//! [`Pacers::settle`] lets those rest again that nothing is planned for and that others do not have to reckon with.

use super::pacer::Pacer;
use crate::time::{Instant, Span};

/// Pacers that fit without an allocation.
const CAPACITY: usize = 64;
/// So long after its answer others may have to know that a client was drawing when they did: longer than anything that
/// counts as a cost.
const RECENT: Span = Span::from_seconds(1);

/// Names a pacer of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacerId(u32);

/// The pacers of one output.
#[derive(Clone, Debug)]
pub(super) struct Pacers {
    slots: Vec<Option<Box<Pacer>>>,
    /// In order. It has room for all of them.
    awake: Vec<PacerId>,
}

impl Pacers {
    /// None yet.
    pub fn new() -> Self {
        Pacers { slots: Vec::with_capacity(CAPACITY), awake: Vec::with_capacity(CAPACITY) }
    }

    /// One more.
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

    /// One less.
    pub fn remove(&mut self, id: PacerId) {
        if let Some(slot) = self.slots.get_mut(id.0 as usize) {
            *slot = None;
        }
        self.awake.retain(|other| *other != id);
    }

    /// The one called `id`.
    pub fn get(&self, id: PacerId) -> Option<&Pacer> {
        self.slots.get(id.0 as usize)?.as_deref()
    }

    /// The same, to change it: it is awake from now on.
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

    /// Those that are awake, by name.
    pub fn awake(&self) -> impl Iterator<Item = (PacerId, &Pacer)> {
        self.awake.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Changes those that are awake, in order.
    pub fn for_each_awake(&mut self, mut change: impl FnMut(&mut Pacer)) {
        for id in &self.awake {
            if let Some(pacer) = self.slots.get_mut(id.0 as usize).and_then(Option::as_deref_mut) {
                change(pacer);
            }
        }
    }

    /// Changes all of them.
    pub fn for_each(&mut self, change: impl FnMut(&mut Pacer)) {
        self.slots.iter_mut().flatten().map(|pacer| &mut **pacer).for_each(change);
    }

    /// Lets those rest that there is nothing to plan for.
    pub fn settle(&mut self, now: Instant) {
        let Pacers { slots, awake } = self;
        awake.retain(|id| {
            let pacer = slots.get(id.0 as usize).and_then(Option::as_deref);
            pacer.is_some_and(|pacer| !may_rest(pacer, now))
        });
        debug_assert!(
            slots.iter().enumerate().all(|(slot, pacer)| {
                let sleeps = awake.binary_search(&PacerId(slot as u32)).is_err();
                !sleeps || pacer.as_ref().is_none_or(|pacer| may_rest(pacer, now))
            }),
            "a pacer sleeps that something is planned for"
        );
    }
}

fn may_rest(pacer: &Pacer, now: Instant) -> bool {
    let is_drawn = pacer.is_drawing(now) || pacer.unfinished(now).next().is_some();
    let is_called = pacer.is_waiting() || pacer.planned().is_some() || is_drawn;
    !is_called && !pacer.is_interactive(now) && !pacer.answered_since(now - RECENT)
}
