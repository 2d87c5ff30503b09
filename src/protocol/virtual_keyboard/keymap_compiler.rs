//! The thread that reads and compiles clients' keymaps, with a cache of recent keymaps.
//!
//! ```text
//!  keyboards ── one keymap each at a time ──► queue, client after client ──► memory: read ─┬► cached? ─► compiled
//!                                                                    else: its own reader ─┘
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use calloop::LoopHandle;
use calloop::channel::{self, Event, Sender};

use super::keymap_cache::KeymapCache;
use super::keymap_file::{KeymapFile, KeymapRefusal};
use super::keymap_readers::{KeymapOwner, KeymapReaders, ReadPermission, TIME_LIMIT, WantedKeymap};
use crate::input::KeyboardId;
use crate::input::keymap::CompiledKeymap;
use crate::state::State;
use upbeat_record::faults::{self, Fault};

/// The thread has a low priority, because its work is less urgent than drawing.
const NICENESS: i32 = 5;
/// Stack of a thread that reads a file, in bytes; the text is on the heap.
const READER_STACK: usize = 64 * 1024;

/// Result for a keymap: its keyboard, its number, and the compiled keymap or the reason why it cannot be used.
pub(super) type Compiled = (KeyboardId, u64, Result<Arc<CompiledKeymap>, KeymapRefusal>);

/// Where the text of a keymap comes from.
#[derive(Debug)]
enum KeymapSource {
    /// A memory file: reading it never blocks.
    Memory(KeymapFile),
    /// Reading it may block, so it needs a reader thread.
    Disk(KeymapFile),
    /// A reader thread has read it.
    Text(Result<String, KeymapRefusal>),
}

#[derive(Debug)]
struct KeymapJob {
    keyboard: KeyboardId,
    number: u64,
    source: KeymapSource,
}

/// The queue of keymaps: clients take turns.
#[derive(Debug, Default)]
struct KeymapQueue {
    clients: VecDeque<(KeymapOwner, VecDeque<KeymapJob>)>,
    has_ended: bool,
    readers: KeymapReaders,
}

impl KeymapQueue {
    fn push(&mut self, owner: KeymapOwner, job: KeymapJob) {
        match self.clients.iter_mut().find(|(other, _)| *other == owner) {
            Some((_, jobs)) => jobs.push_back(job),
            None => self.clients.push_back((owner, VecDeque::from([job]))),
        }
    }

    /// The next keymap, skipping clients that must wait for a reader.
    fn pop(&mut self) -> Option<(KeymapOwner, KeymapJob)> {
        let KeymapQueue { clients, readers, .. } = self;
        let may_go = |(owner, jobs): &(KeymapOwner, VecDeque<KeymapJob>)| match jobs.front() {
            Some(KeymapJob { source: KeymapSource::Disk(_), .. }) => readers.may_read(owner) != ReadPermission::Later,
            Some(_) | None => true,
        };
        let place = clients.iter().position(may_go)?;
        let (owner, mut jobs) = clients.remove(place)?;
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            clients.push_back((owner.clone(), jobs));
        }
        job.map(|job| (owner, job))
    }

    fn forget(&mut self, keyboard: KeyboardId) {
        self.clients.iter_mut().for_each(|(_, jobs)| jobs.retain(|job| job.keyboard != keyboard));
        self.clients.retain(|(_, jobs)| !jobs.is_empty());
    }
}

#[derive(Debug)]
struct CompilerShared {
    queue: Mutex<KeymapQueue>,
    changed: Condvar,
    /// The function that reads a file; tests use another.
    read: fn(KeymapFile) -> Result<String, KeymapRefusal>,
    /// The time limit for reading a file.
    limit: Duration,
}

impl CompilerShared {
    fn new(read: fn(KeymapFile) -> Result<String, KeymapRefusal>, limit: Duration) -> Arc<Self> {
        Arc::new(CompilerShared { queue: Mutex::default(), changed: Condvar::new(), read, limit })
    }

