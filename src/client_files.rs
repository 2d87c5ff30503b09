//! Files that clients hand over may be on file systems that block the caller.
//!
//! Reading, mapping, even closing a file of a network file system or of one that is a program (FUSE) blocks in the
//! kernel until the server or the program answers, and no time limit can be set. Nearly all clients hand over memory.
//! Files in memory or on a local disk are used; any other file is not touched.

use std::any::Any;
use std::collections::VecDeque;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, StatxFlags, fcntl_get_seals, statx};

/// File systems whose files lie on this machine's own disks or in its memory. Other file systems wait for a program or
/// a network, or are queries to the kernel (`/proc`), some of which it never answers.
const LOCAL: [&str; 22] = [
    "ext2", "ext3", "ext4", "btrfs", "xfs", "f2fs", "zfs", "bcachefs", "jfs", "reiserfs", "nilfs2", "vfat", "exfat",
    "ntfs3", "squashfs", "erofs", "iso9660", "overlay", "tmpfs", "ramfs", "devtmpfs", "rootfs",
];

/// File systems whose files are queries to the kernel. Closing such a file never blocks.
const KERNEL: [&str; 13] = [
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "devpts",
    "mqueue",
    "debugfs",
    "tracefs",
    "securityfs",
    "configfs",
    "hugetlbfs",
    "efivarfs",
    "bpf",
];

/// Whether the file can be used without blocking on a program or a network.
pub fn never_blocks(file: BorrowedFd<'_>) -> bool {
    is_memory(file) || is_local(mount_of(file), || has_device(file))
}

/// Whether closing the file may block.
pub fn close_may_block(file: BorrowedFd<'_>) -> bool {
    if is_memory(file) {
        return false;
    }
    let mount = mount_of(file);
    !mount.is_kernels() && !is_local(mount, || has_device(file))
}

/// Whether the file is a query to the kernel, which never blocks when it is closed.
pub fn is_kernel_file(file: impl AsFd) -> bool {
    mount_of(file.as_fd()).is_kernels()
}

/// How many files this process has left to its closing threads so far. For tests.
pub fn closed_elsewhere_count() -> usize {
    LEFT.load(Ordering::Relaxed)
}

/// The mount that a file belongs to.
#[derive(Debug, PartialEq, Eq)]
enum Mount {
    /// A file system of this kind, as the kernel names it.
    Of(String),
    /// A mount that this process does not see: in a container, say.
    Elsewhere,
    /// The kernel did not answer.
    Unknown,
}

impl Mount {
    fn is_kernels(&self) -> bool {
        matches!(self, Mount::Of(kind) if KERNEL.contains(&kind.as_str()))
    }
}

fn is_local(mount: Mount, has_device: impl FnOnce() -> bool) -> bool {
    match mount {
        Mount::Of(kind) => LOCAL.contains(&kind.as_str()),
        // In a container any user may mount a FUSE file system, so only a file on a block device counts as local.
        Mount::Elsewhere => has_device(),
        Mount::Unknown => true,
    }
}

fn mount_of(file: BorrowedFd<'_>) -> Mount {
    let Ok(information) = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())) else {
        return Mount::Unknown;
    };
    let mount = information.lines().find_map(|line| line.strip_prefix("mnt_id:")).map(str::trim);
    let (Some(mount), Ok(mounts)) = (mount, fs::read_to_string("/proc/self/mountinfo")) else { return Mount::Unknown };
    let line = mounts.lines().find(|line| line.split(' ').next() == Some(mount));
    let kind = line.and_then(|line| line.split_once(" - ")?.1.split(' ').next());
    kind.map_or(Mount::Elsewhere, |kind| Mount::Of(kind.to_owned()))
}

/// Whether the file system of `file` lies on a block device. Sends no request to the file system.
fn has_device(file: BorrowedFd<'_>) -> bool {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    statx(file, c"", flags, StatxFlags::empty()).is_ok_and(|status| status.stx_dev_major != 0)
}

/// Whether the file is memory, which never blocks. Sends no request to a file system.
pub fn is_memory(file: BorrowedFd<'_>) -> bool {
    // Only memory can be sealed.
    fcntl_get_seals(file).is_ok()
}

/// Counts a file for a client for as long as it is open, that is until `close` has returned.
pub type OpenFileCount = Box<dyn Any + Send>;

/// A file that a client handed over and that has not been checked yet. Dropping it does not block.
#[derive(Debug)]
pub struct UncheckedFile {
    file: Option<OwnedFd>,
    account: Option<OpenFileCount>,
}

impl UncheckedFile {
    pub fn new(file: OwnedFd) -> Self {
        UncheckedFile { file: Some(file), account: None }
    }

    /// `account` is dropped when the file has been closed, not before.
    pub fn counted(file: OwnedFd, account: Option<OpenFileCount>) -> Self {
        UncheckedFile { file: Some(file), account }
    }

