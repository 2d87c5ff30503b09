//! A demo window: a metronome, drawn for the moment at which its frame is shown.
//!
//! ```text
//! cargo run --release --example demo -- [--seconds N]
//! ```
//! Click for rings; up and down change the tempo. Escape, q, closing the window or N seconds end it.
//!
//! It is also the smallest client that animates *by presentation time*. Each frame callback is answered with the
//! picture of the refresh that the frame can reach. That is the last refresh in a `wp_presentation` event plus a whole
//! number of refreshes. So a late frame is shown twice, and the motion never jerks.
//!
//! It draws into `wl_shm` with the CPU and needs nothing but wayland-client.

mod canvas;
mod protocol;
mod scene;

use std::time::Duration;

use wayland_client::{Connection, EventQueue};

use protocol::DemoWindow;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => None,
        [option, seconds] if option == "--seconds" => Some(seconds.parse()?),
        _ => return Err("usage: demo [--seconds N]".into()),
    };
    let connection = Connection::connect_to_env()?;
    let mut queue: EventQueue<DemoWindow> = connection.new_event_queue();
    let mut window = DemoWindow::open(&connection, &mut queue)?;
    let end =
        seconds.map(|seconds: u64| protocol::clock(window.clock_id()) + Duration::from_secs(seconds).as_secs_f64());
    while window.is_open() && end.is_none_or(|end| protocol::clock(window.clock_id()) < end) {
        queue.blocking_dispatch(&mut window)?;
    }
    window.report();
    Ok(())
}
