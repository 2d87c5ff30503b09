//! The thread that reads and compiles clients' keymaps, and knows those that it has compiled lately.
//!
//! ```text
//!  keyboards ── one keymap each at a time ──► in line, client after client ──► memory: read ─┬► known? ─► compiled
//!                                                                     else: a reader of its own ┘
//! ```

use std::collections::VecDeque;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use calloop::LoopHandle;
use calloop::channel::{self, Event, Sender};
use smithay::reexports::wayland_server::backend::ClientId;

use super::includes;
use crate::input::KeyboardId;
use crate::input::keymap::{Blank, Keymap};
use crate::lent_files::{self, Lent};
use crate::state::State;

/// The largest keymap that is read, in bytes. The full `us` keymap has about 60 kB.
pub(super) const MAX_KEYMAP_BYTES: u32 = 1 << 20;
/// Files that a keymap may include, each of which is read and compiled. One that was compiled before has none, made-up ones
/// about five; thousands would have all others wait for tens of seconds.
const MOST_INCLUDES: usize = 64;
/// Keymaps that are known: a session has two or three.
const MOST_KNOWN: usize = 16;
/// Bytes of all texts that are known: sixteen times the usual keymap and room for a large one. What is compiled of them
/// takes about ten times as much.
const MOST_KNOWN_BYTES: usize = 2 << 20;
/// Files on disks that are read at the same time: more wait for no answer.
const MOST_READERS: usize = 4;
/// What it does can wait for those who draw.
const NICENESS: i32 = 5;

/// What became of a keymap: whose, the number it was handed over with, and what it is if it is one.
pub(super) type Compiled = (KeyboardId, u64, Option<Arc<Keymap>>);

/// What is to be compiled.
#[derive(Debug)]
enum Source {
    File(Lent, u32),
    /// It was read already.
    Text(Option<String>),
}

#[derive(Debug)]
struct Job {
    keyboard: KeyboardId,
    number: u64,
    source: Source,
}

/// Who waits: clients take turns.
#[derive(Debug, Default)]
struct Line {
    clients: VecDeque<(ClientId, VecDeque<Job>)>,
    has_ended: bool,
}

impl Line {
    fn push(&mut self, client: ClientId, job: Job) {
        match self.clients.iter_mut().find(|(other, _)| *other == client) {
            Some((_, jobs)) => jobs.push_back(job),
            None => self.clients.push_back((client, VecDeque::from([job]))),
        }
    }

    fn pop(&mut self) -> Option<(ClientId, Job)> {
        let (client, mut jobs) = self.clients.pop_front()?;
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            self.clients.push_back((client.clone(), jobs));
        }
        job.map(|job| (client, job))
    }

    fn forget(&mut self, keyboard: KeyboardId) {
        self.clients.iter_mut().for_each(|(_, jobs)| jobs.retain(|job| job.keyboard != keyboard));
        self.clients.retain(|(_, jobs)| !jobs.is_empty());
    }
}

#[derive(Debug, Default)]
struct Shared {
    line: Mutex<Line>,
    news: Condvar,
    readers: AtomicUsize,
}

impl Shared {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, client: ClientId, job: Job) {
        self.line().push(client, job);
        self.news.notify_one();
    }
}

/// Compiles keymaps on a thread of its own. Dropped, it ends with the one that it compiles.
#[derive(Debug)]
pub(super) struct Compiler(Arc<Shared>);

impl Compiler {
    /// Starts the thread. `compiled` hears what became of each keymap.
    pub fn start(handle: &LoopHandle<'static, State>, compiled: fn(&mut State, Compiled)) -> io::Result<Self> {
        let (tell, done) = channel::channel();
        let heard = handle.insert_source(done, move |event, (), state| match event {
            Event::Msg(what) => compiled(state, what),
            Event::Closed => {}
        });
        heard.map_err(|error| io::Error::other(error.to_string()))?;
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        std::thread::Builder::new().name("keymaps".to_owned()).spawn(move || {
            let _ = rustix::process::setpriority_process(None, NICENESS);
            work(&theirs, &tell);
        })?;
        Ok(Compiler(shared))
    }

    /// Hands a keymap over: a file with up to `size` bytes of text.
    pub fn compile(&self, client: ClientId, keyboard: KeyboardId, number: u64, file: Lent, size: u32) {
        self.0.push(client, Job { keyboard, number, source: Source::File(file, size) });
    }

    /// Nobody waits for the keymap of `keyboard` any more.
    pub fn forget(&self, keyboard: KeyboardId) {
        self.0.line().forget(keyboard);
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        self.0.line().has_ended = true;
        self.0.news.notify_one();
    }
}

