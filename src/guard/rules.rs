//! Limits and privileges of clients, as the user sets them. One set for the whole session; a change applies at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ahash::HashMap;
use rustix::process::{Pid, getpid};

use super::resource_counts::SharedCounts;
use super::resource_kinds::Kind;

/// Lets a client see other clients, or act in their place or the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// Takes screenshots and recordings.
    Capture,
    /// Sends keys and pointer motion in the user's place, and gets keys typed into text fields (input methods).
    VirtualInput,
    /// Places layer surfaces on outputs, above and below windows.
    Layers,
    /// Sets the gamma ramps of outputs.
    Gamma,
    /// Sees and switches workspaces.
    Workspaces,
    /// Switches and arranges outputs.
    Outputs,
    /// Lists, closes and arranges other clients' windows.
    Toplevels,
    /// Creates sandboxes for other clients.
    Sandboxes,
    /// Reads and sets the selections without having the focus.
    Selections,
    Lock,
}

impl Privilege {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// Each client's limits, and the privileges that are withheld from all clients.
#[derive(Debug)]
pub struct Rules {
    most: [AtomicU32; Kind::ALL.len()],
    withheld: AtomicU32,
    /// Use of all connections of a process together.
    processes: Mutex<HashMap<Pid, Weak<SharedCounts>>>,
}

impl Default for Rules {
    /// The built-in limits; every privilege for clients outside of sandboxes.
    fn default() -> Self {
        let most = std::array::from_fn(|index| AtomicU32::new(Kind::ALL[index].most()));
        Rules { most, withheld: AtomicU32::new(0), processes: Mutex::default() }
    }
}

impl Rules {
    /// A client's limit for `kind`.
    pub fn limit(&self, kind: Kind) -> u32 {
        self.most[kind as usize].load(Ordering::Relaxed)
    }

    /// Sets a client's limit for `kind`. A client above the new limit is ended when it takes another.
    pub fn set_limit(&self, kind: Kind, most: u32) {
        self.most[kind as usize].store(most, Ordering::Relaxed);
    }

    /// The use shared by all connections of `process`. A connection from this process (tests have such) counts by
    /// itself, and so does a connection whose process the kernel does not name.
    pub(super) fn counts_of_process(&self, process: Option<Pid>) -> Arc<SharedCounts> {
        let Some(process) = process.filter(|process| *process != getpid()) else { return Arc::default() };
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = processes.get(&process).and_then(Weak::upgrade) {
            return known;
        }
        // With each new process, so that the map is never larger than the highest number of processes at one time.
        processes.retain(|_, together| together.strong_count() > 0);
        let together = Arc::default();
        processes.insert(process, Arc::downgrade(&together));
        together
    }

    /// Whether clients outside of sandboxes have `privilege`.
    pub fn grants(&self, privilege: Privilege) -> bool {
        self.withheld.load(Ordering::Relaxed) & privilege.bit() == 0
    }

    /// Grants or withholds `privilege`. A client keeps the globals that it has bound, but can bind no more of them.
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
        let first = rules.counts_of_process(process(1));
        assert!(Arc::ptr_eq(&first, &rules.counts_of_process(process(1))));
        assert!(!Arc::ptr_eq(&first, &rules.counts_of_process(process(2))));
        assert!(
            !Arc::ptr_eq(&rules.counts_of_process(Some(getpid())), &rules.counts_of_process(Some(getpid()))),
            "tests"
        );
        assert!(
            !Arc::ptr_eq(&rules.counts_of_process(None), &rules.counts_of_process(None)),
            "their process is unknown"
        );
        drop(first);
        rules.counts_of_process(process(3));
        assert_eq!(rules.processes.lock().unwrap().len(), 1, "those that are gone are forgotten");
    }

    #[test]
    fn withheld_privilege_can_be_granted_again() {
        let rules = Rules::default();
        rules.grant(Privilege::Capture, false);
        rules.grant(Privilege::Capture, false);
        assert!(!rules.grants(Privilege::Capture) && rules.grants(Privilege::Gamma));
        rules.grant(Privilege::Capture, true);
        assert!(rules.grants(Privilege::Capture));
        rules.set_limit(Kind::Popups, 3);
        assert_eq!((rules.limit(Kind::Popups), rules.limit(Kind::Surfaces)), (3, Kind::Surfaces.most()));
    }
}