    fn line(&self) -> MutexGuard<'_, KeymapQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, owner: KeymapOwner, job: KeymapJob) {
        self.line().push(owner, job);
        self.changed.notify_one();
    }

    /// A reader thread has ended.
    fn was_read(&self, reader: u64, owner: KeymapOwner, text: Result<String, KeymapRefusal>) {
        let mut line = self.line();
        if let Some((keyboard, number)) = line.readers.end(reader) {
            line.push(owner, KeymapJob { keyboard, number, source: KeymapSource::Text(text) });
        }
        // Wakes the compiler even without a new job, because other files may have waited for the reader.
        self.changed.notify_one();
    }
}

/// Compiles keymaps on a thread of its own. When dropped, the thread ends after its current keymap.
#[derive(Debug)]
pub(super) struct Compiler(Arc<CompilerShared>);

impl Compiler {
    /// Starts the thread. `compiled` is called on the main thread with the result for each keymap.
    pub fn start(handle: &LoopHandle<'static, State>, compiled: fn(&mut State, Compiled)) -> io::Result<Self> {
        let (tell, done) = channel::channel();
        let inserted = handle.insert_source(done, move |event, (), state| match event {
            Event::Msg(what) => compiled(state, what),
            Event::Closed => {}
        });
        inserted.map_err(|error| io::Error::other(error.to_string()))?;
        Compiler::over(CompilerShared::new(KeymapFile::read, TIME_LIMIT), tell)
    }

    fn over(shared: Arc<CompilerShared>, tell: Sender<Compiled>) -> io::Result<Self> {
        let theirs = shared.clone();
        faults::check(Fault::Thread)?;
        std::thread::Builder::new().name("keymaps".to_owned()).spawn(move || {
            let _ = rustix::process::setpriority_process(None, NICENESS);
            work(&theirs, &tell);
        })?;
        Ok(Compiler(shared))
    }

    pub fn compile(&self, owner: KeymapOwner, keyboard: KeyboardId, number: u64, file: KeymapFile) {
        let source = if file.is_memory() { KeymapSource::Memory(file) } else { KeymapSource::Disk(file) };
        self.0.push(owner, KeymapJob { keyboard, number, source });
    }

    /// Removes the keymaps of `keyboard` from the queue.
    pub fn forget(&self, keyboard: KeyboardId) {
        self.0.line().forget(keyboard);
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        self.0.line().has_ended = true;
        self.0.changed.notify_one();
    }
}

