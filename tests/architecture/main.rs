//! The layering of the code: `docs/design/rooms.md` has the rules, and the imports in `src/` and `crates/` must keep
//! them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod accesses;
mod imports;
mod page;
mod wall_clock;

use std::path::Path;
use std::sync::OnceLock;

use imports::{Sources, circles};
use page::ArchitecturePage;

fn repository() -> (Sources, String) {
    static READ: OnceLock<(Sources, String)> = OnceLock::new();
    let read = READ.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(root.join("docs/design/rooms.md")).unwrap();
        (Sources::read(root), page)
    });
    read.clone()
}

/// Violations of the page's rules, one a line.
fn faults(sources: &Sources, page: &str) -> Vec<String> {
    let page = ArchitecturePage::read(page);
    let mut imports = sources.imports();
    let mut faults: Vec<String> = Vec::new();
    let rooms = sources.rooms();
    faults.extend(
        rooms
            .iter()
            .filter(|room| !page.may_know.contains_key(*room))
            .map(|room| format!("{room} is no room of the page")),
    );
    faults.extend(
        page.may_know.keys().filter(|room| !rooms.contains(*room)).map(|room| format!("there is no room {room}")),
    );
    for (file, needed) in &imports {
        let room = file.split("::").next().unwrap_or_default();
        let others = needed.iter().filter(|other| other.split("::").next() != Some(room));
        faults.extend(others.filter(|other| !page.allows(room, other)).map(|other| format!("{file} imports {other}")));
    }
    for (file, field, other) in sources.accesses() {
        let room = file.split("::").next().unwrap_or_default();
        if !page.allows(room, &other) {
            faults.push(format!("{file} uses `state.{field}`, which belongs to {other}"));
        }
        imports.entry(file).or_default().insert(other);
    }
    let found = circles(&imports, &page.hubs);
    for circle in &found {
        if !page.closed.iter().any(|listed| circle.is_subset(listed)) {
            let edges = circle.iter().map(|file| {
                let next: Vec<_> = imports[file].intersection(circle).map(String::as_str).collect();
                format!("{file} -> {}", next.join(", "))
            });
            faults.push(format!("a circle: {}", edges.collect::<Vec<_>>().join("; ")));
        }
    }
    let opened = page.closed.iter().filter(|listed| !found.iter().any(|circle| circle.is_subset(listed)));
    faults.extend(opened.map(|listed| format!("opened, and still on the page: {listed:?}")));
    faults
}

#[test]
fn imports_and_cycles_match_the_architecture_page() {
    let (sources, page) = repository();
    let faults = faults(&sources, &page);
    assert!(faults.is_empty(), "docs/design/rooms.md does not allow:\n{}", faults.join("\n"));
}

/// Additional violations if `text` is added to `module`.
fn with(module: &str, text: &str) -> Vec<String> {
    static BEFORE: OnceLock<Vec<String>> = OnceLock::new();
    let (mut sources, page) = repository();
    let before = BEFORE.get_or_init(|| faults(&sources, &page));
    sources.add(module, text);
    faults(&sources, &page).into_iter().filter(|fault| !before.contains(fault)).collect()
}

#[test]
fn forbidden_import_is_found_in_every_notation() {
    for text in [
        "use crate::output::schedule_repaint_all;\n",
        "use crate::{output, guard};\n",
        "use crate::{guard::Rules, output::{self as first_floor, capture}};\n",
        "fn draw() { crate::output::schedule_repaint_all(state) }\n",
        "pub(crate) use super::super::output::schedule_repaint_all;\n",
    ] {
        let found = with("render::pixman", text);
        assert!(found.contains(&"render::pixman imports output".to_owned()), "{text}: {found:?}");
    }
}

#[test]
fn forbidden_state_access_is_found_in_every_notation() {
    for text in [
        "fn draw(state: &State) { state.outputs.iter() }\n",
        "fn draw(all: &mut crate::state::State) { all\n    .outputs\n    .iter() }\n",
        "fn draw(world: &World) { world.state.outputs.iter() }\n",
        "fn draw(state: &mut State) { let State { time, outputs: known, .. } = state; }\n",
        "fn draw(State { ref mut outputs, .. }: &mut State) {}\n",
        "impl Draws for State {\n    fn draw(&self) { self.outputs.iter() }\n}\n",
        "impl<T> Draws<T> for State where T: Any {\n    fn draw(&self) { let Self { outputs, .. } = self; }\n}\n",
        "use crate::state::State as All;\nfn draw(all: &All) { (all.outputs) }\n",
    ] {
        let found = with("shell::window_rules", text);
        let fault = "shell::window_rules uses `state.outputs`, which belongs to output".to_owned();
        assert!(found.contains(&fault), "{text}: {found:?}");
    }
}

#[test]
fn allowed_accesses_and_other_fields_are_not_reported() {
    for text in [
        "fn draw(state: &State) { state.surfaces.iter() }\n",
        "fn draw(state: &State) { state.outputs(); state.shell.outputs }\n",
        "impl Draws for State {}\nimpl Shell { fn draw(&self) { self.outputs.iter() } }\n",
        "struct State { outputs: u8 }\nfn draw(all: &State) { all.outputs }\n",
    ] {
        assert_eq!(with("shell::window_rules", text), [""; 0], "{text}");
    }
}

#[test]
fn re_exports_are_followed_to_their_origin() {
    let found = with("real_time::class", "use crate::shell::ClosingWindow;\n");
    assert_eq!(found, ["real_time::class imports shell::animation::closing_window"]);
    let found = with("scene::pointer", "use upbeat_client::FrontBuffer;\n");
    assert_eq!(found, ["scene::pointer imports upbeat_client::front_buffer"]);
    let found =
        with("scene::pointer", "fn at() -> upbeat_timing::time::Instant { upbeat_timing::time::Instant::ZERO }\n");
    assert_eq!(found, ["scene::pointer imports upbeat_timing::time"]);
}

#[test]
fn comments_strings_and_tests_are_no_imports() {
    let text = "// use crate::output;\nconst A: &str = \"\\\"crate::output::x\"; const B: char = '\"';\n\
                #[cfg(test)]\nmod tests { use crate::output; }\n";
    assert_eq!(with("upbeat_timing::beam", text), [""; 0]);
}

#[test]
fn new_import_cycle_is_found_even_within_a_room() {
    let found = with("upbeat_timing::target", "use super::vsync::VsyncModel;\n");
    assert!(
        found.iter().any(|fault| fault.starts_with("a circle:") && fault.contains("upbeat_timing::target")),
        "{found:?}"
    );
}

#[test]
fn room_missing_from_the_page_is_found() {
    assert_eq!(with("cellar::wine", ""), ["cellar is no room of the page"]);
}
