//! A device that is opened once more, for whoever draws on it.
//!
//! The kernel numbers buffers by open file, and does not count who uses a number there: the same memory imported twice has one
//! number, and whoever closes that takes it from all. The worker imports clients' buffers so that planes can show them, and
//! Mesa does so to read them; with one file each would close the other's.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use smithay::backend::drm::{DrmNode, NodeType};
use smithay::reexports::drm::Device;

/// Which of a device's nodes to draw on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawOn {
    /// The one for that, where there is one.
    Render,
    /// The one that also shows: buffers for the CPU are made on no other.
    Display,
}

struct File(OwnedFd);

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device for File {}

/// Opens `device` anew. May wait for whoever is in charge of displays: not for the main thread.
pub(super) fn reopen(device: &impl Device, node: DrawOn) -> io::Result<OwnedFd> {
    let known = DrmNode::from_file(device).map_err(io::Error::other)?;
    let open = |path| OpenOptions::new().read(true).write(true).open(path).map(OwnedFd::from);
    let path = |kind| known.dev_path_with_type(kind);
    if node == DrawOn::Render
        && let Some(path) = path(NodeType::Render)
    {
        return open(path);
    }
    let path = path(NodeType::Primary).ok_or(io::ErrorKind::NotFound)?;
    let file = File(open(path)?);
    // Where nobody is in charge of the displays the kernel puts whoever opens the device in charge. That is not for this one.
    let _ = file.release_master_lock();
    vouch(device, &file);
    Ok(file.0)
}

/// Whoever is in charge of a device has to say that another file may draw on it, where that is not the node for drawing.
#[expect(deprecated, reason = "there are devices without a node for drawing")]
fn vouch(device: &impl Device, file: &File) {
    let vouched = file.generate_auth_token().and_then(|token| device.authenticate_auth_token(token));
    if let Err(error) = vouched {
        // Some kernels, and some users, need it not: whoever draws will find out.
        tracing::debug!(%error, "the file to draw on is not vouched for");
    }
}
