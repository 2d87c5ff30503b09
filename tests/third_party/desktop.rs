//! Desktop programs without ordinary windows: bars, wallpapers, launchers, notifications, and output configuration.
//! Each test uses a program's main function and checks the effect.

use std::path::Path;

use serde_json::Value;

use super::session::{ThirdPartySession, installed};
use super::{OUTPUT, ScreenPicture};

/// Height of the bar, in pixels.
const BAR: u32 = 30;
/// Name of the output.
const NAME: &str = "HEADLESS-1";

/// Starts a session if all of these programs, each with its Debian package, are installed.
fn begin(name: &str, programs: &[(&str, &str)]) -> Option<ThirdPartySession> {
    let tools = [("grim", "grim"), ("wtype", "wtype")];
    let are_there = tools.iter().chain(programs).all(|(program, package)| installed(program, package));
    are_there.then(|| ThirdPartySession::start(name, OUTPUT, None))
}

fn answer(session: &ThirdPartySession, what: &str) -> Value {
    serde_json::from_str(&session.message(&[what])).unwrap()
}

/// Size of the only window.
fn size(session: &ThirdPartySession) -> Option<(u64, u64)> {
    let answer = answer(session, "windows");
    let geometry = answer["windows"].get(0)?["geometry"].clone();
    Some((geometry["width"].as_u64()?, geometry["height"].as_u64()?))
}

/// Writes a configuration file for a program; returns its path.
pub fn write(session: &ThirdPartySession, name: &str, text: &str) -> String {
    let path = session.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn waybar_reserves_its_exclusive_zone_and_lists_windows() {
    let Some(mut session) = begin("waybar", &[("waybar", "waybar"), ("foot", "foot")]) else { return };
    let bar = format!(
        r#"{{"layer": "top", "height": {BAR}, "modules-left": ["wlr/taskbar"],
            "wlr/taskbar": {{"format": "{{title}}", "on-click": "close"}}}}"#
    );
    let config = write(&session, "waybar/config", &bar);
    let style = write(&session, "waybar/style.css", "* { font-family: 'DejaVu Sans'; font-size: 14px; }");
    session.spawn(&["foot", "--maximized", "--title=the listed window", "cat"]);
    session.wait("a window", || size(&session));
    session.spawn(&["waybar", "--config", &config, "--style", &style]);
    // Allow a margin, because a terminal's size is a multiple of its character cell.
    let beside = |(width, height): &(u64, u64)| {
        *width > u64::from(OUTPUT.0) - 40
            && *height <= u64::from(OUTPUT.1 - BAR)
            && *height > u64::from(OUTPUT.1 - BAR) - 40
    };
    session.wait("room for the bar", || size(&session).filter(beside));
    session.wait("the window in the list", || session.traffic("waybar").contains("the listed window").then_some(()));
    session.linger();
    session.assert_all_running();
    session.picture("bar");
    // A click on an entry of the list does the configured action, which is to close the window.
    session.click(60, BAR / 2);
    session.wait("no window", || answer(&session, "windows")["windows"].as_array()?.is_empty().then_some(()));
    session.end();
}

#[test]
fn waybar_shows_session_events_from_a_script() {
    let programs = [("waybar", "waybar"), ("foot", "foot"), ("python3", "python3")];
    let Some(mut session) = begin("waybar-events", &programs) else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/events/waybar.py");
    // The same configuration as in examples/events/waybar.jsonc.
    let bar = format!(
        r#"{{"layer": "top", "height": {BAR}, "modules-left": ["custom/upbeat"],
            "custom/upbeat": {{"exec": "'{script}'", "return-type": "json"}}}}"#
    );
    let style = "* { font-family: 'DejaVu Sans'; font-size: 14px; } #custom-upbeat { background: #ff00ff; }";
    let config = write(&session, "waybar/config", &bar);
    let style = write(&session, "waybar/style.css", style);
    let socket = session.private_socket();
    let environment = [("UPBEAT_SOCKET", socket.as_str())];
    session.spawn_in(&["waybar", "--config", &config, "--style", &style], &environment);
    let module = |picture: &ScreenPicture| picture.count(0x00ff_00ff);
    let alone = std::cell::Cell::new(0);
    session.wait_for_picture("the module", |picture| {
        alone.set(module(picture));
        alone.get() > 200
    });
    let alone = alone.get();
    session.spawn(&["foot", "--title=a title that takes some room in the bar", "cat"]);
    session.wait_for_picture("the title", |picture| module(picture) > 3 * alone);
    session.message(&["workspace", "4"]);
    session.wait_for_picture("another workspace", |picture| module(picture) < 3 * alone);
    session.assert_all_running();
    session.end();
}

