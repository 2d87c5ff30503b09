//! The scroll client: a window with a long document, scrolled in one of three ways while a course is played.

use std::io;
use std::os::fd::AsFd as _;

use wayland_client::globals::{BindError, GlobalList, registry_queue_init};
use wayland_client::protocol::{
    wl_compositor::WlCompositor, wl_seat::WlSeat, wl_shm, wl_shm::WlShm, wl_surface::WlSurface,
};
use wayland_client::{Connection, EventQueue, QueueHandle};
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::shell::client::xdg_wm_base::XdgWmBase;

use super::course::ScrollCourse;
use super::course_player::{CoursePlayer, ScrollInjector};
use super::figures::ScrollRun;
use super::options::{PageError, PageOptions, ScrollClient, ScrollMode};
use super::recorded_rows::BACKGROUND;
use super::scroller::{PageWindow, ScrollerContent, first_offset, view_terms};
use super::thread_cpu::own_cpu;
use super::view_path::ViewPath;
use crate::process::{ProcessUsage, peer_pid};
use upbeat_client::memory::SharedMemory;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Longest wait for the first frames.
const FIRST_LIGHT: Span = Span::from_seconds(10);
/// Pause after the pointer has entered the window.
const SETTLES: Span = Span::from_millis(300);
/// Lower priority for a client whose renders have time, behind all other programs.
const NICENESS: i32 = 10;
/// Size if the compositor leaves it to the client.
const SIZE: (i32, i32) = (640, 480);

/// Plays the course, and returns the figures.
///
/// # Errors
/// If the session lacks a protocol or input, or the connection breaks.
pub fn run(options: &PageOptions) -> Result<ScrollRun, PageError> {
    let connection = Connection::connect_to_env()?;
    let (globals, mut queue) = registry_queue_init::<ScrollClient>(&connection)?;
    let handle = queue.handle();
    let mut page = ScrollClient { size: SIZE, ..ScrollClient::default() };
    let (surface, shm) = open(&globals, &handle)?;
    while !page.configured {
        queue.blocking_dispatch(&mut page)?;
    }
    background(&globals, &handle, &shm, &surface, page.size)?;
    let finger = CoursePlayer::spawn().ok_or(PageError::NoFinger)?;
    let window = PageWindow {
        connection: &connection,
        globals: &globals,
        surface: &surface,
        shm: &shm,
        size: page.size,
        handle: &handle,
    };
    let launched = MonotonicClock.now();
    let mut shows = ScrollerContent::new(options, &window)?;
    if options.mode == ScrollMode::View {
        // Renders ahead have time, so the compositor goes first where there is only one CPU. The first screen has not.
        connection.flush()?;
        let _ = rustix::process::setpriority_process(None, NICENESS);
    }
    let limit = launched + FIRST_LIGHT;
    loop {
        shows.update(&mut page);
        if shows.has_content() {
            queue.flush()?;
            break;
        }
        if MonotonicClock.now() > limit || page.closed {
            return Err(PageError::NeverShown);
        }
        crate::wait::wait::<_, PageError>(&mut queue, &mut page, Some(limit))?;
    }
    let mut run = play(options, (&connection, finger), &mut queue, &mut page, &mut shows)?;
    run.note_first_screen(launched, page.first_light);
    Ok(run)
}

