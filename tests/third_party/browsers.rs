//! Chromium and Firefox: typing into a field, choosing from a list, drag and drop. The page writes the results into its
//! title, so the list of windows shows them.

use std::cell::Cell;

use serde_json::Value;

use super::OUTPUT;
use super::session::{ThirdPartySession, installed};

const TYPED: &str = "time";
// Places in the page, which fills the screen.
pub const FIELD: (u32, u32) = (200, 40);
const LIST: (u32, u32) = (100, 120);
const THING: (u32, u32) = (80, 550);
const BASKET: (u32, u32) = (700, 550);
/// Motions of a drag: browsers detect a drag from several motions.
const STEPS: u32 = 8;

const PAGE: &str = r#"<!doctype html><meta charset="utf-8"><title>begin</title>
<style>
  body { margin: 0; background: #eee; } body > * { position: absolute; }
  #field { left: 20px; top: 20px; width: 400px; height: 40px; font-size: 24px; }
  #list { left: 20px; top: 100px; width: 200px; height: 40px; }
  #thing { left: 20px; top: 500px; width: 120px; height: 100px; background: #f80; }
  #basket { left: 600px; top: 450px; width: 200px; height: 200px; background: #8cf; }
</style>
<input id="field"><select id="list"><option>one<option>two<option>three</select>
<div id="thing" draggable="true"></div><div id="basket"></div>
<script>
  const [field, list, thing, basket] = ["field", "list", "thing", "basket"].map(id => document.getElementById(id));
  let dragged = "no", dropped = "";
  const tell = () => {
    document.title = `typed=${field.value} chosen=${list.value} dragged=${dragged} dropped=${dropped} .`;
  };
  field.oninput = list.onchange = tell;
  thing.ondragstart = event => { event.dataTransfer.setData("text/plain", "it"); dragged = "begun"; tell(); };
  basket.ondragover = event => { event.preventDefault(); dragged = "over"; tell(); };
  basket.ondrop = event => { event.preventDefault(); dropped = event.dataTransfer.getData("text/plain"); tell(); };
  tell();
</script>"#;

/// Firefox must not show dialogs in front of the page.
const FIREFOX_SETTINGS: &str = r#"user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
"#;

fn titles(session: &ThirdPartySession) -> Vec<String> {
    let answer: Value = serde_json::from_str(&session.message(&["windows"])).unwrap();
    let windows = answer["windows"].as_array().cloned().unwrap_or_default();
    windows.iter().filter_map(|window| window["title"].as_str().map(str::to_owned)).collect()
}

#[track_caller]
pub fn wait_for(session: &ThirdPartySession, said: &str) {
    session.wait(said, || titles(session).iter().any(|title| title.contains(said)).then_some(()));
}

fn input(session: &ThirdPartySession, words: &[&str]) {
    session.message(&[&["input"], words].concat());
}

fn to(session: &ThirdPartySession, (x, y): (u32, u32)) {
    input(session, &["move", &x.to_string(), &y.to_string()]);
}

/// Clicks without checking the result.
pub fn click(session: &ThirdPartySession, at: (u32, u32)) {
    to(session, at);
    ["press", "release"].iter().for_each(|what| input(session, &["button", "left", what]));
}

/// Drags as a user does: moves on until the page reports the drag's start, and again until it reports the drag over its
/// target.
fn drag(session: &ThirdPartySession, from: (u32, u32), target: (u32, u32)) {
    to(session, from);
    input(session, &["button", "left", "press"]);
    let moves_on = |begin: (u32, u32), end: (u32, u32), until: &str| {
        let step = Cell::new(0);
        session.wait(until, || {
            step.set(step.get() + 1);
            // Move along the way, then back and forth at its end.
            let along = |from: u32, to: u32| from + (to - from) * step.get().min(STEPS) / STEPS;
            to(session, (along(begin.0, end.0) + step.get() % 2, along(begin.1, end.1)));
            titles(session).iter().any(|title| title.contains(until)).then_some(())
        });
    };
    let middle = ((from.0 + target.0) / 2, from.1);
    moves_on(from, middle, "dragged=begun");
    moves_on((middle.0, target.1), target, "dragged=over");
    input(session, &["button", "left", "release"]);
}

/// Opens the page in the browser with the command line from `words`.
pub fn open(session: &mut ThirdPartySession, words: &impl Fn(&ThirdPartySession, &str) -> Vec<String>) {
    let page = session.path("page.html");
    std::fs::write(&page, PAGE).unwrap();
    let home = session.path("home");
    std::fs::create_dir_all(&home).unwrap();
    let words = words(session, &format!("file://{}", page.display()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    session.spawn_in(&words, &[("HOME", home.to_str().unwrap()), ("MOZ_ENABLE_WAYLAND", "1")]);
    wait_for(session, "typed= chosen=one");
    // Wait longer, because the page is loaded before it responds to input.
    session.linger();
}

/// Command line of Chromium.
pub fn chromium(session: &ThirdPartySession, page: &str) -> Vec<String> {
    let folder = format!("--user-data-dir={}", session.path("chromium").display());
    let mut words = vec!["chromium", "--ozone-platform=wayland", "--disable-gpu", "--no-first-run", "--kiosk"];
    words.extend(["--disable-background-networking", "--disable-component-update", "--disable-sync", &folder]);
    words.extend(rustix::process::geteuid().is_root().then_some("--no-sandbox"));
    words.push(page);
    words.into_iter().map(str::to_owned).collect()
}

/// Command line of Firefox; it also writes a profile.
pub fn firefox(session: &ThirdPartySession, page: &str) -> Vec<String> {
    let profile = session.path("firefox");
    std::fs::create_dir_all(&profile).unwrap();
    std::fs::write(profile.join("user.js"), FIREFOX_SETTINGS).unwrap();
    let profile = profile.to_str().unwrap();
    ["firefox-esr", "--no-remote", "--kiosk", "--profile", profile, page].map(str::to_owned).to_vec()
}

fn try_out(name: &str, package: &str, words: impl Fn(&ThirdPartySession, &str) -> Vec<String>) {
    if ![(name, package), ("wtype", "wtype")].iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start(name, OUTPUT, None);
    open(&mut session, &words);
    session.click(FIELD.0, FIELD.1);
    session.type_text(TYPED);
    wait_for(&session, &format!("typed={TYPED} "));
    let closed = session.picture("typed");
    session.click(LIST.0, LIST.1);
    session.wait_for_picture("list", |picture| picture.differs(&closed) > 1_000);
    input(&session, &["key", "down"]);
    input(&session, &["key", "enter"]);
    wait_for(&session, "chosen=two ");
    drag(&session, THING, BASKET);
    wait_for(&session, "dropped=it ");
    session.assert_all_running();
    session.end();
}

#[test]
fn chromium_handles_typing_lists_and_drag_and_drop() {
    try_out("chromium", "chromium", chromium);
}

#[test]
fn firefox_handles_typing_lists_and_drag_and_drop() {
    try_out("firefox-esr", "firefox-esr", firefox);
}
