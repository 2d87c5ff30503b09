//! A window to look at: a metronome, drawn for the moment at which it will be seen.
//!
//! ```text
//! cargo run --release --example demo -- [--seconds N]
//! ```
//! Click for rings; up and down change the tempo; Escape or q ends it, as closing the window does, or N seconds.
//!
//! It is also the smallest client that animates *by presentation time*. Each frame callback is answered with the
//! picture of the refresh that the frame can reach: the last refresh that `wp_presentation` told of plus a whole number
//! of refreshes. A frame that is late is thus a frame shown twice, never motion that jerks.
//!
//! It draws into `wl_shm` with the CPU and needs nothing but wayland-client.

mod canvas;
mod protocol;
mod scene;

use std::time::Duration;

use wayland_client::{Connection, EventQueue};

use protocol::Window;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => None,
        [option, seconds] if option == "--seconds" => Some(seconds.parse()?),
        _ => return Err("usage: demo [--seconds N]".into()),
    };
    let connection = Connection::connect_to_env()?;
    let mut queue: EventQueue<Window> = connection.new_event_queue();
    let mut window = Window::open(&connection, &mut queue)?;
    let end =
        seconds.map(|seconds: u64| protocol::clock(window.clock_id()) + Duration::from_secs(seconds).as_secs_f64());
    while window.is_open() && end.is_none_or(|end| protocol::clock(window.clock_id()) < end) {
        queue.blocking_dispatch(&mut window)?;
    }
    window.report();
    Ok(())
}
