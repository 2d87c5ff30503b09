//! What a commit that was refused says.

use crate::backend::SubmitError;

/// Whether the refusal says nothing about what was asked for.
pub(super) fn is_passing(error: &SubmitError) -> bool {
    matches!(error, SubmitError::Busy | SubmitError::Off)
}

/// What it means to whoever composes.
pub(super) fn refusal(error: &smithay::backend::drm::DrmError) -> SubmitError {
    use smithay::backend::drm::DrmError as Smithay;
    match error {
        Smithay::DeviceInactive => SubmitError::Off,
        Smithay::Access(access) => of_kernel(&access.source, error),
        _ => SubmitError::Device(error.to_string()),
    }
}

/// The same for the kernel's own answer, which is told in the words of `error`.
pub(super) fn of_kernel(answer: &std::io::Error, error: &dyn std::fmt::Display) -> SubmitError {
    match answer.raw_os_error() {
        Some(libc::EBUSY) => SubmitError::Busy,
        Some(libc::EACCES | libc::EPERM | libc::ENODEV) => SubmitError::Off,
        _ => SubmitError::Device(error.to_string()),
    }
}
