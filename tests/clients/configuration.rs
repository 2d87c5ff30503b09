//! The configuration file is read again when it is saved, and errors in it are shown on the screen. The tests run in
//! virtual time, which stands still while another thread reads the file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tempfile::TempDir;
use upbeat::session::reload;
use upbeat_timing::time::Span;

use crate::fixture::TestWorld;
use crate::fixture::content::RED;
use crate::fixture::simulated::nothing;
use crate::fixture::worlds::SMALL;
use crate::fixture::{KEY_1, KEY_2, KEY_ENTER, KEY_LEFT_SUPER};

/// A saved change must be seen within this time.
const SOON: Span = Span::from_seconds(1);
/// A configuration with an opening animation of 10 s.
const SLOWLY: &str = "[animations.open]\nstyle = \"easing\"\nduration = 10000\ncurve = \"linear\"\n";

/// A session configured by a file with this text; the folder and the path of the file.
fn configured(text: &str) -> (TestWorld, TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, text).unwrap();
    let mut world = TestWorld::simulated(&[60_000]);
    let handle = world.state.loop_handle.clone();
    reload::start(&handle, &mut world.state, Some(path.clone()), None).unwrap();
    (world, folder, path)
}

/// Runs turns until `done`, in real time for the thread that reads the file; virtual time stands still.
#[track_caller]
fn run_until_reloaded(world: &mut TestWorld, what: &str, done: impl Fn(&TestWorld) -> bool) {
    let started = std::time::Instant::now();
    while !done(world) {
        assert!(started.elapsed().as_secs() < 60, "{what}: did not happen");
        world.turn();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn mistake(world: &TestWorld) -> Option<String> {
    let notices = world.state.shell.overlays().notices();
    notices.config_error().filter(|_| notices.shown.is_on()).map(str::to_owned)
}

#[track_caller]
fn is_wrong(world: &mut TestWorld, what: &str, words: &str) {
    run_until_reloaded(world, what, |world| mistake(world).is_some_and(|mistake| mistake.contains(words)));
}

#[track_caller]
fn is_right(world: &mut TestWorld, what: &str) {
    run_until_reloaded(world, what, |world| mistake(world).is_none());
}

/// A pixel of the screen where notices are shown.
fn at_the_top(world: &TestWorld) -> u32 {
    world.pixel(SMALL.0 / 2, 30)
}

#[test]
fn saved_typo_is_shown_within_a_second_without_a_late_frame() {
    let (mut world, _folder, path) = configured(SLOWLY);
    world.open_filled("all of it", SMALL, RED);
    world.run_for(SOON, &mut nothing);
    let (moving, frames) = (at_the_top(&world), world.output(0).statistics().cadence.frames.total());
    assert!(frames > 30, "the window moves: {frames}");
    fs::write(&path, format!("{SLOWLY}pacng = \"auto\"")).unwrap();
    is_wrong(&mut world, "a typo", "config.toml:5:1: [animations.open] pacng: no such option");
    world.run_for(SOON, &mut nothing);
    let wrong = at_the_top(&world);
    assert_ne!(wrong, moving);
    fs::write(&path, SLOWLY).unwrap();
    is_right(&mut world, "the next save");
    world.run_for(SOON, &mut nothing);
    assert_ne!(at_the_top(&world), wrong);
    let statistics = world.output(0).statistics();
    assert_eq!(statistics.cadence.drops.total(), 0, "{statistics:?}");
    assert_eq!(world.output(0).records().iter().filter_map(|record| record.miss).next(), None);
    let frames = statistics.cadence.frames.total() - frames;
    assert!(frames >= 118, "a frame for nearly each refresh of two seconds: {frames}");
}

#[test]
fn reload_follows_renames_symlinks_includes_and_removed_files() {
    let (mut world, folder, path) = configured("");
    let here = |name: &str| folder.path().join(name);
    let put = |name: &str, text: &str| fs::write(here(name), text).unwrap();
    put("new", "wrong = 1");
    fs::rename(here("new"), &path).unwrap();
    is_wrong(&mut world, "renamed", "wrong");
    fs::remove_file(&path).unwrap();
    is_wrong(&mut world, "the file named by the user is gone", "No such file");
    put("elsewhere", "planes = true");
    symlink("elsewhere", &path).unwrap();
    is_right(&mut world, "a link");
    put("elsewhere", "planes = maybe");
    is_wrong(&mut world, "the target of the link", "planes");
    put("other", "include = [\"parts/colours.toml\"]");
    symlink("other", here("link")).unwrap();
    fs::rename(here("link"), &path).unwrap();
    is_wrong(&mut world, "another link, to a file with a missing include", "parts/colours.toml");
    fs::create_dir(here("parts")).unwrap();
    put("parts/colours.toml", "background = \"#123456\"");
    is_right(&mut world, "the included file appeared");
    assert_eq!(world.state.session.config().background.to_string(), "#123456");
    put("parts/colours.toml", "background = \"#12345\"");
    is_wrong(&mut world, "the included file has an error", "colours.toml:1:14");
    fs::rename(here("parts"), here("sold")).unwrap();
    is_wrong(&mut world, "its folder is gone", "No such file");
    fs::rename(here("sold"), here("parts")).unwrap();
    is_wrong(&mut world, "its folder is back", "colours.toml:1:14");
    put("parts/colours.toml", "background = \"#654321\"");
    is_right(&mut world, "mended");
}

#[test]
fn session_with_an_invalid_file_starts_on_defaults_and_shows_the_error() {
    for wrong in ["pacng = \"auto\"", "background = 3", "[keyboard]\nlayout = \"nowhere\"\n"] {
        let (mut world, _folder, path) = configured(wrong);
        let word = wrong.rsplit(['[', '=']).next().unwrap_or_default().trim_matches([' ', '"', '\n']).to_owned();
        assert!(mistake(&world).is_some_and(|mistake| mistake.contains("config.toml:1:") || mistake.contains(&word)));
        world.run_for(SOON, &mut nothing);
        let seen = at_the_top(&world);
        fs::write(&path, "background = \"#123456\"").unwrap();
        is_right(&mut world, "mended");
        world.run_for(SOON, &mut nothing);
        assert_ne!(at_the_top(&world), seen, "{wrong}");
        assert_eq!(world.state.session.config().background.to_string(), "#123456");
    }
}

#[test]
fn configuration_error_at_the_start_is_shown_on_the_first_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, "pacng = 1").unwrap();
    let mut world = TestWorld::simulated(&[60_000]);
    world.unplug("TEST-1");
    let handle = world.state.loop_handle.clone();
    reload::start(&handle, &mut world.state, Some(path), None).unwrap();
    world.turn();
    world.plug_in("TEST-1", 60_000);
    world.run_for(SOON, &mut nothing);
    let background = world.pixel(1, SMALL.1 - 1);
    assert_ne!(at_the_top(&world), background);
}

