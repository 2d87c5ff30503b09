//! Compares the output of `wayland-info` with a file for each backend, so that a global that appears, vanishes or
//! changes its version is noticed. `UPDATE_EXPECT=1 cargo test --test third_party globals` rewrites the files: one
//! global a line, sorted.

use std::path::Path;

use super::OUTPUT;
use super::session::{ParentCompositor, ThirdPartySession, installed};

/// A CPU renderer, because a GPU adds globals that do not belong to the backend.
const RENDERER: &str = "pixman";

/// "interface version" of each global, sorted.
fn listed(text: &str) -> String {
    let mut globals: Vec<String> = text.lines().filter_map(global).collect();
    globals.sort();
    globals.join("\n") + "\n"
}

/// Parses a line like `interface: 'wl_shm',  version:  1, name:  3`.
fn global(line: &str) -> Option<String> {
    let (name, rest) = line.strip_prefix("interface: '")?.split_once('\'')?;
    let version = rest.split_once("version:")?.1.split(',').next()?.trim();
    Some(format!("{name} {version}"))
}

#[track_caller]
fn compare(session: ThirdPartySession, backend: &str) {
    let found = listed(&session.run(&["wayland-info"]));
    session.end();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/third_party/globals").join(backend);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let missing: Vec<&str> = expected.lines().filter(|line| !found.lines().any(|other| other == *line)).collect();
    let more: Vec<&str> = found.lines().filter(|line| !expected.lines().any(|other| other == *line)).collect();
    assert!(missing.is_empty() && more.is_empty(), "{backend}: missing {missing:?}, not listed {more:?}");
    assert_eq!(found, expected, "{backend}: sorted, each once");
}

#[test]
fn headless() {
    if installed("wayland-info", "wayland-utils") {
        compare(ThirdPartySession::start("globals-headless", OUTPUT, Some(RENDERER)), "headless");
    }
}

#[test]
fn nested() {
    if installed("wayland-info", "wayland-utils") {
        compare(start_in(ParentCompositor::Upbeat, "globals-nested"), "nested");
    }
}

#[test]
fn x11() {
    if installed("wayland-info", "wayland-utils") && installed("Xvfb", "xvfb") {
        compare(start_in(ParentCompositor::Xvfb, "globals-x11"), "x11");
    }
}

fn start_in(parent: ParentCompositor, name: &str) -> ThirdPartySession {
    ThirdPartySession::start_in_with(parent, name, OUTPUT, &["--renderer", RENDERER])
}
