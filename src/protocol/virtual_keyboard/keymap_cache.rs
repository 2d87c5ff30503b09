//! Cache of compiled keymaps.

use std::hash::{BuildHasher, RandomState};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use super::keymap_includes;
use crate::input::keymap::{CompiledKeymap, SpareKeyboard};

/// Files that a keymap may include, each of which is read and compiled. A keymap that a program has exported includes
/// none; one that a program makes up includes about five. With thousands, the keymaps of other clients would wait for
/// tens of seconds.
const MOST_INCLUDES: usize = 64;
/// Keymaps in the cache: a session uses two or three.
const MOST_KNOWN: usize = 16;
/// Bytes of all cached texts: sixteen times the usual keymap, and room for a large one. The compiled keymaps take about
/// ten times as much.
const MOST_KNOWN_BYTES: usize = 2 << 20;

/// Recently compiled texts, the last used last. Texts that are no valid keymaps are cached, too.
#[derive(Debug, Default)]
pub(super) struct KeymapCache {
    hasher: RandomState,
    entries: Vec<(u64, String, Option<Arc<CompiledKeymap>>)>,
    /// Context for compiling the next keymap. Creating one takes as long as compiling, so it is done while no keymap
    /// waits.
    next_context: Option<SpareKeyboard>,
    cannot_prepare: bool,
}

impl KeymapCache {
    /// Whether the next context is to be created when there is time.
    pub fn needs_context(&self) -> bool {
        self.next_context.is_none() && !self.cannot_prepare
    }

    /// Creates the next context.
    pub fn create_context(&mut self) {
        self.next_context = caught(SpareKeyboard::new);
        self.cannot_prepare = self.next_context.is_none();
    }

    /// The compiled keymap, from the cache if possible; `None` if `text` is no valid keymap.
    pub fn compile(&mut self, text: String) -> Option<Arc<CompiledKeymap>> {
        let hash = self.hasher.hash_one(&text);
        let place = self.entries.iter().position(|(other, known, _)| *other == hash && *known == text);
        let entry = match place {
            Some(place) => self.entries.remove(place),
            None => (hash, text.clone(), self.compile_anew(&text)),
        };
        let keymap = entry.2.clone();
        self.entries.push(entry);
        let bytes = |entries: &[(u64, String, _)]| entries.iter().map(|(_, text, _)| text.len()).sum::<usize>();
        while self.entries.len() > MOST_KNOWN || bytes(&self.entries) > MOST_KNOWN_BYTES {
            self.entries.remove(0);
        }
        keymap
    }

    fn compile_anew(&mut self, text: &str) -> Option<Arc<CompiledKeymap>> {
        if keymap_includes::count(text) > MOST_INCLUDES {
            return None;
        }
        let blank = self.next_context.take();
        caught(|| match blank.or_else(SpareKeyboard::new)?.compile(text) {
            Ok(keymap) => Some(Arc::new(keymap)),
            Err(blank) => {
                self.next_context = Some(blank);
                None
            }
        })
    }
}

/// Calls `make` and turns a panic into `None`.
fn caught<T>(make: impl FnOnce() -> Option<T>) -> Option<T> {
    std::panic::catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| {
        tracing::error!("panic while compiling a keymap");
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_text_is_compiled_once_and_the_cache_is_bounded() {
        let text = |number: usize| {
            let rest = "xkb_types \"t\" {}; xkb_compat \"c\" {}; xkb_symbols \"s\" {};";
            format!("xkb_keymap {{ xkb_keycodes \"{number}\" {{ <a> = 38; }}; {rest} }};")
        };
        let mut known = KeymapCache::default();
        let first = known.compile(text(0)).expect("it is one");
        assert!(Arc::ptr_eq(&first, &known.compile(text(0)).unwrap()));
        assert!(known.compile("none".to_owned()).is_none());
        for number in 1..=MOST_KNOWN {
            known.compile(text(number)).unwrap();
            // A keymap that is used again is not evicted first.
            assert!(Arc::ptr_eq(&first, &known.compile(text(0)).unwrap()));
        }
        assert_eq!(known.entries.len(), MOST_KNOWN);
        known.compile(" ".repeat(MOST_KNOWN_BYTES));
        assert_eq!(known.entries.len(), 1, "a large one takes the place of all");
        assert!(!Arc::ptr_eq(&first, &known.compile(text(0)).unwrap()));
    }

    #[test]
    fn a_keymap_includes_no_more_files_than_it_may() {
        let text = |count| {
            let types = "include \"complete\" ".repeat(count);
            let rest = "xkb_compat \"c\" {}; xkb_symbols \"s\" {};";
            format!("xkb_keymap {{ xkb_keycodes \"k\" {{ <a> = 38; }}; xkb_types \"t\" {{ {types} }}; {rest} }};")
        };
        let mut known = KeymapCache::default();
        assert!(known.compile(text(MOST_INCLUDES)).is_some());
        assert!(known.compile(text(MOST_INCLUDES + 1)).is_none());
    }
}
