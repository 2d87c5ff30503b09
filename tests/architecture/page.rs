//! Parses the rules for rooms and import cycles in `docs/design/rooms.md`.

use std::collections::{BTreeMap, BTreeSet};

/// Marks a `mod.rs` without the other files of its folder.
const ALONE: &str = "=";

#[derive(Debug, Default)]
pub struct ArchitecturePage {
    /// The allowed imports of each room and crate: rooms, crates, or parts of them (`shell::workspaces`).
    pub may_know: BTreeMap<String, BTreeSet<String>>,
    /// Files in cycles that a library's design forces.
    pub hubs: BTreeSet<String>,
    /// Known cycles that are not resolved yet.
    pub closed: Vec<BTreeSet<String>>,
}

impl ArchitecturePage {
    /// Parses the tables under `## Crates`, `## Rooms` and `## Circles`.
    pub fn read(text: &str) -> Self {
        let mut page = ArchitecturePage::default();
        for cells in table(text, "## Crates").into_iter().chain(table(text, "## Rooms")) {
            let known: BTreeSet<_> = code(cells[cells.len() - 1]).map(part).collect();
            for room in code(cells[0]).map(module) {
                page.may_know.entry(room).or_default().extend(known.clone());
            }
        }
        for cells in table(text, "## Circles") {
            let files: BTreeSet<_> = code(cells[0]).map(module).collect();
            if files.len() == 1 { page.hubs.extend(files) } else { page.closed.push(files) }
        }
        page
    }

    /// Whether the files of `room` may import `file`.
    pub fn allows(&self, room: &str, file: &str) -> bool {
        let within = |known: &String| match known.strip_prefix(ALONE) {
            Some(known) => file == known,
            None => file.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")),
        };
        self.may_know.get(room).is_some_and(|known| known.iter().any(within))
    }
}

/// The rows of the first table below `heading`, without the header row.
fn table<'a>(text: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let below = text.split_once(&format!("{heading}\n")).expect(heading).1;
    let rows = below.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The texts in backticks.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Module path of a room or of a part of it; a `mod.rs` stands for that file only.
fn part(path: &str) -> String {
    if path.ends_with("/mod.rs") { format!("{ALONE}{}", module(path)) } else { module(path) }
}

/// The module path of `output/`, `state.rs`, `shell/workspaces` or `upbeat-timing/beam.rs`.
fn module(path: &str) -> String {
    path.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches('/').replace('/', "::").replace('-', "_")
}
