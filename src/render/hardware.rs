//! Chooses a device that draws in hardware. Pure.
//!
//! A GPU is worth a thread and uploads of its own. A driver that draws with the CPU is slower than Pixman, which is
//! made for the CPU. EGL and OpenGL together tell the two apart. EGL knows Mesa's software device. But a display device
//! without a GPU, or a virtual device whose host has none, may come with a driver that reveals the CPU only in its
//! renderer name.

use std::fmt;

/// Parts of the names of software renderers, in lower case: Mesa's (also behind Vulkan, and on the host of a virtual
/// machine), Google's and Microsoft's.
const SOFTWARE: [&str; 7] =
    ["llvmpipe", "softpipe", "swrast", "software rasterizer", "lavapipe", "swiftshader", "basic render driver"];
/// Start of the name of another software renderer.
const SOFTWARE_START: &str = "swr ";

/// Properties of a device that might draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeviceFacts {
    /// Its node or its kernel driver, for messages.
    pub device: String,
    /// `GL_RENDERER`: OpenGL's name for the renderer.
    pub renderer: String,
    /// EGL reports a software device.
    pub is_software: bool,
}

impl DeviceFacts {
    pub fn is_hardware(&self) -> bool {
        let name = self.renderer.to_lowercase();
        let names_the_cpu = SOFTWARE.iter().any(|word| name.contains(word)) || name.starts_with(SOFTWARE_START);
        !self.is_software && !names_the_cpu
    }
}

/// Why a device was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RejectedDevice {
    /// Its driver draws with the CPU.
    Software(DeviceFacts),
    /// It cannot be used at all.
    Failed {
        /// Its node or its kernel driver, for messages.
        device: String,
        reason: String,
    },
}

impl fmt::Display for RejectedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RejectedDevice::Software(facts) => write!(f, "{} draws with the CPU ({})", facts.device, facts.renderer),
            RejectedDevice::Failed { device, reason } => write!(f, "{device}: {reason}"),
        }
    }
}

/// Returns the first of `candidates` that draws in hardware, without evaluating further candidates. Each candidate is a
/// device's properties with its renderer, or the reason why it cannot be used. The error lists why there is none.
pub(super) fn choose<P>(
    candidates: impl IntoIterator<Item = Result<(DeviceFacts, P), RejectedDevice>>,
) -> Result<P, String> {
    let mut rejected: Vec<String> = Vec::new();
    for candidate in candidates {
        match candidate {
            Ok((facts, painter)) if facts.is_hardware() => return Ok(painter),
            Ok((facts, _)) => rejected.push(RejectedDevice::Software(facts).to_string()),
            Err(reason) => rejected.push(reason.to_string()),
        }
    }
    if rejected.is_empty() {
        return Err("there is no EGL device".to_owned());
    }
    Err(rejected.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(renderer: &str) -> DeviceFacts {
        DeviceFacts { device: "renderD128".to_owned(), renderer: renderer.to_owned(), is_software: false }
    }

    #[test]
    fn renderers_that_use_the_cpu_are_known_by_their_names() {
        for renderer in [
            "llvmpipe (LLVM 15.0.6, 256 bits)",
            "softpipe",
            "Software Rasterizer",
            "SWR (LLVM 9.0.1, 256 bits)",
            "virgl (LLVMPIPE (LLVM 15.0.6, 256 bits))",
            "zink Vulkan 1.3(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))",
            "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (LLVM 10.0.0)))",
            "D3D12 (Microsoft Basic Render Driver)",
        ] {
            assert!(!facts(renderer).is_hardware(), "{renderer}");
        }
    }

    #[test]
    fn gpus_are_known_by_theirs() {
        for renderer in [
            "AMD Radeon RX 6600 (radeonsi, navi23, LLVM 15.0.6, DRM 3.49, 6.1.0-18-amd64)",
            "Mesa Intel(R) UHD Graphics 620 (KBL GT2)",
            "NVIDIA GeForce RTX 3060/PCIe/SSE2",
            "Mali-G52 (Panfrost)",
            "V3D 4.2",
            "FD630",
            "virgl (AMD Radeon RX 6600 (radeonsi, navi23))",
            "SVGA3D; build: RELEASE;  LLVM;",
            "zink Vulkan 1.3(AMD Radeon RX 6600 (RADV NAVI23) (MESA_RADV))",
        ] {
            assert!(facts(renderer).is_hardware(), "{renderer}");
        }
    }

    #[test]
    fn software_flag_of_egl_overrides_the_renderers_name() {
        assert!(!DeviceFacts { is_software: true, ..facts("V3D 4.2") }.is_hardware());
    }

    #[test]
    fn first_hardware_device_is_chosen_without_probing_later_devices() {
        let broken = || Err(RejectedDevice::Failed { device: "card0".to_owned(), reason: "no EGL".to_owned() });
        let candidates = [broken(), Ok((facts("llvmpipe (LLVM 15)"), 1)), Ok((facts("V3D 4.2"), 2))];
        let never =
            std::iter::from_fn(|| -> Option<Result<(DeviceFacts, i32), RejectedDevice>> { panic!("looked at") });
        assert_eq!(choose(candidates.into_iter().chain(never)), Ok(2));
    }

    #[test]
    fn error_lists_why_each_device_was_rejected() {
        assert_eq!(choose::<()>([]), Err("there is no EGL device".to_owned()));
        let broken = Err(RejectedDevice::Failed { device: "card0".to_owned(), reason: "no EGL".to_owned() });
        let sentence = choose([broken, Ok((facts("llvmpipe"), ()))]).unwrap_err();
        assert_eq!(sentence, "card0: no EGL; renderD128 draws with the CPU (llvmpipe)");
    }
}
