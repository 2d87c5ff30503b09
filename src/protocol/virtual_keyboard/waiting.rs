//! What a virtual keyboard has said and what is not done yet.
//!
//! Of keymaps without keys between them the newest counts that is one. Which are is known only when they were compiled, so
//! that several wait, the newest to be tried first:
//!
//! ```text
//!   keymap g₁ · keymap g₂ · nonsense · key      →   nonsense: refused   →   g₂: in force   →   key   (g₁ is never compiled)
//! ```

use std::collections::VecDeque;

use super::file::KeymapFile;
use crate::guard::Held;
use crate::input::keyboard::Masks;
use upbeat_timing::time::Instant;

/// Keymaps without keys between them that wait: of more the oldest goes, for after so many that are none nobody waits for
/// it. Each is a descriptor.
const MOST_IN_A_ROW: usize = 16;

/// Something that a virtual keyboard said.
#[derive(Debug)]
pub(super) enum Said {
    Keymap(KeymapFile),
    Stroke(Stroke),
}

/// What is done on a keyboard.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stroke {
    Key { time: Instant, key: u32, pressed: bool },
    Modifiers { time: Instant, masks: Masks },
}

/// What counts as its client's while it waits.
type Holds = Vec<Held>;

/// Keymaps without keys between them, the newest last.
#[derive(Debug, Default)]
pub(super) struct Row(VecDeque<(KeymapFile, Holds)>);

impl Row {
    fn push(&mut self, file: KeymapFile, held: Holds) {
        if self.0.len() >= MOST_IN_A_ROW {
            self.0.pop_front();
        }
        self.0.push_back((file, held));
    }

    /// The one that is to be tried next.
    pub fn newest(&mut self) -> Option<(KeymapFile, Holds)> {
        self.0.pop_back()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// What waits next.
#[derive(Debug)]
pub(super) enum Next {
    Keymaps(Row),
    Stroke(Stroke, Holds),
}

/// All that waits, in order.
#[derive(Debug, Default)]
pub(super) struct Waiting(VecDeque<Next>);

impl Waiting {
    /// This is to be done after all else.
    pub fn push(&mut self, said: Said, held: Holds) {
        match (said, self.0.back_mut()) {
            (Said::Keymap(file), Some(Next::Keymaps(row))) => row.push(file, held),
            (Said::Keymap(file), _) => {
                let mut row = Row::default();
                row.push(file, held);
                self.0.push_back(Next::Keymaps(row));
            }
            (Said::Stroke(stroke), _) => self.0.push_back(Next::Stroke(stroke, held)),
        }
    }

    /// What is next.
    pub fn pop(&mut self) -> Option<Next> {
        self.0.pop_front()
    }

    /// See [`pop`](Self::pop).
    pub fn front(&self) -> Option<&Next> {
        self.0.front()
    }

    /// Keymaps that no key follows are nobody's business any more.
    pub fn drop_idle_keymaps(&mut self) {
        if matches!(self.0.back(), Some(Next::Keymaps(_))) {
            self.0.pop_back();
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a client that ends said any of it.
    pub fn is_of_one_who_ends(&self) -> bool {
        let ends = |held: &Holds| held.iter().any(Held::is_of_one_who_ends);
        self.0.iter().any(|next| match next {
            Next::Keymaps(row) => row.0.iter().any(|(_, held)| ends(held)),
            Next::Stroke(_, held) => ends(held),
        })
    }

    /// How many keymaps, and how much else.
    pub fn count(&self) -> (usize, usize) {
        self.0.iter().fold((0, 0), |(keymaps, strokes), next| match next {
            Next::Keymaps(row) => (keymaps + row.len(), strokes),
            Next::Stroke(..) => (keymaps, strokes + 1),
        })
    }
}