#[test]
fn default_shortcut_yields_to_a_configured_symbol_on_the_same_keys() {
    let lists = |layout: &str, chord: &str| {
        let keys = "[keys]\n\"Mod+quotedbl\" = \"overview\"";
        let (world, ..) = configured(&format!("[keyboard]\nlayout = \"{layout}\"\n{keys}"));
        world.state.bindings.effective().any(|(listed, _)| listed.to_string() == chord)
    };
    assert!(lists("us", "Mod+Shift+2") && lists("us", "Mod+quotedbl"));
    assert!(!lists("de", "Mod+Shift+2") && lists("de", "Mod+quotedbl"));
}

/// Heading and text of each notice about a program that could not be started.
fn failures(world: &TestWorld) -> Vec<(String, String)> {
    let notices = world.state.shell.overlays().notices();
    let said = notices.messages().filter(|_| notices.shown.is_on());
    said.map(|failure| (failure.heading.clone(), failure.text.clone())).collect()
}

#[test]
fn missing_terminal_is_shown_for_a_while_or_until_a_terminal_starts() {
    let (mut world, _folder, path) = configured("terminal = \"no-such-terminal -e top\"");
    world.open_filled("all of it", SMALL, RED);
    world.run_for(SOON, &mut nothing);
    assert_eq!(at_the_top(&world), RED);
    let said =
        || vec![("no-such-terminal is not installed".to_owned(), format!("Set `terminal` in {}", path.display()))];
    world.chord(&[KEY_LEFT_SUPER], KEY_ENTER);
    assert_eq!(failures(&world), said());
    world.run_for(SOON, &mut nothing);
    assert_ne!(at_the_top(&world), RED);
    world.run_for(Span::from_seconds(9), &mut nothing);
    assert_eq!((failures(&world), at_the_top(&world)), (vec![], RED), "after a while");

    world.chord(&[KEY_LEFT_SUPER], KEY_ENTER);
    assert_eq!(failures(&world), said());
    fs::write(&path, "terminal = [\"true\", \"with a blank\"]").unwrap();
    run_until_reloaded(&mut world, "the corrected file", |world| {
        world.state.session.config().terminal.0.program() == "true"
    });
    world.chord(&[KEY_LEFT_SUPER], KEY_ENTER);
    assert_eq!(failures(&world), [], "the terminal is installed now");
    world.run_for(SOON, &mut nothing);
    assert_eq!(at_the_top(&world), RED);
}

#[test]
fn program_not_found_by_the_shell_is_shown_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    let keys = format!("[keys]\n\"Mod+Return\" = \"sh test -e {} || no-such-program --now\"", there.display());
    let (mut world, _folder, _path) = configured(&keys);
    world.chord(&[KEY_LEFT_SUPER], KEY_ENTER);
    run_until_reloaded(&mut world, "the error of the shell", |world| !failures(world).is_empty());
    let said = failures(&world).remove(0);
    assert_eq!(said.0, "no-such-program is not installed");
    assert!(said.1.starts_with("Wanted by a shortcut: test -e"), "{}", said.1);
    fs::write(there, "").unwrap();
    world.chord(&[KEY_LEFT_SUPER], KEY_ENTER);
    run_until_reloaded(&mut world, "the program that was found", |world| failures(world).is_empty());
}

#[test]
fn workspace_indicator_is_on_by_default_and_follows_a_reload() {
    let (mut world, _folder, path) = configured("");
    world.run_for(SOON, &mut nothing);
    let is_shown_after = |world: &mut TestWorld, key| {
        world.chord(&[KEY_LEFT_SUPER], key);
        world.run_for(Span::from_millis(500), &mut nothing);
        let (shell, now) = (&world.state.shell, world.now());
        shell.workspaces().screens().any(|(screen, _)| shell.overlays().indicators().opacity(screen, now).is_some())
    };
    assert!(is_shown_after(&mut world, KEY_2));
    fs::write(&path, "workspace-indicator = 3\n").unwrap();
    is_wrong(&mut world, "an error", "workspace-indicator");
    assert!(is_shown_after(&mut world, KEY_1), "the previous setting stays");
    fs::write(&path, "workspace-indicator = false\n").unwrap();
    is_right(&mut world, "no error");
    assert!(!is_shown_after(&mut world, KEY_2));
}
