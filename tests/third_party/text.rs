//! Text input without a hardware keyboard: on-screen keyboards and input methods.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::picture::ScreenPicture;
use super::session::{ThirdPartySession, installed};
use super::{OUTPUT, browsers};

/// A GTK window that fills the screen, with an entry whose text is written to a file.
const FIELD: &str = r#"
import sys
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
def start(application):
    window = Gtk.ApplicationWindow(application=application, title="letter")
    field = Gtk.Entry(valign=Gtk.Align.START)
    field.connect("changed", lambda field: open(sys.argv[1], "w").write(field.get_text()))
    window.set_child(field)
    window.maximize()
    window.present()
application = Gtk.Application()
application.connect("activate", start)
application.run([])
"#;

/// Setting that shows GNOME's on-screen keyboards.
const SETTINGS: &str = "[org/gnome/desktop/a11y/applications]\nscreen-keyboard-enabled=true\n";

/// Profile of fcitx5: it starts with Japanese.
const PROFILE: &str = "[Groups/0]\nName=Default\nDefault Layout=us\nDefaultIM=anthy\n\
    [Groups/0/Items/0]\nName=keyboard-us\nLayout=\n[Groups/0/Items/1]\nName=anthy\nLayout=\n\
    [GroupOrder]\n0=Default\n";

const TOOLS: [(&str, &str); 2] = [("grim", "grim"), ("dbus-daemon", "dbus-daemon")];

fn are_there(programs: &[(&str, &str)]) -> bool {
    TOOLS.iter().chain(programs).all(|(program, package)| installed(program, package))
}

