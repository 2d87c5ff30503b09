//! Properties of the kernel's display objects, by their names.

use smithay::reexports::drm::control::{Device, ResourceHandle, property};

/// The property `name` of `object`, and its value; `None` where it has none of that name.
pub(super) fn find(
    device: &impl Device,
    object: impl ResourceHandle,
    name: &str,
) -> Option<(property::Info, property::RawValue)> {
    let properties = device.get_properties(object).ok()?;
    let (handles, values) = properties.as_props_and_values();
    handles.iter().zip(values).find_map(|(handle, value)| {
        let info = device.get_property(*handle).ok()?;
        (info.name().to_str() == Ok(name)).then_some((info, *value))
    })
}
