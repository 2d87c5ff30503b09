//! The binary in a headless session, with clients in separate processes: the answers and effects of `upbeat msg`, the
//! end of a session, and the isolation of clients from each other.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod animation;
mod animations;
mod client;
mod clock;
mod ends;
mod frame_pacing;
mod game;
mod hotplug;
mod ink;
mod installed;
mod interrupt;
mod map;
mod messages;
mod misbehaviour;
mod monitors;
mod nested;
mod pixels;
mod real_time;
mod records;
mod refreshes;
mod rotation;
mod satellite;
mod scarcity;
mod scroll;
mod sdl;
mod seat;
mod service;
mod session;
mod settings;
mod smoothness;
mod timed;
#[path = "../timed/mod.rs"]
mod timed_figure;
mod vulkan;

/// Not a test: the client program of the tests. [`client::VARIABLE`] selects its role.
#[test]
#[ignore = "the client program of the other tests"]
fn client_program() {
    if let Ok(role) = std::env::var(client::VARIABLE) {
        client::play(&role);
    }
}
