//! Inverts the first output's colours with `zwlr_gamma_control_manager_v1`, until it is killed.
//!
//! ```text
//! cargo run --example gamma
//! ```

use std::io::Write as _;
use std::os::fd::AsFd as _;

use anyhow::Context as _;
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::{wl_output, wl_registry};
use wayland_client::{Connection, Dispatch, QueueHandle, delegate_noop};
use wayland_protocols_wlr::gamma_control::v1::client::{zwlr_gamma_control_manager_v1, zwlr_gamma_control_v1};

/// Events of the gamma control.
#[derive(Default)]
struct GammaEvents {
    size: Option<u32>,
    failed: bool,
}

fn main() -> anyhow::Result<()> {
    let connection = Connection::connect_to_env().context("no compositor")?;
    let (globals, mut queue) = registry_queue_init::<GammaEvents>(&connection)?;
    let handle = queue.handle();
    let output: wl_output::WlOutput = globals.bind(&handle, 1..=1, ())?;
    let manager: zwlr_gamma_control_manager_v1::ZwlrGammaControlManagerV1 = globals.bind(&handle, 1..=1, ())?;
    let control = manager.get_gamma_control(&output, &handle, ());
    let mut told = GammaEvents::default();
    while told.size.is_none() && !told.failed {
        queue.blocking_dispatch(&mut told)?;
    }
    let size = told.size.context("the output has no gamma ramp, or another client controls it")?;
    control.set_gamma(inverted(size)?.as_fd());
    queue.roundtrip(&mut told)?;
    println!("inverted by {size} entries");
    while !told.failed {
        queue.blocking_dispatch(&mut told)?;
    }
    anyhow::bail!("the compositor ended the gamma control");
}

/// Three ramps that turn dark into bright.
fn inverted(size: u32) -> anyhow::Result<std::fs::File> {
    let last = u64::from(size.saturating_sub(1).max(1));
    let curve = (0..u64::from(size)).map(|entry| u16::MAX - u16::try_from(entry * 65535 / last).unwrap_or(u16::MAX));
    let bytes: Vec<u8> = curve.flat_map(u16::to_ne_bytes).collect();
    let file = rustix::fs::memfd_create("ramps", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(file);
    (0..3).try_for_each(|_| file.write_all(&bytes))?;
    Ok(file)
}

impl Dispatch<zwlr_gamma_control_v1::ZwlrGammaControlV1, ()> for GammaEvents {
    fn event(
        told: &mut Self,
        _: &zwlr_gamma_control_v1::ZwlrGammaControlV1,
        event: zwlr_gamma_control_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwlr_gamma_control_v1::Event::GammaSize { size } => told.size = Some(size),
            _ => told.failed = true,
        }
    }
}

impl Dispatch<wl_registry::WlRegistry, GlobalListContents> for GammaEvents {
    fn event(
        _: &mut Self,
        _: &wl_registry::WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

delegate_noop!(GammaEvents: ignore wl_output::WlOutput);
delegate_noop!(GammaEvents: zwlr_gamma_control_manager_v1::ZwlrGammaControlManagerV1);
