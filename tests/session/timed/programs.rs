//! Programs that draw ahead: how many of their frames are presented, and when.

use crate::timed_figure::Noise;
use crate::{frame_pacing, sdl, vulkan};

#[test]
#[ignore = "timed: ./up measure"]
fn half_of_the_frames_drawn_ahead_are_presented() {
    for (name, client) in [("C", frame_pacing::c_client as fn() -> _), ("Python", frame_pacing::python_client)] {
        let noise = Noise::begin();
        let Some(frame_pacing::AheadClientCounts { shown, on_time }) = client() else { continue };
        let keeps = shown >= frame_pacing::FRAMES / 2 && on_time > 0;
        noise.judge(keeps, format_args!("{name}, of {} frames: {shown} seen, {on_time} on time", frame_pacing::FRAMES));
    }
}

#[test]
#[ignore = "timed: ./up measure"]
fn half_of_the_frames_of_an_sdl_program_are_presented() {
    let noise = Noise::begin();
    let Some(sdl::SdlCounts { seen, waits, .. }) = sdl::counts() else { return };
    // SDL asks for callbacks as well: a frame that waits for its target must not count as late for them.
    let keeps = seen >= sdl::FRAMES / 2 && waits < sdl::FRAMES as usize / 4;
    noise.judge(keeps, format_args!("SDL, of {} frames: {seen} seen, {waits} called late", sdl::FRAMES));
}

#[test]
#[ignore = "timed: ./up measure"]
fn three_of_four_vulkan_frames_keep_their_distance() {
    let noise = Noise::begin();
    let Some(vulkan::DisplayTimingCounts { told, apart, .. }) = vulkan::timed() else { return };
    let keeps = told >= vulkan::FRAMES / 2 && 4 * apart >= 3 * told;
    noise.judge(keeps, format_args!("Vulkan, of {} frames: {told} told, {apart} at their distance", vulkan::FRAMES));
}
