//! The parent's device, opened for its memory. The parent displays on it, so it is never made the DRM master here.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use smithay::reexports::drm::{Device, control};

/// An open file of the device, shared by all users.
#[derive(Clone, Debug)]
pub(super) struct ParentDevice(Arc<OwnedFd>);

impl ParentDevice {
    pub(super) fn new(file: OwnedFd) -> Self {
        ParentDevice(Arc::new(file))
    }
}

impl AsFd for ParentDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device for ParentDevice {}
impl control::Device for ParentDevice {}
