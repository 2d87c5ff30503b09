//! What the user lets clients have and do: one for all of a session, and what changes in it counts at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ahash::HashMap;
use rustix::process::{Pid, getpid};

use super::kinds::Kind;
use super::together::Together;

/// Something that lets a client see others, or act in their place or the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// Takes pictures of the screen.
    Capture,
    /// Types and points in the user's place, and has keys that are typed into fields of text.
    VirtualInput,
    /// Pins surfaces to outputs, above and below windows.
    Layers,
    /// Changes the colours of displays.
    Gamma,
    /// Sees and switches workspaces.
    Workspaces,
    /// Switches and arranges outputs.
    Outputs,
    /// Sees, closes and arranges others' windows.
    Toplevels,
    /// Makes sandboxes.
    Sandboxes,
    /// Sees and sets what is copied, without having the focus.
    Selections,
    /// Locks the session.
    Lock,
}

impl Privilege {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// How many of what one client may have, and which privileges nobody has.
#[derive(Debug)]
pub struct Rules {
    most: [AtomicU32; Kind::ALL.len()],
    withheld: AtomicU32,
    /// What is counted together, by process.
    processes: Mutex<HashMap<Pid, Weak<Together>>>,
}

impl Default for Rules {
    /// The built-in bounds; every privilege for those outside of sandboxes.
    fn default() -> Self {
        let most = std::array::from_fn(|index| AtomicU32::new(Kind::ALL[index].most()));
        Rules { most, withheld: AtomicU32::new(0), processes: Mutex::default() }
    }
}

impl Rules {
    /// How many of `kind` one client may have.
    pub fn most(&self, kind: Kind) -> u32 {
        self.most[kind as usize].load(Ordering::Relaxed)
    }

    /// One client may have `most` of `kind`. Who has more ends when it takes another.
    pub fn set_most(&self, kind: Kind, most: u32) {
        self.most[kind as usize].store(most, Ordering::Relaxed);
    }

    /// What all connections of `process` have together. Each of those that are made in this process (by tests, of themselves)
    /// counts by itself, and each whose process the kernel does not name.
    pub(super) fn together(&self, process: Option<Pid>) -> Arc<Together> {
        let Some(process) = process.filter(|process| *process != getpid()) else { return Arc::default() };
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = processes.get(&process).and_then(Weak::upgrade) {
            return known;
        }
        // As often as somebody new comes, so that there are never more than were ever there at once.
        processes.retain(|_, together| together.strong_count() > 0);
        let together = Arc::default();
        processes.insert(process, Arc::downgrade(&together));
        together
    }

    /// Whether those outside of sandboxes have `privilege`.
    pub fn grants(&self, privilege: Privilege) -> bool {
        self.withheld.load(Ordering::Relaxed) & privilege.bit() == 0
    }

    /// Grants or withholds `privilege`: who was told of it before keeps what it has, and binds no more of it.
    pub fn grant(&self, privilege: Privilege, granted: bool) {
        if granted {
            self.withheld.fetch_and(!privilege.bit(), Ordering::Relaxed);
        } else {
            self.withheld.fetch_or(privilege.bit(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_one_process_are_counted_together_while_it_has_any() {
        let rules = Rules::default();
        let process = |number| Pid::from_raw(number).filter(|process| *process != getpid());
        let first = rules.together(process(1));
        assert!(Arc::ptr_eq(&first, &rules.together(process(1))));
        assert!(!Arc::ptr_eq(&first, &rules.together(process(2))));
        assert!(!Arc::ptr_eq(&rules.together(Some(getpid())), &rules.together(Some(getpid()))), "tests");
        assert!(!Arc::ptr_eq(&rules.together(None), &rules.together(None)), "nobody knows whose they are");
        drop(first);
        rules.together(process(3));
        assert_eq!(rules.processes.lock().unwrap().len(), 1, "those that are gone are forgotten");
    }

    #[test]
    fn what_is_withheld_can_be_granted_again_and_nothing_else_changes() {
        let rules = Rules::default();
        rules.grant(Privilege::Capture, false);
        rules.grant(Privilege::Capture, false);
        assert!(!rules.grants(Privilege::Capture) && rules.grants(Privilege::Gamma));
        rules.grant(Privilege::Capture, true);
        assert!(rules.grants(Privilege::Capture));
        rules.set_most(Kind::Popups, 3);
        assert_eq!((rules.most(Kind::Popups), rules.most(Kind::Surfaces)), (3, Kind::Surfaces.most()));
    }
}