fn work(shared: &Arc<Shared>, tell: &Sender<Compiled>) {
    let mut known = Known::default();
    loop {
        let mut line = shared.line();
        let (client, Job { keyboard, number, source }) = loop {
            if line.has_ended {
                return;
            }
            match line.pop() {
                Some(job) => break job,
                None if known.lacks_blank() => {
                    drop(line);
                    known.prepare();
                    line = shared.line();
                }
                None => line = shared.news.wait(line).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(line);
        let text = match source {
            Source::Text(text) => text,
            Source::File(file, size) if file.is_memory() => file.take().and_then(|file| read_keymap(file, size)),
            Source::File(file, size) => match read_elsewhere(shared, &client, keyboard, number, file, size) {
                true => continue,
                false => None,
            },
        };
        let keymap = text.and_then(|text| known.compile(text));
        if tell.send((keyboard, number, keymap)).is_err() {
            return;
        }
    }
}

/// Has a file read that nobody knows how long that takes of. Returns whether there is anybody to do it.
fn read_elsewhere(
    shared: &Arc<Shared>,
    client: &ClientId,
    keyboard: KeyboardId,
    number: u64,
    file: Lent,
    size: u32,
) -> bool {
    if shared.readers.fetch_add(1, Ordering::Relaxed) >= MOST_READERS {
        shared.readers.fetch_sub(1, Ordering::Relaxed);
        return false;
    }
    let (theirs, client) = (shared.clone(), client.clone());
    let reader = std::thread::Builder::new().name("keymap file".to_owned()).spawn(move || {
        let text = file.take().and_then(|file| read_keymap(file, size));
        theirs.readers.fetch_sub(1, Ordering::Relaxed);
        theirs.push(client, Job { keyboard, number, source: Source::Text(text) });
    });
    if reader.is_err() {
        shared.readers.fetch_sub(1, Ordering::Relaxed);
    }
    reader.is_ok()
}

/// What was compiled lately, the latest last; texts that are no keymaps, too.
#[derive(Debug, Default)]
struct Known {
    hasher: RandomState,
    entries: Vec<(u64, String, Option<Arc<Keymap>>)>,
    /// What the next is compiled in: making one takes as long as compiling does, and is done while nobody waits.
    blank: Option<Blank>,
    cannot_prepare: bool,
}

impl Known {
    fn lacks_blank(&self) -> bool {
        self.blank.is_none() && !self.cannot_prepare
    }

    fn prepare(&mut self) {
        self.blank = caught(Blank::new);
        self.cannot_prepare = self.blank.is_none();
    }

    fn compile(&mut self, text: String) -> Option<Arc<Keymap>> {
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

    fn compile_anew(&mut self, text: &str) -> Option<Arc<Keymap>> {
        if includes::count(text) > MOST_INCLUDES {
            return None;
        }
        let blank = self.blank.take();
        caught(|| match blank.or_else(Blank::new)?.compile(text) {
            Ok(keymap) => Some(Arc::new(keymap)),
            Err(blank) => {
                self.blank = Some(blank);
                None
            }
        })
    }
}

/// What `make` makes; nothing where that meets a bug.
fn caught<T>(make: impl FnOnce() -> Option<T>) -> Option<T> {
    std::panic::catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| {
        tracing::error!("a keymap could not be compiled: a bug");
        None
    })
}

/// The text of a keymap. Only regular files (memory files among them) are read, so that a pipe cannot stall whoever
/// reads, and none that lies with somebody who may not answer; reading instead of mapping means that a file that shrinks
/// meanwhile is only a short read.
pub fn read_keymap(fd: OwnedFd, size: u32) -> Option<String> {
    if !lent_files::is_at_hand(fd.as_fd()) {
        lent_files::let_go(fd);
        return None;
    }
    let file = File::from(fd);
    if size > MAX_KEYMAP_BYTES || !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    // The text ends at its first zero byte, if it has one.
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn memory_file(content: &[u8]) -> OwnedFd {
        let fd = rustix::fs::memfd_create("keymap", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = File::from(fd);
        file.write_all(content).unwrap();
        OwnedFd::from(file)
    }

    #[test]
    fn a_keymap_ends_at_its_zero_byte_or_at_the_end_of_the_file() {
        assert_eq!(read_keymap(memory_file(b"xkb\0junk"), 8).as_deref(), Some("xkb"));
        assert_eq!(read_keymap(memory_file(b"xkb"), 4096).as_deref(), Some("xkb"), "shorter than was said");
    }

    #[test]
    fn a_pipe_or_a_huge_keymap_is_refused_without_being_read() {
        let (reader, _writer) = rustix::pipe::pipe().unwrap();
        assert_eq!(read_keymap(reader, 10), None);
        assert_eq!(read_keymap(memory_file(b"xkb"), u32::MAX), None);
    }

    #[test]
    fn the_same_text_is_compiled_once_and_few_are_known() {
        let text = |number: usize| {
            let rest = "xkb_types \"t\" {}; xkb_compat \"c\" {}; xkb_symbols \"s\" {};";
            format!("xkb_keymap {{ xkb_keycodes \"{number}\" {{ <a> = 38; }}; {rest} }};")
        };
        let mut known = Known::default();
        let first = known.compile(text(0)).expect("it is one");
        assert!(Arc::ptr_eq(&first, &known.compile(text(0)).unwrap()));
        assert!(known.compile("none".to_owned()).is_none());
        for number in 1..=MOST_KNOWN {
            known.compile(text(number)).unwrap();
            // What is used again is not the first to go.
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
        let mut known = Known::default();
        assert!(known.compile(text(MOST_INCLUDES)).is_some());
        assert!(known.compile(text(MOST_INCLUDES + 1)).is_none());
    }

    #[test]
    fn clients_take_turns_and_who_is_gone_leaves_nothing() {
        let display = smithay::reexports::wayland_server::Display::<()>::new().unwrap();
        let [(one, _a), (other, _b)] = [(); 2].map(|()| {
            let (theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
            (display.handle().insert_client(ours, Arc::new(())).unwrap().id(), theirs)
        });
        let job = |keyboard| Job { keyboard: KeyboardId::Virtual(keyboard), number: 0, source: Source::Text(None) };
        let mut line = Line::default();
        (0..3).for_each(|keyboard| line.push(one.clone(), job(keyboard)));
        line.push(other.clone(), job(3));
        line.forget(KeyboardId::Virtual(1));
        let order: Vec<_> = std::iter::from_fn(|| line.pop()).map(|(_, job)| job.keyboard).collect();
        assert_eq!(order, [0, 3, 2].map(KeyboardId::Virtual));
    }
}