fn write(session: &ThirdPartySession, name: &str, text: &str) -> PathBuf {
    let path = session.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// Starts a program with a bus of its own, and with its configuration from the folder `config`.
pub fn spawn_with_bus(session: &mut ThirdPartySession, program: &str) {
    let bus = format!("unix:path={}", session.path("bus").display());
    session.spawn_quietly(&["dbus-daemon", "--session", "--nofork", "--address", &bus]);
    session.wait("the bus", || session.path("bus").exists().then_some(()));
    let config = session.path("config");
    let environment = [
        ("DBUS_SESSION_BUS_ADDRESS", bus.as_str()),
        ("XDG_CONFIG_HOME", config.to_str().unwrap()),
        ("GSETTINGS_BACKEND", "keyfile"),
    ];
    session.spawn_in(&[program], &environment);
}

/// Height of the only window, once the window is as wide as the screen.
fn height(session: &ThirdPartySession) -> Option<u32> {
    let answer: serde_json::Value = serde_json::from_str(&session.message(&["windows"])).unwrap();
    let geometry = &answer["windows"].get(0)?["geometry"];
    let is_wide = geometry["width"].as_u64()? == u64::from(OUTPUT.0);
    geometry["height"].as_u64().filter(|_| is_wide).map(|height| height as u32)
}

/// A session with the GTK window, and the file with its text.
fn with_field(name: &str) -> (ThirdPartySession, PathBuf) {
    let mut session = ThirdPartySession::start(name, OUTPUT, None);
    let (script, written) = (write(&session, "field.py", FIELD), session.path("written"));
    session.spawn(&["/usr/bin/python3", script.to_str().unwrap(), written.to_str().unwrap()]);
    session.wait("the window", || height(&session).filter(|height| *height == OUTPUT.1));
    (session, written)
}

const GTK: [(&str, &str); 2] =
    [("/usr/bin/python3", "python3"), ("/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-4.0.typelib", "gir1.2-gtk-4.0")];

/// Taps with one finger at these places, one after the other.
fn touch(session: &ThirdPartySession, places: [(u32, u32); 3]) {
    for (x, y) in places {
        session.message(&["input", "touch", "down", "1", &x.to_string(), &y.to_string()]);
        session.message(&["input", "touch", "up", "1"]);
    }
}

/// Presses keys of the session's keyboard.
pub fn type_keys(session: &ThirdPartySession, keys: &[&str]) {
    for key in keys {
        session.message(&["input", "key", *key]);
    }
}

#[track_caller]
fn says(session: &ThirdPartySession, written: &Path, text: &str) {
    session.wait(text, || (std::fs::read_to_string(written).ok()? == text).then_some(()));
}

#[test]
fn squeekboard_appears_with_a_text_field_reserves_space_and_types() {
    if !are_there(&[GTK[0], GTK[1], ("squeekboard", "squeekboard")]) {
        return;
    }
    let (mut session, written) = with_field("squeekboard");
    write(&session, "config/glib-2.0/settings/keyfile", SETTINGS);
    spawn_with_bus(&mut session, "squeekboard");
    let below = session.wait("room for the keyboard", || height(&session).filter(|height| *height < OUTPUT.1));
    session.wait("the field", || session.traffic("squeekboard").contains(".activate()").then_some(()));
    session.linger();
    session.picture("keyboard");
    // Places of the first three letters in the keyboard's top row.
    let row = below + 16;
    touch(&session, [304, 350, 396].map(|key| (key, row)));
    says(&session, &written, "qwe");
    session.picture("typed");
    session.assert_all_running();
    session.end();
}

#[test]
fn wvkbd_reserves_space_and_types() {
    if !are_there(&[GTK[0], GTK[1], ("wvkbd-mobintl", "wvkbd")]) {
        return;
    }
    let (mut session, written) = with_field("wvkbd");
    session.spawn(&["wvkbd-mobintl", "-L", "200"]);
    session.wait("room for the keyboard", || height(&session).filter(|height| *height == OUTPUT.1 - 200));
    session.linger();
    session.picture("keyboard");
    touch(&session, [116, 193, 271].map(|key| (key, OUTPUT.1 - 180)));
    says(&session, &written, "qwe");
    session.assert_all_running();
    session.end();
}

#[test]
fn fcitx5_composes_shows_candidates_and_commits_text() {
    let needed = [("fcitx5", "fcitx5"), ("/usr/share/fcitx5/inputmethod/anthy.conf", "fcitx5-anthy"), ("foot", "foot")];
    if !are_there(&needed) {
        return;
    }
    let mut session = ThirdPartySession::start("fcitx5", OUTPUT, None);
    write(&session, "config/fcitx5/profile", PROFILE);
    write(&session, "config/fcitx5/config", "[Behavior]\nActiveByDefault=True\n");
    let written = session.path("written");
    let script = format!("cat > {}", written.display());
    session.spawn(&["foot", "-o", "colors.background=102030", "sh", "-c", &script]);
    session.wait_for_picture("terminal", |picture| picture.count(0x0010_2030) > 100_000);
    spawn_with_bus(&mut session, "fcitx5");
    let heard = |what: &str| session.traffic("fcitx5").contains(what).then_some(());
    session.wait("a grab", || heard("keyboard_grab_v2"));
    type_keys(&session, &["n", "i", "h", "o", "n", "g", "o"]);
    session.wait("the preedit text", || session.traffic("foot").contains("preedit_string(\"にほんご\"").then_some(()));
    // The second press opens the candidate list.
    type_keys(&session, &["space", "space"]);
    session.wait("the list", || heard("text_input_rectangle"));
    // Only the list is white.
    let list = wait_for_list(&session, "list", |picture| picture.count(0x00ff_ffff) > 2_000);
    type_keys(&session, &["Return"]);
    session.wait("the committed text", || session.traffic("foot").contains("commit_string(\"").then_some(()));
    wait_for_list(&session, "no list", |picture| picture.count(0x00ff_ffff) < list.count(0x00ff_ffff) / 2);
    // fcitx5 does not use this key, so it forwards it to the client.
    type_keys(&session, &["Return"]);
    let is_done = |line: &String| line == "にほんご\n" || line == "日本語\n";
    session.wait("the line", || std::fs::read_to_string(&written).ok().filter(is_done));
    session.assert_all_running();
    // When the input method is killed, the terminal gets the keyboard at once.
    session.signal("fcitx5", rustix::process::Signal::KILL);
    type_keys(&session, &["a", "b", "Return"]);
    session.wait("the keyboard", || std::fs::read_to_string(&written).ok().filter(|lines| lines.ends_with("\nab\n")));
    session.assert_all_running();
    session.end();
}

/// A click or key without an effect after this time came too early, and is repeated.
const NEXT_CLICK: Duration = Duration::from_secs(3);

/// Captures the screen until a picture is as expected of fcitx5. Version 5.0 flushes requests that it makes outside of
/// an event handler only with its next event. Without another key, a list that it draws after the last key would never
/// be sent.
#[track_caller]
fn wait_for_list(session: &ThirdPartySession, name: &str, expected: impl Fn(&ScreenPicture) -> bool) -> ScreenPicture {
    let heard = Cell::new(Instant::now());
    session.wait_for_picture(name, |picture| {
        let is_expected = expected(picture);
        if !is_expected && heard.get().elapsed() > NEXT_CLICK {
            // fcitx5 ignores this key, but it is an event.
            type_keys(session, &["Ctrl"]);
            heard.set(Instant::now());
        }
        is_expected
    })
}

/// Composes text in a browser's field, which uses text-input-v3.
fn is_composed_into(name: &'static str, words: impl Fn(&ThirdPartySession, &str) -> Vec<String>) {
    let needed = [(name, name), ("fcitx5", "fcitx5"), ("/usr/share/fcitx5/inputmethod/anthy.conf", "fcitx5-anthy")];
    if !are_there(&needed) {
        return;
    }
    let mut session = ThirdPartySession::start(&format!("{name}-composes"), OUTPUT, None);
    write(&session, "config/fcitx5/profile", PROFILE);
    write(&session, "config/fcitx5/config", "[Behavior]\nActiveByDefault=True\n");
    spawn_with_bus(&mut session, "fcitx5");
    browsers::open(&mut session, &words);
    let clicked = Cell::new(None::<Instant>);
    session.wait("a grab", || {
        // Click again only if the last click was lost, because another click ends the composition.
        if clicked.get().is_none_or(|at| at.elapsed() > NEXT_CLICK) {
            browsers::click(&session, browsers::FIELD);
            clicked.set(Some(Instant::now()));
        }
        session.traffic("fcitx5").contains("keyboard_grab_v2").then_some(())
    });
    // Wait, because a browser leaves its address field before it enters the page's field.
    session.linger();
    type_keys(&session, &["n", "i", "h", "o", "n", "g", "o"]);
    session.wait("the preedit text", || session.traffic(name).contains("preedit_string(\"にほんご\"").then_some(()));
    type_keys(&session, &["Return"]);
    browsers::wait_for(&session, "typed=にほんご ");
    session.assert_all_running();
    session.end();
}

#[test]
fn input_method_composes_into_a_field_of_chromium() {
    is_composed_into("chromium", |session, page| {
        let mut words = browsers::chromium(session, page);
        words.splice(1..1, ["--enable-wayland-ime", "--wayland-text-input-version=3"].map(str::to_owned));
        words
    });
}

#[test]
fn input_method_composes_into_a_field_of_firefox() {
    is_composed_into("firefox-esr", browsers::firefox);
}