#[test]
fn swaybg_fills_the_screen_below_all_windows() {
    let Some(mut session) = begin("swaybg", &[("swaybg", "swaybg"), ("foot", "foot")]) else { return };
    session.spawn(&["swaybg", "--color", "#336699"]);
    let blue = |picture: &ScreenPicture| picture.count(0x0033_6699);
    let all = (OUTPUT.0 * OUTPUT.1) as usize;
    session.wait_for_picture("wallpaper", |picture| blue(picture) == all);
    session.spawn(&["foot", "-o", "initial-window-size-pixels=400x300", "cat"]);
    session.wait_for_picture("window", |picture| (all / 2..all - 100_000).contains(&blue(picture)));
    session.assert_all_running();
    session.end();
}

/// Types into a launcher, which starts the program that it finds.
fn launches(name: &str, package: &str, command: &[&str], more: &[(&str, &str)]) {
    let Some(mut session) = begin(name, &[(command[0], package)]) else { return };
    let started = session.path("started");
    let entry = format!("[Desktop Entry]\nType=Application\nName=Metronome\nExec=touch {}\n", started.display());
    write(&session, "data/applications/metronome.desktop", &entry);
    write(&session, "data/applications/other.desktop", "[Desktop Entry]\nType=Application\nName=Other\nExec=false\n");
    let (data, home) = (session.path("data"), session.path("home"));
    let words = |path: &Path| path.to_str().unwrap().to_owned();
    let (data, home) = (words(&data), words(&home));
    let mut environment = vec![("XDG_DATA_HOME", data.as_str()), ("HOME", home.as_str())];
    environment.extend(more);
    session.spawn_in(command, &environment);
    session.wait_for_picture("open", |picture| picture.content() > 10_000);
    session.wait("the keyboard", || session.traffic(command[0]).contains("wl_keyboard").then_some(()));
    session.type_text("metron");
    session.linger();
    session.picture("typed");
    session.message(&["input", "key", "enter"]);
    session.wait("the started program", || started.exists().then_some(()));
    // The launcher exits, and may leave its last events unread.
    session.wait_for_exits();
    session.end();
}

#[test]
fn fuzzel_starts_the_program_that_is_typed() {
    launches("fuzzel", "fuzzel", &["fuzzel", "--no-icons"], &[]);
}

#[test]
fn wofi_starts_the_program_that_is_typed() {
    launches("wofi", "wofi", &["wofi", "--show", "drun"], &[]);
}

#[test]
fn mako_shows_a_notification() {
    let programs = [
        ("mako", "mako-notifier"),
        ("notify-send", "libnotify-bin"),
        ("dbus-run-session", "dbus-daemon"),
        ("dbus-send", "dbus-bin"),
    ];
    let Some(mut session) = begin("mako", &programs) else { return };
    // Wait until mako owns the name, because for an earlier request the bus would start a second mako.
    let script = "mako --background-color '#00ff00ff' & echo $! > $XDG_RUNTIME_DIR/mako; \
                  until dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
                  string:org.freedesktop.Notifications | grep -q true; do sleep 0.1; done; \
                  notify-send --expire-time 60000 tick 'the next beat'; wait; true";
    session.spawn(&["dbus-run-session", "--", "sh", "-c", script]);
    let shown = session.wait_for_picture("notification", |picture| picture.count(0x0000_ff00) > 5_000);
    assert!(shown.content() < (OUTPUT.0 * OUTPUT.1 / 4) as usize, "the notification is small");
    session.assert_all_running();
    // The bus ends with mako.
    let process = std::fs::read_to_string(session.path("mako")).unwrap();
    session.run(&["kill", process.trim()]);
    session.wait_for_exits();
    session.end();
}

/// The output's mode, geometry and scale; `None` if the output is disabled.
fn output(session: &ThirdPartySession) -> Option<(String, Value, f64)> {
    let answer = answer(session, "outputs");
    let output = answer["outputs"].get(0)?.clone();
    Some((output["mode"].as_str()?.to_owned(), output["geometry"].clone(), output["scale"].as_f64()?))
}

