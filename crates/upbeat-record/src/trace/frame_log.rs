//! Writes the frame log without ever blocking the thread that draws.
//!
//! The main thread copies a record into a bounded queue; a thread of its own turns records into lines and writes them.
//! If the queue is full, the record is left out and counted, and the log contains a line at the gap. If the file cannot
//! be written (a full disk), one error is logged and the log ends; the session goes on.
//!
//! ```text
//!  main thread ── FrameRecord (copied) ──► [ queue, 8192 ] ──► log thread: JSON, 10 batches a second ──► file
//!                     full? left_out += 1 ─────────────────────► {"type":"left-out","records":n}
//! ```

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::line::{LogHeader, LogLine, LogNames};
use crate::faults::{self, Fault};
use crate::files;
use upbeat_timing::id::{OutputId, WindowId};
use upbeat_timing::record::{ClientFrameRecord, FrameRecord};

/// Capacity of the queue in records: three seconds at 240 Hz with ten windows.
const QUEUE: usize = 8_192;

/// How long the log thread gathers records before it writes them, so that it wakes ten times a second instead of once
/// per record. Without new records it does not wake at all.
const BATCH: Duration = Duration::from_millis(100);

/// The log could not be opened or written. Contains its path and the system's error.
#[derive(Debug, thiserror::Error)]
#[error("frame log {}: {source}", path.display())]
pub struct FrameLogError {
    path: PathBuf,
    source: io::Error,
}

/// The totals of a log that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogSummary {
    /// Number of lines written, including the header.
    pub lines: u64,
    /// Number of records left out because the queue was full.
    pub left_out: u64,
}

/// A frame log that is being written. Dropping it writes the queued records, and waits for this.
#[derive(Debug)]
pub struct FrameLog {
    queue: Option<SyncSender<QueuedRecord>>,
    shared: Arc<FrameLogShared>,
    writer: Option<JoinHandle<Result<LogSummary, FrameLogError>>>,
}

#[derive(Debug, Default)]
struct FrameLogShared {
    /// Records left out since the log thread last wrote such a line.
    left_out: AtomicU64,
    /// Whether writing has failed: then sending more records is useless.
    failed: AtomicBool,
    end: Mutex<FrameLogEnd>,
}

/// The totals of a log, or the error that ended it.
type FrameLogResult = Result<LogSummary, String>;

/// Passes the result from the log thread to the caller of [`FrameLog::end`], in whichever order they arrive.
#[derive(Default)]
enum FrameLogEnd {
    /// The log is being written.
    #[default]
    Open,
    /// A callback waits for the end of the log.
    Wanted(Box<dyn FnOnce(FrameLogResult) + Send>),
    /// The log has ended with this result.
    Over(FrameLogResult),
}

impl fmt::Debug for FrameLogEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FrameLogEnd::Open => "open",
            FrameLogEnd::Wanted(_) => "ends",
            FrameLogEnd::Over(_) => "over",
        })
    }
}

impl FrameLogShared {
    /// Reports the result, on the log thread.
    fn report_result(&self, result: FrameLogResult) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *end) {
            FrameLogEnd::Wanted(done) => {
                drop(end);
                done(result);
            }
            FrameLogEnd::Open | FrameLogEnd::Over(_) => *end = FrameLogEnd::Over(result),
        }
    }

    /// Calls `done` with the result, now or when the log ends.
    fn when_over(&self, done: impl FnOnce(FrameLogResult) + Send + 'static) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *end) {
            FrameLogEnd::Over(result) => {
                drop(end);
                done(result);
            }
            FrameLogEnd::Open | FrameLogEnd::Wanted(_) => *end = FrameLogEnd::Wanted(Box::new(done)),
        }
    }
}

/// An entry of the queue. Records are stored by value, so that sending a record allocates nothing.
enum QueuedRecord {
    OutputName(OutputId, String),
    WindowName(WindowId, String),
    Output(FrameRecord),
    Client(ClientFrameRecord),
}

impl FrameLog {
    /// Creates or truncates the file, and starts the log thread.
    ///
    /// # Errors
    /// The file cannot be opened, or the thread cannot be started.
    pub fn create(path: &Path) -> Result<Self, FrameLogError> {
        let file = files::create(path).map_err(|source| FrameLogError { path: path.to_owned(), source })?;
        Self::start(|| Ok(BufWriter::new(file)), path.to_owned(), QUEUE, |_| ())
    }

