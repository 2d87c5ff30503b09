//! EGL devices. Smithay 0.7 refuses to list them unless the driver reports `EGL_EXT_device_enumeration` and
//! `EGL_EXT_device_query`. NVIDIA's driver behind libglvnd reports `EGL_EXT_device_base` alone, which contains both
//! (first lines of its specification).

use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::ptr;

use smithay::backend::egl::ffi::{self, egl};
use smithay::backend::egl::native::{EGLNativeDisplay, EGLPlatform};

use super::{RenderError, gles_error};

/// The extension that lists devices and their properties.
const BASE: &str = "EGL_EXT_device_base";
/// The two extensions that it consists of.
const PARTS: [&str; 2] = ["EGL_EXT_device_enumeration", "EGL_EXT_device_query"];
/// Each with the property that it offers: the path of a device node, the render node first.
const NODES: [(&str, egl::types::EGLenum); 2] = [
    ("EGL_EXT_device_drm_render_node", egl::DRM_RENDER_NODE_FILE_EXT),
    ("EGL_EXT_device_drm", egl::DRM_DEVICE_FILE_EXT),
];

/// A device that EGL can draw on.
#[derive(Debug)]
pub(super) struct EglDevice {
    handle: egl::types::EGLDeviceEXT,
    extensions: Vec<String>,
}

// SAFETY: EGL devices exist as long as the process, and their handles belong to no thread.
#[expect(unsafe_code, reason = "a pointer is not `Send` by itself")]
unsafe impl Send for EglDevice {}

/// Whether a driver with these client extensions lists its devices.
fn lists_devices(extensions: &[String]) -> bool {
    let has = |name: &str| extensions.iter().any(|known| known == name);
    has(BASE) || PARTS.into_iter().all(has)
}

impl EglDevice {
    /// All devices, in the driver's order.
    pub fn list() -> Result<Vec<Self>, RenderError> {
        let extensions = ffi::make_sure_egl_is_loaded().map_err(gles_error)?;
        if !lists_devices(&extensions) || !egl::QueryDevicesEXT::is_loaded() {
            return Err(RenderError::Gles(format!("EGL cannot list devices: it has no {BASE}")));
        }
        Ok(handles()?.into_iter().map(|handle| EglDevice { handle, extensions: extensions_of(handle) }).collect())
    }

    /// Whether it draws with the CPU, as far as EGL knows.
    pub fn is_software(&self) -> bool {
        self.has("EGL_MESA_device_software")
    }

    /// Its render node, otherwise its primary node; `None` for the software device, and for drivers without nodes.
    pub fn node(&self) -> Option<PathBuf> {
        let known = NODES.into_iter().filter(|(extension, _)| self.has(extension));
        known.into_iter().find_map(|(_, property)| text_of(self.handle, property)).map(PathBuf::from)
    }

    fn has(&self, extension: &str) -> bool {
        self.extensions.iter().any(|known| known == extension)
    }
}

#[expect(unsafe_code, reason = "EGL is a C interface")]
fn handles() -> Result<Vec<egl::types::EGLDeviceEXT>, RenderError> {
    let failed = || RenderError::Gles("EGL cannot list its devices".to_owned());
    let mut count = 0;
    // SAFETY: with no room for devices EGL writes their number only.
    if unsafe { egl::QueryDevicesEXT(0, ptr::null_mut(), &raw mut count) } != egl::TRUE {
        return Err(failed());
    }
    let mut handles: Vec<egl::types::EGLDeviceEXT> = vec![ptr::null(); usize::try_from(count).unwrap_or(0)];
    // SAFETY: there is room for `count` devices, and EGL writes at most as many.
    if unsafe { egl::QueryDevicesEXT(count, handles.as_mut_ptr(), &raw mut count) } != egl::TRUE {
        return Err(failed());
    }
    handles.truncate(usize::try_from(count).unwrap_or(0));
    Ok(handles)
}

fn extensions_of(device: egl::types::EGLDeviceEXT) -> Vec<String> {
    let names = text_of(device, egl::EXTENSIONS).unwrap_or_default();
    names.split_ascii_whitespace().map(str::to_owned).collect()
}

/// A property of a device; `None` if the driver does not know it.
#[expect(unsafe_code, reason = "EGL is a C interface")]
fn text_of(device: egl::types::EGLDeviceEXT, property: egl::types::EGLenum) -> Option<String> {
    if !egl::QueryDeviceStringEXT::is_loaded() {
        return None;
    }
    // SAFETY: the device comes from EGL; an unknown property gives null and an EGL error.
    let text = unsafe { egl::QueryDeviceStringEXT(device, property.cast_signed()) };
    // SAFETY: the text ends with a zero, and exists as long as the process.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

impl EGLNativeDisplay for EglDevice {
    fn supported_platforms(&self) -> Vec<EGLPlatform<'_>> {
        let end = vec![egl::NONE as ffi::EGLint];
        let handle = self.handle as *mut c_void;
        vec![EGLPlatform::new(
            egl::PLATFORM_DEVICE_EXT,
            "PLATFORM_DEVICE_EXT",
            handle,
            end,
            &["EGL_EXT_platform_device"],
        )]
    }

    fn surface_type(&self) -> ffi::EGLint {
        // A device has no windows.
        egl::STREAM_BIT_KHR as ffi::EGLint
    }

    fn identifier(&self) -> Option<String> {
        self.node().map(|path| path.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_listed_by_the_whole_extension_or_by_both_parts() {
        let lists = |names: &[&str]| lists_devices(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert!(lists(&["EGL_EXT_platform_base", "EGL_EXT_device_base", "EGL_EXT_platform_device"]));
        assert!(lists(&["EGL_EXT_device_query", "EGL_EXT_device_enumeration"]));
        assert!(!lists(&["EGL_EXT_device_query"]));
        assert!(!lists(&["EGL_EXT_device_enumeration", "EGL_EXT_platform_device"]));
        assert!(!lists(&[]));
    }
}
