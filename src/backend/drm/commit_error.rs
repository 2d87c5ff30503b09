//! The meaning of commit errors.

use crate::backend::SubmitError;

/// Whether the error says nothing about the content of the commit, so that a retry may succeed.
pub(super) fn is_transient(error: &SubmitError) -> bool {
    matches!(error, SubmitError::Busy | SubmitError::Off)
}

/// Converts Smithay's error for the compositor.
pub(super) fn of_smithay(error: &smithay::backend::drm::DrmError) -> SubmitError {
    use smithay::backend::drm::DrmError as Smithay;
    match error {
        Smithay::DeviceInactive => SubmitError::Off,
        Smithay::Access(access) => of_kernel(&access.source, error),
        _ => SubmitError::Device(error.to_string()),
    }
}

/// Converts the kernel's error; `error` is its text.
pub(super) fn of_kernel(answer: &std::io::Error, error: &dyn std::fmt::Display) -> SubmitError {
    match answer.raw_os_error() {
        Some(libc::EBUSY) => SubmitError::Busy,
        Some(libc::EACCES | libc::EPERM | libc::ENODEV) => SubmitError::Off,
        _ => SubmitError::Device(error.to_string()),
    }
}