/// Waits for the next keymap; `None` when the thread is to end.
fn next(shared: &CompilerShared, known: &mut KeymapCache) -> Option<(KeymapOwner, KeymapJob)> {
    let mut line = shared.line();
    loop {
        if line.has_ended {
            return None;
        }
        let now = Instant::now();
        for (owner, (keyboard, number)) in line.readers.expire(now) {
            line.push(owner, KeymapJob { keyboard, number, source: KeymapSource::Text(Err(KeymapRefusal::Unread)) });
        }
        if let Some(next) = line.pop() {
            return Some(next);
        }
        if known.needs_context() {
            drop(line);
            known.create_context();
            line = shared.line();
            continue;
        }
        line = match line.readers.next_expiry() {
            Some(until) => {
                let wait = until.saturating_duration_since(now);
                shared.changed.wait_timeout(line, wait).unwrap_or_else(PoisonError::into_inner).0
            }
            None => shared.changed.wait(line).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

fn work(shared: &Arc<CompilerShared>, tell: &Sender<Compiled>) {
    let mut known = KeymapCache::default();
    while let Some((owner, KeymapJob { keyboard, number, source })) = next(shared, &mut known) {
        let text = match source {
            KeymapSource::Text(text) => text,
            KeymapSource::Memory(file) => file.read(),
            KeymapSource::Disk(file) => match start_reader(shared, owner, (keyboard, number), file) {
                Ok(()) => continue,
                Err(refusal) => Err(refusal),
            },
        };
        let keymap = text.and_then(|text| known.compile(text).ok_or(KeymapRefusal::Unusable));
        if tell.send((keyboard, number, keymap)).is_err() {
            return;
        }
    }
}

/// Starts a reader thread for a file whose reading may block, if one is available.
fn start_reader(
    shared: &Arc<CompilerShared>,
    owner: KeymapOwner,
    wanted: WantedKeymap,
    file: KeymapFile,
) -> Result<(), KeymapRefusal> {
    let mut line = shared.line();
    if line.readers.may_read(&owner) != ReadPermission::Now {
        return Err(KeymapRefusal::Unread);
    }
    let reader = line.readers.begin(owner.clone(), wanted, Instant::now() + shared.limit);
    drop(line);
    let theirs = shared.clone();
    let thread = std::thread::Builder::new().name("keymap file".to_owned()).stack_size(READER_STACK);
    let read = move || {
        let text = (theirs.read)(file);
        theirs.was_read(reader, owner, text);
    };
    if let Err(error) = faults::check(Fault::Thread).and_then(|()| thread.spawn(read)) {
        tracing::warn!(%error, "cannot start a thread that reads a keymap");
        shared.line().readers.end(reader);
        return Err(KeymapRefusal::Unread);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::keymap_readers::owners;

    #[test]
    fn clients_take_turns_and_a_forgotten_keyboard_leaves_no_jobs() {
        let (_display, owners) = owners(2);
        let [one, other] = &owners[..] else { panic!("two") };
        let source = || KeymapSource::Text(Err(KeymapRefusal::Unread));
        let job = |keyboard| KeymapJob { keyboard: KeyboardId::Virtual(keyboard), number: 0, source: source() };
        let mut line = KeymapQueue::default();
        (0..3).for_each(|keyboard| line.push(one.clone(), job(keyboard)));
        line.push(other.clone(), job(3));
        line.forget(KeyboardId::Virtual(1));
        let order: Vec<_> = std::iter::from_fn(|| line.pop()).map(|(_, job)| job.keyboard).collect();
        assert_eq!(order, [0, 3, 2].map(KeyboardId::Virtual));
    }

    /// A file on a disk. If its text is "hangs", it cannot be read before [`GATE`] opens.
    fn on_disk(text: &str) -> KeymapFile {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        KeymapFile::new(file.into(), text.len() as u32)
    }

    static GATE: Mutex<()> = Mutex::new(());

    fn read(file: KeymapFile) -> Result<String, KeymapRefusal> {
        let text = file.read()?;
        if text == "hangs" {
            drop(GATE.lock());
        }
        Ok(text)
    }

    #[test]
    fn hanging_reads_delay_only_the_keymaps_of_their_clients() {
        const GOOD: &str = "xkb_keymap { xkb_keycodes \"k\" { <a> = 38; }; xkb_types \"t\" {}; xkb_compat \"c\" {}; \
            xkb_symbols \"s\" {}; };";
        // Far more clients than there may be readers at a time.
        const JAMMERS: usize = 20;
        let closed = GATE.lock().unwrap();
        let (tell, results) = channel::channel();
        let compiler = Compiler::over(CompilerShared::new(read, Duration::from_millis(200)), tell).unwrap();
        let (_display, owners) = owners(JAMMERS + 1);
        let good = owners.last().unwrap();
        let (one, other) = (KeyboardId::Virtual(1), KeyboardId::Virtual(2));
        for owner in &owners[..JAMMERS] {
            compiler.compile(owner.clone(), one, 1, on_disk("hangs"));
            compiler.compile(owner.clone(), one, 2, on_disk(GOOD));
        }
        compiler.compile(good.clone(), other, 1, on_disk(GOOD));
        let mut refused = 0;
        let mut accepted = 0;
        while refused < 2 * JAMMERS || accepted == 0 {
            match results.recv().unwrap() {
                (keyboard, _, Ok(_)) if keyboard == other => accepted += 1,
                // On a busy machine even the good client's file may be late, so it is sent again. The hanging threads
                // stay.
                (keyboard, ..) if keyboard == other => compiler.compile(good.clone(), other, 1, on_disk(GOOD)),
                (keyboard, _, Err(KeymapRefusal::Unread)) if keyboard == one => refused += 1,
                wrong => panic!("{wrong:?}"),
            }
        }
        // A client whose file no longer hangs gets readers again.
        drop(closed);
        while !compiler.0.line().readers.is_empty() {
            std::thread::yield_now();
        }
        compiler.compile(owners[0].clone(), one, 3, on_disk(GOOD));
        assert!(matches!(results.recv().unwrap(), (_, 3, Ok(_))));
    }
}
