//! Queue of a virtual keyboard's requests.
//!
//! Of keymaps without keys between them, the newest valid keymap counts. Only compiling shows whether a keymap is
//! valid, so several wait, and the newest is tried first:
//!
//! ```text
//!   keymap g₁ · keymap g₂ · nonsense · key  →   nonsense: refused   →   g₂: in force   →   key   (g₁: never compiled)
//! ```

use std::collections::VecDeque;

use super::keymap_file::KeymapFile;
use crate::guard::CountedResource;
use crate::input::keyboard::ModifierMasks;
use upbeat_timing::time::Instant;

/// Waiting keymaps without keys between them at most. The oldest is dropped, since it would count only if so many newer
/// keymaps were all invalid. Each has a descriptor.
const MOST_IN_A_ROW: usize = 16;

/// A request of a virtual keyboard.
#[derive(Debug)]
pub(super) enum KeyboardRequest {
    Keymap(KeymapFile),
    Stroke(VirtualKeyEvent),
}

/// A key or modifiers request.
#[derive(Clone, Copy, Debug)]
pub(super) enum VirtualKeyEvent {
    Key { time: Instant, key: u32, pressed: bool },
    Modifiers { time: Instant, masks: ModifierMasks },
}

/// Count a waiting request for its client.
type Holds = Vec<CountedResource>;

/// Keymaps without keys between them, the newest last.
#[derive(Debug, Default)]
pub(super) struct KeymapRun(VecDeque<(KeymapFile, Holds)>);

impl KeymapRun {
    fn push(&mut self, file: KeymapFile, held: Holds) {
        if self.0.len() >= MOST_IN_A_ROW {
            self.0.pop_front();
        }
        self.0.push_back((file, held));
    }

    /// Removes the newest keymap, which is to be tried next.
    pub fn newest(&mut self) -> Option<(KeymapFile, Holds)> {
        self.0.pop_back()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[derive(Debug)]
pub(super) enum QueuedKeyboardRequest {
    Keymaps(KeymapRun),
    Stroke(VirtualKeyEvent, Holds),
}

/// All waiting requests, in order.
#[derive(Debug, Default)]
pub(super) struct KeyboardRequestQueue(VecDeque<QueuedKeyboardRequest>);

impl KeyboardRequestQueue {
    pub fn push(&mut self, request: KeyboardRequest, held: Holds) {
        match (request, self.0.back_mut()) {
            (KeyboardRequest::Keymap(file), Some(QueuedKeyboardRequest::Keymaps(row))) => row.push(file, held),
            (KeyboardRequest::Keymap(file), _) => {
                let mut row = KeymapRun::default();
                row.push(file, held);
                self.0.push_back(QueuedKeyboardRequest::Keymaps(row));
            }
            (KeyboardRequest::Stroke(stroke), _) => self.0.push_back(QueuedKeyboardRequest::Stroke(stroke, held)),
        }
    }

    /// Removes the first entry.
    pub fn pop(&mut self) -> Option<QueuedKeyboardRequest> {
        self.0.pop_front()
    }

    pub fn front(&self) -> Option<&QueuedKeyboardRequest> {
        self.0.front()
    }

    /// Drops the keymaps at the end, because no key follows them.
    pub fn drop_idle_keymaps(&mut self) {
        if matches!(self.0.back(), Some(QueuedKeyboardRequest::Keymaps(_))) {
            self.0.pop_back();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a client that is being ended sent any of the requests.
    pub fn is_of_ending_client(&self) -> bool {
        let ends = |held: &Holds| held.iter().any(CountedResource::is_of_ending_client);
        self.0.iter().any(|next| match next {
            QueuedKeyboardRequest::Keymaps(row) => row.0.iter().any(|(_, held)| ends(held)),
            QueuedKeyboardRequest::Stroke(_, held) => ends(held),
        })
    }

    /// Number of keymaps, and of keys.
    pub fn count(&self) -> (usize, usize) {
        self.0.iter().fold((0, 0), |(keymaps, strokes), next| match next {
            QueuedKeyboardRequest::Keymaps(row) => (keymaps + row.len(), strokes),
            QueuedKeyboardRequest::Stroke(..) => (keymaps, strokes + 1),
        })
    }
}
