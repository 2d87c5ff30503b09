//! Opens files that a user names, without blocking: the path may be a pipe without a reader or a writer.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::faults::{self, Fault};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// How long the other side of a pipe may take for the next piece.
const PATIENCE: Duration = Duration::from_secs(5);
/// Without this flag, opening a pipe blocks until its other side is open.
const NONBLOCK: i32 = libc::O_NONBLOCK;

/// Reads a file, but at most `most` + 1 bytes, so that the caller can tell a file that is too long. The file may be a
/// pipe, as shells make them; its writer may take five seconds in all.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    faults::check(Fault::File)?;
    let file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path)?;
    let is_pipe = file.metadata()?.file_type().is_fifo();
    let (mut bytes, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    let mut limited = (&file).take(most + 1);
    while let Err(error) = limited.read_to_end(&mut bytes) {
        let left = deadline.saturating_duration_since(Instant::now());
        if error.kind() != io::ErrorKind::WouldBlock {
            return Err(error);
        }
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        if poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&left))? == 0 {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no more data arrived in time"));
        }
    }
    if is_pipe && bytes.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is a pipe that nobody writes to"));
    }
    Ok(bytes)
}

/// Creates or truncates a file, for writing. The file may be a pipe that has a reader.
pub fn create(path: &Path) -> io::Result<File> {
    faults::check(Fault::File)?;
    let file = OpenOptions::new().write(true).create(true).truncate(true).custom_flags(NONBLOCK).open(path);
    let file = file.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::new(error.kind(), "it is a pipe that nobody reads"),
        _ => error,
    })?;
    // Writes may block: the writer has a thread of its own.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// A file, or a pipe, for writing. The reader of a pipe may take five seconds for each piece; then writing fails.
#[derive(Debug)]
pub struct PipeWriter {
    file: File,
    patience: Duration,
}

/// Creates a file like [`create`], but a write to a pipe fails after some seconds if its reader does not read.
pub fn create_with_timeout(path: &Path) -> io::Result<PipeWriter> {
    PipeWriter::new(create(path)?.into())
}

impl PipeWriter {
    /// Wraps the write end of a pipe, for instance of a pipe that a client reads.
    pub fn new(pipe: OwnedFd) -> io::Result<PipeWriter> {
        let file = File::from(pipe);
        fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::NONBLOCK)?;
        Ok(PipeWriter { file, patience: PATIENCE })
    }
}

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let patience = Timespec::try_from(self.patience).map_err(io::Error::other)?;
                    if poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&patience))? == 0 {
                        return Err(io::Error::new(io::ErrorKind::TimedOut, "the reader of this pipe does not read"));
                    }
                }
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    fn pipe(directory: &Path) -> std::path::PathBuf {
        let path = directory.join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path
    }

    #[test]
    fn opening_a_pipe_without_other_side_does_not_block() {
        let directory = tempfile::tempdir().unwrap();
        let path = pipe(directory.path());
        assert!(read(&path, 100).unwrap_err().to_string().contains("nobody writes"));
        assert!(create(&path).unwrap_err().to_string().contains("nobody reads"));
    }

    #[test]
    fn write_to_a_pipe_with_a_stalled_reader_times_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = pipe(directory.path());
        let _reader = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut writer = PipeWriter { patience: Duration::from_millis(10), ..create_with_timeout(&path).unwrap() };
        let error = writer.write_all(&vec![0; 1 << 20]).unwrap_err();
        assert!(error.to_string().contains("does not read"), "{error}");
    }

    #[test]
    fn pipe_with_a_writer_is_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = pipe(directory.path());
        let writer = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        (&writer).write_all(b"first ").unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            (&writer).write_all(b"and last").unwrap();
        });
        assert_eq!(read(&path, 100).unwrap(), b"first and last");
        late.join().unwrap();
    }

    #[test]
    fn a_file_is_read_and_emptied() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        create(&path).unwrap().write_all(b"old and long").unwrap();
        create(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(read(&path, 100).unwrap(), b"new");
    }
}
