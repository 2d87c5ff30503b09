//! File descriptors of a file system that never answers, sent with requests that take none: closing them blocks, so the
//! session closes them on another thread.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::mem::MaybeUninit;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use upbeat::client_files::closed_elsewhere_count;
use upbeat::nonblocking_close::never_block_this_thread;
use upbeat::protocol;

use crate::fixture::TestWorld;

/// `wl_display.get_registry`, which takes no file descriptor.
const GOOD: [u32; 3] = [1, 12 << 16 | 1, 2];
/// A request with an opcode that `wl_display` does not have.
const BAD: [u32; 2] = [1, 8 << 16 | 99];

/// Sends `file` with a request, waits until it is read, and disconnects. Returns whether the session ended the client.
fn hand_over(world: &mut TestWorld, file: File, request: &[u32]) -> bool {
    let (ours, theirs) = UnixStream::pair().unwrap();
    protocol::client::connect(&mut world.state.display_handle, ours, &world.state.rules).unwrap();
    let bytes: Vec<u8> = request.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let files = [file.as_fd()];
    assert!(ancillary.push(SendAncillaryMessage::ScmRights(&files)));
    sendmsg(&theirs, &[std::io::IoSlice::new(&bytes)], &mut ancillary, SendFlags::empty()).unwrap();
    drop(file);
    world.settle();
    theirs.set_nonblocking(true).unwrap();
    let mut said = Vec::new();
    let end = std::io::Read::read_to_end(&mut &theirs, &mut said);
    drop(theirs);
    world.settle();
    end.is_ok()
}

/// Sends a file with a valid and an invalid request; the session goes on.
fn assert_close_does_not_block(world: &mut TestWorld, open: &dyn Fn() -> File) {
    let before = closed_elsewhere_count();
    let began = Instant::now();
    assert!(hand_over(world, open(), &BAD), "that is an error");
    assert!(!hand_over(world, open(), &GOOD), "the client is not ended");
    // Two files of the session, and two of the test, because the test runs on the session's thread.
    assert_eq!(closed_elsewhere_count() - before, 4);
    assert!(began.elapsed() < Duration::from_secs(20), "it was waited for");
    let (client, _) = world.open("well", 100, 50);
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn files_of_unknown_mounts_are_closed_on_another_thread() {
    never_block_this_thread();
    let mut world = TestWorld::new();
    // A file of no mount that this process can see.
    assert_close_does_not_block(&mut world, &|| File::open("/proc/self/ns/net").unwrap());
}

#[test]
fn unresponsive_file_system_does_not_block_the_session() {
    let directory = tempfile::tempdir().unwrap();
    let Some(fuse) = BlockingFile::mount(directory.path().join("file")) else {
        eprintln!("not tested: no file system can be mounted here");
        return;
    };
    never_block_this_thread();
    let mut world = TestWorld::new();
    assert_close_does_not_block(&mut world, &|| File::open(&fuse.path).unwrap());
}

/// A file whose close blocks until this is dropped. Another process serves the file system, because a process that
/// waits in the kernel for itself could not even be killed.
struct BlockingFile {
    path: PathBuf,
    server: Child,
}

/// Environment variable with the mount point, for the test that runs as the server.
const MOUNT_AT: &str = "UPBEAT_TEST_FUSE_AT";
const MOUNTED: &str = "it is mounted";

impl BlockingFile {
    /// `None` if mounting is not permitted.
    fn mount(path: PathBuf) -> Option<Self> {
        File::create(&path).unwrap();
        let mut server = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "waiting_closes::serves", "--ignored", "--nocapture"])
            .env(MOUNT_AT, &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
        if said.any(|line| line.contains(MOUNTED)) {
            return Some(BlockingFile { path, server });
        }
        let _ = server.wait();
        None
    }
}

impl Drop for BlockingFile {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

#[test]
#[ignore = "the server of another test"]
fn serves() {
    let Some(path) = std::env::var_os(MOUNT_AT) else { return };
    fuse::serve(Path::new(&path), || println!("{MOUNTED}"));
}

/// The part of FUSE that is needed to open a file.
mod fuse {
    use std::ffi::CString;
    use std::fs::File;
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    const FORGET: u32 = 2;
    const GETATTR: u32 = 3;
    const OPEN: u32 = 14;
    const RELEASE: u32 = 18;
    const FLUSH: u32 = 25;
    const INIT: u32 = 26;
    const ACCESS: u32 = 34;
    const INTERRUPT: u32 = 36;
    /// Length of a request's header.
    const HEADER: usize = 40;
    /// A regular file, readable for all users.
    const MODE: u32 = 0o100_644;

    /// Mounts one file at `path`, and serves it until standard input ends.
    pub fn serve(path: &Path, mounted: impl Fn()) {
        let Ok(device) = File::options().read(true).write(true).open("/dev/fuse") else { return };
        let [kind, place, options] = [
            b"fuse".to_vec(),
            path.as_os_str().as_bytes().to_vec(),
            format!("fd={},rootmode={MODE:o},user_id=0,group_id=0", device.as_raw_fd()).into_bytes(),
        ]
        .map(|text| CString::new(text).unwrap());
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        // SAFETY: all are strings that end with a zero byte.
        if unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) } != 0 {
            return;
        }
        let answers = device.try_clone().unwrap();
        std::thread::spawn(move || answer(&answers));
        mounted();
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        // SAFETY: a string as above.
        unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) };
        // Closes the last descriptor of the device, so that waiting processes get an error.
        std::process::exit(0);
    }

    fn answer(mut device: &File) {
        let mut request = vec![0; 64 * 1024];
        while let Ok(length) = device.read(&mut request) {
            let word = |at: usize| u32::from_ne_bytes(request[at..at + 4].try_into().unwrap());
            let (operation, unique) = (word(4), request[8..16].to_vec());
            assert!(length >= HEADER);
            let words = |words: &[u32]| Ok(words.iter().flat_map(|word| word.to_ne_bytes()).collect());
            let reply: Result<Vec<u8>, i32> = match operation {
                FORGET | INTERRUPT | FLUSH => continue,
                // Version 7.31; requests of a page; times in nanoseconds.
                INIT => words(&[7, 31, 0, 0, 0, 4096, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
                GETATTR => words(
                    &[
                        [60, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0].as_slice(),
                        &[0, 0, 0, 0, 0, MODE, 1, 0, 0, 0, 4096, 0],
                    ]
                    .concat(),
                ),
                OPEN => words(&[0; 4]),
                RELEASE | ACCESS => words(&[]),
                _ => Err(-libc::ENOSYS),
            };
            let (error, body) = reply.map_or_else(|error| (error, Vec::new()), |body| (0, body));
            let length = u32::try_from(16 + body.len()).unwrap();
            let message = [&length.to_ne_bytes(), &error.to_ne_bytes(), unique.as_slice(), &body].concat();
            let _ = device.write_all(&message);
        }
    }
}