    /// The file itself: using it may block.
    pub fn take(self) -> Option<OwnedFd> {
        self.take_counted().map(|(file, _)| file)
    }

    /// The file and its account.
    pub fn take_counted(mut self) -> Option<(OwnedFd, Option<OpenFileCount>)> {
        self.file.take().map(|file| (file, self.account.take()))
    }

    /// For queries to the kernel only, because the file system may block.
    pub fn borrow(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// The kind of file. Sends no request to the file system.
    pub fn file_type(&self) -> Option<FileType> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let status = statx(self.borrow()?, c"", flags, StatxFlags::TYPE).ok()?;
        Some(FileType::from_raw_mode(status.stx_mode.into()))
    }

    /// As [`is_memory`]; `false` once the file was taken.
    pub fn is_memory(&self) -> bool {
        self.file.as_ref().is_some_and(|file| is_memory(file.as_fd()))
    }
}

impl Drop for UncheckedFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take().filter(|file| !is_memory(file.as_fd())) {
            close_counted_elsewhere(file, self.account.take());
        }
    }
}

/// Stack of a closing thread, in bytes.
const CLOSER_STACK: usize = 64 * 1024;
/// Closing threads at most: a file whose file system never answers blocks one of them for good.
const MOST_CLOSERS: usize = 16;
/// A closing thread without work waits so long before it ends, because a client that hands over many files sends the
/// next one sooner.
const LINGERS: Duration = Duration::from_secs(1);

/// Files that wait to be closed, and the threads that close them.
#[derive(Debug)]
struct Closers {
    files: VecDeque<(OwnedFd, Option<OpenFileCount>)>,
    threads: usize,
    idle: usize,
}

static CLOSERS: Mutex<Closers> = Mutex::new(Closers { files: VecDeque::new(), threads: 0, idle: 0 });
static TO_CLOSE: Condvar = Condvar::new();
static LEFT: AtomicUsize = AtomicUsize::new(0);

fn closers() -> MutexGuard<'static, Closers> {
    CLOSERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves the file to a closing thread, because closing it may block for as long as its file system likes.
pub fn close_elsewhere(file: OwnedFd) {
    close_counted_elsewhere(file, None);
}

/// As [`close_elsewhere`]; `account` is dropped when `close` has returned.
pub fn close_counted_elsewhere(file: OwnedFd, account: Option<OpenFileCount>) {
    LEFT.fetch_add(1, Ordering::Relaxed);
    let mut closers = closers();
    closers.files.push_back((file, account));
    if closers.idle < closers.files.len() && closers.threads < MOST_CLOSERS {
        let thread = std::thread::Builder::new().name("closer".to_owned()).stack_size(CLOSER_STACK);
        match thread.spawn(close_all) {
            Ok(_) => closers.threads += 1,
            Err(error) => tracing::error!(%error, threads = closers.threads, "cannot start a thread that closes files"),
        }
    }
    TO_CLOSE.notify_one();
}

fn close_all() {
    let mut closers = closers();
    loop {
        match closers.files.pop_front() {
            Some((file, account)) => {
                drop(closers);
                drop(file);
                drop(account);
                closers = self::closers();
            }
            None => {
                closers.idle += 1;
                let waited = TO_CLOSE.wait_timeout_while(closers, LINGERS, |closers| closers.files.is_empty());
                closers = waited.unwrap_or_else(PoisonError::into_inner).0;
                closers.idle -= 1;
                if closers.files.is_empty() {
                    closers.threads -= 1;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_local_files_never_block_and_other_files_are_judged_by_their_mount() {
        let memory = rustix::fs::memfd_create("memory", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        assert!(never_blocks(memory.as_fd()));
        // The kernel never answers some queries.
        let question = fs::File::open("/proc/self/status").unwrap();
        assert_eq!(mount_of(question.as_fd()), Mount::Of("proc".to_owned()));
        assert!(!never_blocks(question.as_fd()) && !has_device(question.as_fd()));
        assert!(!close_may_block(memory.as_fd()) && !close_may_block(question.as_fd()));
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        assert!(never_blocks(file.as_fd()) && !close_may_block(file.as_fd()));
        // A file in no mount that this process sees.
        let elsewhere = fs::File::open("/proc/self/ns/net").unwrap();
        assert!(close_may_block(elsewhere.as_fd()));
        for (mount, has_device, is_at_hand) in [
            (Mount::Of("fuse.sshfs".to_owned()), true, false),
            (Mount::Of("ext4".to_owned()), true, true),
            (Mount::Elsewhere, false, false),
            (Mount::Elsewhere, true, true),
            (Mount::Unknown, false, true),
        ] {
            assert_eq!(is_local(mount, || has_device), is_at_hand);
        }
        close_elsewhere(memory);
    }
}
