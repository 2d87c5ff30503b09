//! Opens a DRM device a second time, for the renderer.
//!
//! The kernel numbers buffers (GEM handles) per open file, without a reference count: the same memory imported twice
//! has one handle, and closing it closes it for both importers. The worker imports clients' buffers for planes, and
//! Mesa imports them for reading. With a shared file each would close the other's handles.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use smithay::backend::drm::{DrmNode, NodeType};
use smithay::reexports::drm::Device;

/// The node of a device that the renderer opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RendererNode {
    /// The render node, where there is one.
    Render,
    /// The primary node: only it allocates dumb buffers.
    Display,
}

struct NodeFile(OwnedFd);

impl AsFd for NodeFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device for NodeFile {}

/// Opens `device` anew. It may block on the DRM master lock, so it is not for the main thread.
pub(super) fn reopen(device: &impl Device, node: RendererNode) -> io::Result<OwnedFd> {
    let known = DrmNode::from_file(device).map_err(io::Error::other)?;
    let open = |path| OpenOptions::new().read(true).write(true).open(path).map(OwnedFd::from);
    let path = |kind| known.dev_path_with_type(kind);
    if node == RendererNode::Render
        && let Some(path) = path(NodeType::Render)
    {
        return open(path);
    }
    let path = path(NodeType::Primary).ok_or(io::ErrorKind::NotFound)?;
    let file = NodeFile(open(path)?);
    // If the device has no DRM master, the kernel makes the new file its master. The renderer must not be that.
    let _ = file.release_master_lock();
    authenticate(device, &file);
    Ok(file.0)
}

/// Opens the node of the device with this number (`st_rdev` of any of its nodes), which another process may display on.
pub fn open_node(number: u64, node: RendererNode) -> io::Result<OwnedFd> {
    let device = DrmNode::from_dev_id(number).map_err(io::Error::other)?;
    let open = |path| OpenOptions::new().read(true).write(true).open(path).map(OwnedFd::from);
    if node == RendererNode::Render
        && let Some(path) = device.dev_path_with_type(NodeType::Render)
    {
        return open(path);
    }
    let path = device.dev_path_with_type(NodeType::Primary).ok_or(io::ErrorKind::NotFound)?;
    let file = NodeFile(open(path)?);
    // Without another master the kernel makes this file the master.
    let _ = file.release_master_lock();
    Ok(file.0)
}

/// Authenticates a file of the primary node: as DRM master we have to allow it to render.
#[expect(deprecated, reason = "some devices have no render node")]
fn authenticate(device: &impl Device, file: &NodeFile) {
    let authenticated = file.generate_auth_token().and_then(|token| device.authenticate_auth_token(token));
    if let Err(error) = authenticated {
        // Some kernels, and some users, do not need it. If it was needed, the renderer fails later.
        tracing::debug!(%error, "the renderer's device file is not authenticated");
    }
}
