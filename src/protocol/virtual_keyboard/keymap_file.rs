//! Reads the text of a keymap from the file that a client hands over.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use crate::client_files::{self, OpenFileCount, UncheckedFile};

/// The largest keymap that is read, in bytes. The full `us` keymap has about 60 kB.
pub(super) const MAX_KEYMAP_BYTES: u32 = 1 << 20;

/// Why a keymap cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeymapRefusal {
    /// Its text is no valid keymap.
    Unusable,
    /// The file could not be read, or not in time, so the client may not be at fault.
    Unread,
}

/// A client's file with the text of a keymap, not checked or read yet.
#[derive(Debug)]
pub struct KeymapFile {
    file: UncheckedFile,
    size: u32,
}

impl KeymapFile {
    /// `size`: length of the text in bytes at most.
    pub fn new(file: OwnedFd, size: u32) -> Self {
        KeymapFile { file: UncheckedFile::new(file), size }
    }

    /// As [`new`](Self::new); `account` counts the descriptor for its client until it is closed.
    pub fn counted(file: OwnedFd, size: u32, account: Option<OpenFileCount>) -> Self {
        KeymapFile { file: UncheckedFile::counted(file, account), size }
    }

    /// Whether it is a memory file, whose reading never blocks.
    pub fn is_memory(&self) -> bool {
        self.file.is_memory()
    }

    /// The text. Only regular files (including memory files) are read, because a pipe could block the reader, and only
    /// files on local file systems. The file is read and not mapped, so that a file which shrinks meanwhile only
    /// results in a short read.
    ///
    /// # Errors
    /// When the file has no text, or may not be read.
    pub fn read(self) -> Result<String, KeymapRefusal> {
        let (file, account) = self.file.take_counted().ok_or(KeymapRefusal::Unread)?;
        if !client_files::never_blocks(file.as_fd()) {
            client_files::close_counted_elsewhere(file, account);
            return Err(KeymapRefusal::Unread);
        }
        text(&File::from(file), self.size).ok_or(KeymapRefusal::Unusable)
    }
}

fn text(file: &File, size: u32) -> Option<String> {
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

    fn read(file: OwnedFd, size: u32) -> Result<String, KeymapRefusal> {
        KeymapFile::new(file, size).read()
    }

    fn memory_file(content: &[u8]) -> OwnedFd {
        let fd = rustix::fs::memfd_create("keymap", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = File::from(fd);
        file.write_all(content).unwrap();
        OwnedFd::from(file)
    }

    #[test]
    fn a_keymap_ends_at_its_zero_byte_or_at_the_end_of_the_file() {
        assert_eq!(read(memory_file(b"xkb\0junk"), 8).as_deref(), Ok("xkb"));
        assert_eq!(read(memory_file(b"xkb"), 4096).as_deref(), Ok("xkb"), "shorter than was said");
    }

    #[test]
    fn a_pipe_or_a_huge_keymap_is_refused_without_being_read() {
        let (reader, _writer) = rustix::pipe::pipe().unwrap();
        assert_eq!(read(reader, 10), Err(KeymapRefusal::Unread));
        assert_eq!(read(memory_file(b"xkb"), u32::MAX), Err(KeymapRefusal::Unusable));
    }
}