    /// Starts the log thread, which creates or truncates the file and calls `opened` with the result. So the caller
    /// does not wait for a disk.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn create_in_background(
        path: PathBuf,
        opened: impl FnOnce(Result<(), String>) + Send + 'static,
    ) -> Result<Self, FrameLogError> {
        let named = path.clone();
        Self::start(move || files::create(&named).map(BufWriter::new), path, QUEUE, opened)
    }

    fn start<W: Write>(
        open: impl FnOnce() -> io::Result<W> + Send + 'static,
        path: PathBuf,
        capacity: usize,
        opened: impl FnOnce(Result<(), String>) + Send + 'static,
    ) -> Result<Self, FrameLogError> {
        let (queue, entries) = sync_channel(capacity);
        let shared = Arc::new(FrameLogShared::default());
        let (of_thread, named) = (Arc::clone(&shared), path.clone());
        let job = move || {
            let result = match open() {
                Ok(sink) => {
                    opened(Ok(()));
                    let summary = LogSummary::default();
                    FrameLogWriter { sink, path: named, shared: Arc::clone(&of_thread), summary }.run(&entries)
                }
                Err(source) => {
                    of_thread.failed.store(true, Ordering::Relaxed);
                    let error = FrameLogError { path: named, source };
                    opened(Err(error.to_string()));
                    Err(error)
                }
            };
            of_thread.report_result(result.as_ref().map(|summary| *summary).map_err(ToString::to_string));
            result
        };
        let thread = thread::Builder::new().name("frame log".to_owned());
        let writer = faults::check(Fault::Thread)
            .and_then(|()| thread.spawn(job))
            .map_err(|source| FrameLogError { path, source })?;
        Ok(FrameLog { queue: Some(queue), shared, writer: Some(writer) })
    }

    /// Whether the log could not be opened or written. Then it takes no more records.
    pub fn is_over(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Ends the log without waiting for the queued records, and calls `done` with the totals once they are written.
    /// `done` runs on either thread.
    pub fn end(mut self, done: impl FnOnce(Result<LogSummary, String>) + Send + 'static) {
        self.shared.when_over(done);
        self.queue = None;
        // The thread ends by itself when it has written all records.
        self.writer = None;
    }

    /// Sets the name of an output, which the log uses from here on.
    pub fn name_output(&self, output: OutputId, name: &str) {
        self.send(QueuedRecord::OutputName(output, name.to_owned()));
    }

    /// Sets the application id of a window, which the log uses from here on.
    pub fn name_window(&self, window: WindowId, app_id: &str) {
        self.send(QueuedRecord::WindowName(window, app_id.to_owned()));
    }

    /// Logs an output's frame that was shown, dropped or lost. Copies the record and returns at once.
    pub fn output(&self, record: &FrameRecord) {
        self.send(QueuedRecord::Output(*record));
    }

    /// Logs a client's frame that was shown, dropped or lost. Copies the record and returns at once.
    pub fn client(&self, record: &ClientFrameRecord) {
        self.send(QueuedRecord::Client(*record));
    }

    fn send(&self, entry: QueuedRecord) {
        let Some(queue) = self.queue.as_ref().filter(|_| !self.shared.failed.load(Ordering::Relaxed)) else {
            return;
        };
        if queue.try_send(entry).is_err() {
            self.shared.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes the queued records and waits for this. Returns the totals of the log.
    pub fn finish(mut self) -> Result<LogSummary, FrameLogError> {
        self.close()
    }

    fn close(&mut self) -> Result<LogSummary, FrameLogError> {
        self.queue = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Ok(LogSummary::default()),
        }
    }
}

impl Drop for FrameLog {
    fn drop(&mut self) {
        // The log thread has reported any error already.
        let _ = self.close();
    }
}

/// State of the log thread.
struct FrameLogWriter<W> {
    sink: W,
    path: PathBuf,
    shared: Arc<FrameLogShared>,
    summary: LogSummary,
}

impl<W: Write> FrameLogWriter<W> {
    fn run(mut self, entries: &Receiver<QueuedRecord>) -> Result<LogSummary, FrameLogError> {
        match self.write_all(entries) {
            Ok(()) => {
                if self.summary.left_out > 0 {
                    tracing::warn!("frame log {}: {} records left out", self.path.display(), self.summary.left_out);
                }
                Ok(self.summary)
            }
            Err(source) => {
                self.shared.failed.store(true, Ordering::Relaxed);
                let error = FrameLogError { path: self.path, source };
                tracing::error!("{error}; nothing more is logged, the session goes on");
                Err(error)
            }
        }
    }

    fn write_all(&mut self, entries: &Receiver<QueuedRecord>) -> io::Result<()> {
        let mut names = LogNames::default();
        self.write(&LogLine::Header(LogHeader::default()))?;
        self.sink.flush()?;
        while let Ok(first) = entries.recv() {
            self.write(&line(first, &mut names))?;
            while let Ok(entry) = entries.try_recv() {
                self.write(&line(entry, &mut names))?;
            }
            let left_out = self.shared.left_out.swap(0, Ordering::Relaxed);
            if left_out > 0 {
                self.summary.left_out += left_out;
                self.write(&LogLine::LeftOut { records: left_out })?;
            }
            self.sink.flush()?;
            thread::sleep(BATCH);
        }
        Ok(())
    }

    fn write(&mut self, line: &LogLine) -> io::Result<()> {
        serde_json::to_writer(&mut self.sink, line)?;
        self.sink.write_all(b"\n")?;
        self.summary.lines += 1;
        Ok(())
    }
}

fn line(entry: QueuedRecord, names: &mut LogNames) -> LogLine {
    match entry {
        QueuedRecord::OutputName(output, name) => {
            names.output(output, name.clone());
            LogLine::OutputName { output, name }
        }
        QueuedRecord::WindowName(window, app_id) => {
            names.window(window, app_id.clone());
            LogLine::WindowName { window, app_id }
        }
        QueuedRecord::Output(record) => names.explain_output(record),
        QueuedRecord::Client(record) => names.explain_client(record),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use upbeat_timing::record::MissReason;
    use upbeat_timing::time::Span;

    fn read(path: &Path) -> Vec<LogLine> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_log_holds_its_header_then_names_then_frames_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.jsonl");
        let log = FrameLog::create(&path).unwrap();
        log.name_output(OutputId(1), "HEADLESS-1");
        for frame in 0..1_000 {
            let miss = (frame == 500).then_some(MissReason::WokeLate { by: Span::from_millis(2) });
            log.output(&FrameRecord { output: OutputId(1), frame, miss, ..Default::default() });
        }
        log.client(&ClientFrameRecord::default());
        assert_eq!(log.finish().unwrap(), LogSummary { lines: 1_003, left_out: 0 });
        let lines = read(&path);
        assert!(matches!(&lines[0], LogLine::Header(header) if header.version == super::super::line::VERSION));
        let frames: Vec<_> =
            lines.iter().filter_map(|line| if let LogLine::Output(o) = line { Some(o) } else { None }).collect();
        assert!(frames.iter().map(|line| line.record.frame).eq(0..1_000));
        assert_eq!(frames[500].why.as_deref(), Some("HEADLESS-1 missed refresh 0: the compositor woke 2.0 ms late."));
        assert!(matches!(lines.last(), Some(LogLine::Client(_))));
    }

    /// A disk that hangs until it is released.
    struct HangingDisk(Receiver<()>, Sender<Vec<u8>>);

    impl Write for HangingDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn hanging_disk_does_not_block_and_the_gap_is_logged() {
        let (release, wait) = channel();
        let (written, lines) = channel();
        let log = FrameLog::start(
            move || Ok(BufWriter::with_capacity(1, HangingDisk(wait, written))),
            "stuck".into(),
            4,
            |_| (),
        )
        .unwrap();
        // The thread hangs while it writes the header: four records fit into the queue, six do not, and no call waits.
        for frame in 0..10 {
            log.output(&FrameRecord { frame, ..Default::default() });
        }
        drop(release);
        assert_eq!(log.finish().unwrap(), LogSummary { lines: 6, left_out: 6 });
        let text = String::from_utf8(lines.iter().flatten().collect()).unwrap();
        assert_eq!(text.lines().last(), Some(r#"{"type":"left-out","records":6}"#));
    }

    #[test]
    fn a_full_disk_is_one_clear_error_and_no_panic() {
        let log = FrameLog::create(Path::new("/dev/full")).unwrap();
        log.output(&FrameRecord::default());
        let error = log.finish().unwrap_err().to_string();
        assert!(error.starts_with("frame log /dev/full: No space left on device"), "{error}");
    }

    #[test]
    fn log_started_and_ended_at_run_time_reports_its_result() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log.jsonl");
        let (tell, told) = channel();
        let opened = tell.clone();
        let log = FrameLog::create_in_background(path.clone(), move |result| opened.send(result.map(|()| 0)).unwrap())
            .unwrap();
        assert_eq!(told.recv().unwrap(), Ok(0));
        log.output(&FrameRecord::default());
        log.end(move |result| tell.send(result.map(|summary| summary.lines)).unwrap());
        assert_eq!(told.recv().unwrap(), Ok(2));
        assert_eq!(read(&path).len(), 2);
    }

    #[test]
    fn log_that_cannot_be_opened_reports_it_at_start_and_end() {
        let (tell, told) = channel();
        let opened = tell.clone();
        let log = FrameLog::create_in_background("/nowhere/log".into(), move |result| {
            opened.send(result.map(|()| 0)).unwrap()
        })
        .unwrap();
        assert!(told.recv().unwrap().is_err_and(|error| error.contains("/nowhere/log: No such file")));
        log.output(&FrameRecord::default());
        log.end(move |result| tell.send(result.map(|summary| summary.lines)).unwrap());
        assert!(told.recv().unwrap().is_err_and(|error| error.contains("No such file")));
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let error = FrameLog::create(Path::new("/nowhere/log")).unwrap_err().to_string();
        assert!(error.starts_with("frame log /nowhere/log: No such file"), "{error}");
    }
}
