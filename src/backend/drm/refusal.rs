//! What a commit that was refused says.

use crate::backend::SubmitError;

/// Whether the refusal says nothing about what was asked for.
pub(super) fn is_passing(error: &smithay::backend::drm::DrmError) -> bool {
    matches!(refusal(error), SubmitError::Busy | SubmitError::Off)
}

/// What it means to whoever composes.
pub(super) fn refusal(error: &smithay::backend::drm::DrmError) -> SubmitError {
    use smithay::backend::drm::DrmError as Smithay;
    match error {
        Smithay::DeviceInactive => SubmitError::Off,
        Smithay::Access(access) => match access.source.raw_os_error() {
            Some(libc::EBUSY) => SubmitError::Busy,
            Some(libc::EACCES | libc::EPERM | libc::ENODEV) => SubmitError::Off,
            _ => SubmitError::Device(error.to_string()),
        },
        _ => SubmitError::Device(error.to_string()),
    }
}
