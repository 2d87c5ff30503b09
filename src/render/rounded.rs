//! Rounded corners: in memory for pixman, by a shader for OpenGL ES, with the same formula
//! ([`RoundedRect::coverage`](crate::scene::RoundedRect::coverage)).

use smithay::backend::renderer::gles::{GlesError, GlesRenderer, GlesTexProgram, Uniform, UniformName, UniformType};
use smithay::reexports::pixman::Image;
use smithay::utils::{Physical, Rectangle};

use crate::scene::RoundedRect;

/// Fragment shader that fades pixels outside the rounded rectangle `clip` (left, top, width, height, in pixels of the
/// target).
const SHADER: &str = r"#version 100

//_DEFINES_

#if defined(EXTERNAL)
#extension GL_OES_EGL_image_external : require
#endif

precision highp float;
#if defined(EXTERNAL)
uniform samplerExternalOES tex;
#else
uniform sampler2D tex;
#endif

uniform float alpha;
uniform vec4 clip;
uniform float radius;
varying vec2 v_coords;

#if defined(DEBUG_FLAGS)
uniform float tint;
#endif

void main() {
    vec4 color = texture2D(tex, v_coords);
#if defined(NO_ALPHA)
    color = vec4(color.rgb, 1.0);
#endif
    vec2 corner = abs(gl_FragCoord.xy - clip.xy - clip.zw / 2.0) - clip.zw / 2.0 + radius;
    float outside = length(max(corner, 0.0)) + min(max(corner.x, corner.y), 0.0) - radius;
    color *= alpha * clamp(0.5 - outside, 0.0, 1.0);
#if defined(DEBUG_FLAGS)
    if (tint == 1.0)
        color = vec4(0.0, 0.2, 0.0, 0.2) + color * 0.8;
#endif
    gl_FragColor = color;
}
";

/// The compiled shader, stored with its context.
pub(super) struct RoundedShader(pub GlesTexProgram);

/// Compiles the shader for `renderer`.
pub(super) fn compile(renderer: &mut GlesRenderer) -> Result<(), GlesError> {
    let names = [UniformName::new("clip", UniformType::_4f), UniformName::new("radius", UniformType::_1f)];
    let program = renderer.compile_custom_texture_shader(SHADER, &names)?;
    renderer.egl_context().user_data().insert_if_missing(|| RoundedShader(program));
    Ok(())
}

/// The shader's uniforms for `clip` (relative to the target).
pub(super) fn uniforms(clip: Rectangle<f32, Physical>, radius: f32) -> [Uniform<'static>; 2] {
    let rect = [clip.loc.x, clip.loc.y, clip.size.w, clip.size.h];
    [Uniform::new("clip", rect), Uniform::new("radius", radius)]
}

/// Fades the pixels of `image`, which shows `area` (relative to the output), outside `clip`.
#[expect(unsafe_code, reason = "pixman gives out the address of the pixels")]
pub(super) fn cut(image: &mut Image<'static, 'static>, area: Rectangle<i32, Physical>, clip: RoundedRect) {
    let stride = image.stride() / 4;
    // SAFETY: the image was made with `area.size` pixels of four bytes, rows `stride` bytes apart, owns them, and
    // is borrowed mutably.
    let pixels = unsafe { std::slice::from_raw_parts_mut(image.data(), stride * area.size.h.max(0) as usize) };
    for corner in clip.corners().iter().filter_map(|corner| corner.intersection(area)) {
        for y in corner.loc.y..corner.loc.y + corner.size.h {
            let row = (y - area.loc.y) as usize * stride;
            for x in corner.loc.x..corner.loc.x + corner.size.w {
                let pixel = &mut pixels[row + (x - area.loc.x) as usize];
                *pixel = faded(*pixel, clip.coverage(x, y));
            }
        }
    }
}

/// Scales a premultiplied pixel by `share`: 0 to 1.
pub(crate) fn faded(pixel: u32, share: f32) -> u32 {
    let level = |shift: u32| ((f32::from((pixel >> shift) as u8) * share).round() as u32) << shift;
    level(24) | level(16) | level(8) | level(0)
}
