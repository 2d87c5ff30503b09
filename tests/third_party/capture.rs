//! Programs that capture the screen: grim with a region from slurp, wf-recorder, wayvnc.

use std::cell::RefCell;
use std::process::Command;

use rustix::process::Signal;

use crate::OUTPUT;
use crate::session::{ThirdPartySession, installed};
use crate::vnc::Vnc;

/// Fewest frames of a film in which something always moves.
const LEAST_FRAMES: usize = 20;

#[test]
fn grim_captures_the_region_selected_in_slurp() {
    if ![("slurp", "slurp"), ("grim", "grim")].iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("slurp", OUTPUT, None);
    // Wait for its overlay, which takes the pointer from the moment it is on screen.
    session.spawn(&["slurp", "-b", "#336699ff"]);
    let everything = OUTPUT.0 as usize * OUTPUT.1 as usize;
    session.wait_for_picture("veil", |picture| picture.count(0x0033_6699) == everything);
    session.drag((100, 200), (400, 300));
    session.wait_for_exits();
    let said = session.traffic("slurp");
    let region = said.lines().find(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let region = region.unwrap_or_else(|| panic!("no region: {said}")).to_owned();
    let (corner, size) = region.split_once(' ').unwrap();
    assert_eq!(corner, "100,200");
    let (width, height) = size.split_once('x').unwrap();
    let near = |number: &str, expected: i32| number.parse::<i32>().unwrap().abs_diff(expected) <= 1;
    assert!(near(width, 300) && near(height, 100), "{region}");
    let path = session.path("region.ppm");
    session.run(&["grim", "-t", "ppm", "-g", &region, path.to_str().unwrap()]);
    let header = std::fs::read(&path).unwrap();
    assert!(header.starts_with(format!("P6\n{width} {height}\n").as_bytes()));
    session.end();
}

#[test]
fn wf_recorder_starts_on_a_still_screen_and_records_in_order() {
    let tools = [("wf-recorder", "wf-recorder"), ("ffprobe", "ffmpeg"), ("weston-simple-shm", "weston")];
    if !tools.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("wf-recorder", OUTPUT, None);
    let film = session.path("film.mkv");
    let film = film.to_str().unwrap();
    // Start on a still screen.
    session.spawn_quietly(&["wf-recorder", "-c", "libx264rgb", "-p", "preset=ultrafast", "-f", film]);
    session.wait("the first frame", || std::fs::metadata(film).is_ok().then_some(()));
    session.spawn_quietly(&["weston-simple-shm"]);
    let select = ["-v", "quiet", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0"];
    let times = || -> Vec<f64> {
        // An unfinished file has no index, and maybe half a packet at its end.
        let output = Command::new("ffprobe").args(select).arg(film).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.lines().filter_map(|line| line.trim_matches(',').parse().ok()).collect()
    };
    session.wait("frames", || (times().len() >= LEAST_FRAMES).then_some(()));
    session.signal("wf-recorder", Signal::INT);
    let times = times();
    assert!(times.len() >= LEAST_FRAMES, "{} frames", times.len());
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    session.end();
}

#[test]
fn wayvnc_shows_the_screen_and_forwards_a_click() {
    let tools = [("wayvnc", "wayvnc"), ("foot", "foot"), ("grim", "grim")];
    if !tools.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("wayvnc", OUTPUT, None);
    session.spawn(&["foot", "-o", "cursor.blink=no", "cat"]);
    let port = free_port();
    let config = session.path("config");
    std::fs::write(&config, "").unwrap();
    let config = format!("--config={}", config.display());
    session.spawn(&["wayvnc", &config, "127.0.0.1", &port.to_string()]);
    let vnc = session.wait("wayvnc", || Vnc::connect(port));
    assert_eq!((u32::from(vnc.size.0), u32::from(vnc.size.1)), OUTPUT);
    // Compare repeatedly, because the opening animation takes a while.
    let vnc = RefCell::new(vnc);
    session.wait_for_picture("seen", |picture| {
        picture.content() > 100_000 && picture.differs_from(&vnc.borrow_mut().picture()) == 0
    });
    let mut vnc = vnc.into_inner();
    let (x, y) = (vnc.size.0 / 2, vnc.size.1 / 2);
    vnc.click(x, y);
    let heard = |event: &str| {
        let said = session.traffic("foot");
        said.lines().any(|line| !line.contains("->") && line.contains(event)).then_some(())
    };
    session.wait("the press", || heard(", 272, 1)"));
    session.wait("the release", || heard(", 272, 0)"));
    session.assert_all_running();
    session.end();
}

/// An unused TCP port.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