fn play(
    options: &PageOptions,
    (connection, finger): (&Connection, CoursePlayer),
    queue: &mut EventQueue<ScrollClient>,
    page: &mut ScrollClient,
    shows: &mut ScrollerContent,
) -> Result<ScrollRun, PageError> {
    let (width, height) = (f64::from(page.size.0), f64::from(page.size.1));
    let span = |seconds: f64| Span::from_nanos((seconds * 1e9) as i64);
    let size = (page.size.0 as usize, page.size.1 as usize);
    let of = |size| ScrollCourse::of(&options.input, span(options.seconds), span(options.pause), size);
    let course = if options.across { of((size.1, size.0))?.with_swapped_axes() } else { of(size)? };
    let view = if options.across { width } else { height };
    let length = course.events.last().map_or(Span::ZERO, |(at, _)| *at) + course.end;
    let hand = ScrollInjector::connect_over((width / 2.0, height / 2.0)).ok_or(PageError::NoFinger)?;
    // Events of the pointer's entry belong to no finger.
    run_until(queue, page, shows, MonotonicClock.now() + SETTLES)?;
    let compositor = peer_pid(connection.backend().poll_fd()).ok();
    let usage = || ProcessUsage::of(compositor?).ok();
    let (before, cpu_before, counts_before) = (usage(), own_cpu(), shows.counts());
    finger.start(hand, course.clone()).ok_or(PageError::NoFinger)?;
    let wake_ups = run_until(queue, page, shows, MonotonicClock.now() + length)?;
    let (after, cpu, counts) = (usage(), own_cpu() - cpu_before, shows.counts());
    while !finger.is_done() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let began = finger.start_time().ok_or(PageError::NoFinger)?;
    let compositor = after.zip(before).map(|(after, before)| after.since(before));
    let renders = counts.renders - counts_before.renders;
    let mut took = counts.took[counts_before.took.len()..].to_vec();
    took.sort_unstable();
    let (lasting, screens) = (course.lasting.as_seconds_f64().max(1e-3), (course.way / view).max(1e-3));
    let mut run = ScrollRun {
        input: options.input.to_string(),
        mode: options.mode.name().to_owned(),
        n: if options.mode == ScrollMode::Frames { 1.0 } else { options.n },
        speed: course.speed(),
        render_ms: took.get(took.len() / 2).copied().unwrap_or_default().as_millis_f64(),
        renders,
        client_fps: renders as f64 / lasting,
        commits_per_s: (counts.commits - counts_before.commits) as f64 / lasting,
        stalls: counts.stalls - counts_before.stalls,
        client_wakeups_per_frame: f64::from(wake_ups) / (renders.max(1) as f64),
        compositor_wakeups_per_s: compositor.map(|used| used.wake_ups as f64 / length.as_seconds_f64()),
        client_cpu_ms_per_screen: cpu.as_millis_f64() / screens,
        compositor_cpu_ms_per_screen: compositor.map(|used| used.cpu.as_millis_f64() / screens),
        screens,
        buffer_megabytes: shows.megabytes(),
        moving: course.moving.iter().map(|(from, to)| (began + *from, began + *to)).collect(),
        ..ScrollRun::default()
    };
    run.formula_fps = if options.mode == ScrollMode::Frames { None } else { run.formula(view) };
    if let Some((screen, costs)) = shows.render_costs() {
        run.note_render_costs(screen, costs);
    }
    let window = (i64::from(page.size.0), i64::from(page.size.1));
    let path = ViewPath::of(&course, &view_terms(window, options.across), first_offset(options.across));
    let (length, beside) = if options.across { window } else { (window.1, window.0) };
    run.note_memory(shows.held_pixels(&path, began, length), beside);
    Ok(run)
}

/// Runs the client until `until`. Returns the number of its wake-ups.
fn run_until(
    queue: &mut EventQueue<ScrollClient>,
    page: &mut ScrollClient,
    shows: &mut ScrollerContent,
    until: Instant,
) -> Result<u32, PageError> {
    let mut wake_ups = 0;
    while !page.closed && MonotonicClock.now() < until {
        shows.update(page);
        crate::wait::wait::<_, PageError>(queue, page, Some(until))?;
        wake_ups += u32::from(MonotonicClock.now() < until);
    }
    Ok(wake_ups)
}

/// Opens a fullscreen window.
fn open(globals: &GlobalList, handle: &QueueHandle<ScrollClient>) -> Result<(WlSurface, WlShm), BindError> {
    let compositor: WlCompositor = globals.bind(handle, 4..=6, ())?;
    let shm: WlShm = globals.bind(handle, 1..=1, ())?;
    let base: XdgWmBase = globals.bind(handle, 1..=6, ())?;
    let seat: WlSeat = globals.bind(handle, 5..=9, ())?;
    seat.get_pointer(handle, ());
    seat.get_touch(handle, ());
    let surface = compositor.create_surface(handle, ());
    let toplevel = base.get_xdg_surface(&surface, handle, ()).get_toplevel(handle, ());
    toplevel.set_title("Upbeat scroller".to_owned());
    toplevel.set_app_id("upbeat-scroller".to_owned());
    toplevel.set_fullscreen(None);
    surface.commit();
    Ok((surface, shm))
}

/// Commits a background for the area without rendered content.
fn background(
    globals: &GlobalList,
    handle: &QueueHandle<ScrollClient>,
    shm: &WlShm,
    surface: &WlSurface,
    size: (i32, i32),
) -> Result<(), PageError> {
    let mut memory = SharedMemory::new("upbeat-background", 1).map_err(io::Error::from)?;
    memory.pixels_mut().fill(BACKGROUND);
    let pool = shm.create_pool(memory.file().as_fd(), memory.bytes() as i32, handle, ());
    let buffer = pool.create_buffer(0, 1, 1, 4, wl_shm::Format::Xrgb8888, handle, ());
    pool.destroy();
    let viewporter: WpViewporter = globals.bind(handle, 1..=1, ())?;
    let viewport: WpViewport = viewporter.get_viewport(surface, handle, ());
    viewport.set_destination(size.0, size.1);
    surface.attach(Some(&buffer), 0, 0);
    surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
    surface.commit();
    Ok(())
}