#[test]
fn wlr_randr_sets_mode_scale_and_position_and_disables_and_enables_the_output() {
    let Some(session) = begin("wlr-randr", &[("wlr-randr", "wlr-randr")]) else { return };
    let randr = |words: &[&str]| session.run(&[&["wlr-randr"], words].concat());
    let listed = randr(&[]);
    assert!(listed.contains(NAME) && listed.contains("1024x768"), "{listed}");
    randr(&["--output", NAME, "--custom-mode", "800x600@50Hz", "--scale", "2", "--pos", "100,50"]);
    let is_set = || {
        let (mode, geometry, scale) = output(&session)?;
        let place = ["x", "y", "width", "height"].map(|side| geometry[side].as_i64().unwrap_or_default());
        (mode.starts_with("800x600@50") && scale == 2.0 && place == [100, 50, 400, 300]).then_some(())
    };
    session.wait("the new mode, scale and place", is_set);
    randr(&["--output", NAME, "--off"]);
    session.wait("the output to go", || output(&session).is_none().then_some(()));
    randr(&["--output", NAME, "--on"]);
    // With `--on`, wlr-randr sets a position and scale of its own.
    let before =
        session.wait("the output to return", || output(&session).filter(|(mode, ..)| mode.starts_with("800x600@50")));
    // An impossible scale is refused with a reason, and changes nothing.
    assert!(!session.succeeds(&["wlr-randr", "--output", NAME, "--transform", "90", "--scale", "30"]));
    assert_eq!(output(&session), Some(before));
    let log = std::fs::read_to_string(session.log("compositor")).unwrap();
    assert!(log.contains("a scale of 30"), "{log}");
    session.end();
}

/// Colours of the wallpaper's quarters: top left, top right, bottom left, bottom right.
const QUARTERS: [u32; 4] = [0x00ff_0000, 0x0000_ff00, 0x0000_00ff, 0x00ff_ffff];

/// Width and height of the image, in pixels.
const SIDE: usize = 64;

/// Writes an asymmetric image, so that a flip or rotation would be noticed.
fn wallpaper(session: &ThirdPartySession) -> String {
    let path = session.path("wallpaper.png");
    let mut encoder = png::Encoder::new(std::fs::File::create(&path).unwrap(), SIDE as u32, SIDE as u32);
    encoder.set_color(png::ColorType::Rgb);
    let quarter = |at: usize| QUARTERS[usize::from(at % SIDE >= SIDE / 2) + 2 * usize::from(at / SIDE >= SIDE / 2)];
    let bytes: Vec<u8> = (0..SIDE * SIDE).flat_map(|at| quarter(at).to_be_bytes()[1..].to_vec()).collect();
    encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn wlr_randr_transforms_an_output_and_grim_captures_it_upright() {
    let programs = [("wlr-randr", "wlr-randr"), ("swaybg", "swaybg")];
    let Some(mut session) = begin("wlr-randr-turns", &programs) else { return };
    session.spawn(&["swaybg", "--image", &wallpaper(&session), "--mode", "stretch"]);
    let (width, height) = (OUTPUT.0 as usize, OUTPUT.1 as usize);
    for transform in ["normal", "90", "180", "270", "flipped", "flipped-90", "flipped-180", "flipped-270"] {
        session.run(&["wlr-randr", "--output", NAME, "--transform", transform]);
        let is_high = transform.ends_with("90") || transform.ends_with("270");
        let (width, height) = if is_high { (height, width) } else { (width, height) };
        // Sample the centre of each quarter, because the stretched quarters blend at their edges.
        let (left, top, right, bottom) = (width / 4, height / 4, width * 3 / 4, height * 3 / 4);
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        session.wait_for_picture(&format!("turned-{transform}"), |picture| {
            picture.size() == (width, height) && corners.map(|corner| picture.at(corner)) == QUARTERS
        });
        let output = answer(&session, "outputs")["outputs"][0].clone();
        assert_eq!((&output["transform"], &output["geometry"]["width"]), (&transform.into(), &width.into()));
        let listed = session.run(&["wlr-randr"]);
        assert!(listed.contains(&format!("Transform: {transform}")), "{listed}");
    }
    session.assert_all_running();
    session.end();
}

#[test]
fn kanshi_applies_its_profile() {
    let Some(mut session) = begin("kanshi", &[("kanshi", "kanshi")]) else { return };
    let profile = format!("profile {{\n output {NAME} enable position 10,20 scale 2.000000 transform flipped-90\n}}\n");
    let config = write(&session, "kanshi", &profile);
    session.spawn(&["kanshi", "--config", &config]);
    session.wait("the profile", || {
        let (_, geometry, scale) = output(&session)?;
        let is_turned = geometry["width"] == OUTPUT.1 / 2 && geometry["height"] == OUTPUT.0 / 2;
        (scale == 2.0 && geometry["x"] == 10 && geometry["y"] == 20 && is_turned).then_some(())
    });
    session.assert_all_running();
    session.end();
}
