//! Checks of the book (`docs/`): every page is in its summary, every link has a target, every excerpt matches its file,
//! and the protocol pages match their XML. If mdBook is installed, the book is built.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod page;
mod protocol;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use page::MarkdownPage;

const BOOK: &str = "docs";
const SUMMARY: &str = "docs/SUMMARY.md";
/// Top-level folders; a path in backticks that starts with one of them must exist.
const FOLDERS: [&str; 9] =
    ["src/", "crates/", "tests/", "examples/", "docs/", "protocols/", "config/", "benches/", CRATE];
/// Prefix of our crates' names: pages name their files without `crates/` and `src/`.
const CRATE: &str = "upbeat-";
/// Folders that are made by a build.
const NOT_IN_THE_REPOSITORY: [&str; 1] = ["target/"];
/// Languages that a code block may have.
const LANGUAGES: [&str; 10] = ["sh", "text", "c", "python", "rust", "toml", "json", "diff", "ini", "sql"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Markdown files below `folder`, as paths in the repository.
fn markdown_below(folder: &str, into: &mut Vec<String>) {
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        // Skip caches.
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            markdown_below(&path, into);
        } else if path.ends_with(".md") {
            into.push(path);
        }
    }
}

/// The pages of the book, the README and the Markdown files beside the tests.
fn pages() -> BTreeMap<String, MarkdownPage> {
    let mut paths = vec!["README.md".to_owned()];
    for folder in [BOOK, "tests", "examples"] {
        markdown_below(folder, &mut paths);
    }
    let read = |path: String| {
        let page = MarkdownPage::read(&std::fs::read_to_string(root().join(&path)).unwrap());
        (path, page)
    };
    paths.into_iter().map(read).collect()
}

/// Normalises `docs/clients/../FIGURES.md` to `docs/FIGURES.md`; `None` if the path leaves the repository.
fn straight(path: &Path) -> Option<String> {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => straight.pop().then_some(())?,
            Component::Normal(name) => straight.push(name),
            _ => {}
        }
    }
    Some(straight.to_string_lossy().into_owned())
}

/// Errors in the links of the page at `path`.
fn dead_links(path: &str, page: &MarkdownPage, pages: &BTreeMap<String, MarkdownPage>) -> Vec<String> {
    let mut dead = Vec::new();
    for link in &page.links {
        let mut say = |what: &str| dead.push(format!("{path}:{}: {}: {what}", link.line, link.target));
        if link.target.starts_with("https://") {
            continue;
        }
        let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
        let target = if file.is_empty() {
            Some(path.to_owned())
        } else {
            straight(&Path::new(path).parent().unwrap_or(Path::new("")).join(file))
        };
        let Some(target) = target else {
            say("leads out of the repository");
            continue;
        };
        if !root().join(&target).exists() {
            say("there is no such file");
        } else if is_in_book(path) && !is_in_book(&target) {
            say("is not in the book: name it in backticks instead");
        } else if !anchor.is_empty() && !pages.get(&target).is_some_and(|page| page.anchors.contains(anchor)) {
            say("there is no such heading");
        }
    }
    dead
}

fn is_in_book(path: &str) -> bool {
    path.starts_with("docs/")
}

/// The folders of the compositor whose files are named without the folders above them: `output/loop_turn.rs`,
/// `drm/presenter_mirror`.
const NAMED_FROM: [&str; 3] = ["", "src", "src/backend"];

/// Whether `name` is written as the path of a file of the repository. In the book every path of lower-case letters is
/// one, so that a page that names a module by the path that it had once is found.
fn is_path(path: &str, name: &str) -> bool {
    let has_letters =
        |allowed: fn(&char) -> bool| name.chars().all(|letter| allowed(&letter) || "/._-".contains(letter));
    let in_folder = FOLDERS.iter().any(|folder| name.starts_with(folder) && name != *folder);
    let is_in_lower_case = has_letters(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    let of_a_module =
        is_in_book(path) && is_in_lower_case && name.starts_with(|first: char| first.is_ascii_lowercase());
    name.contains('/')
        && has_letters(char::is_ascii_alphanumeric)
        && (in_folder || of_a_module)
        && !NOT_IN_THE_REPOSITORY.iter().any(|folder| name.starts_with(folder))
}

/// Whether there is a file or a folder of this name.
fn is_there(name: &str) -> bool {
    let below = |folder: &str, name: &str| {
        let path = root().join(folder).join(name);
        path.exists() || path.with_extension("rs").exists()
    };
    let in_crate = |name: &str| {
        let (name, file) = name.split_once('/')?;
        Some(below(&format!("crates/{name}/src"), file))
    };
    NAMED_FROM.iter().any(|folder| below(folder, name)) || in_crate(name).unwrap_or(false)
}

/// The words of the drawings of a page that begin with a room of the compositor, and their lines.
fn rooms_in_drawings(page: &MarkdownPage) -> Vec<(usize, String)> {
    let drawings = page.code.iter().filter(|code| code.language.as_deref() == Some("text"));
    let lines =
        drawings.flat_map(|code| code.text.lines().enumerate().map(|(number, line)| (code.line + 1 + number, line)));
    let words = lines.flat_map(|(number, line)| {
        line.split(|letter: char| !(letter.is_ascii_alphanumeric() || "/._-".contains(letter)))
            .map(move |word| (number, word))
    });
    let of_a_room = words.filter(|(_, word)| {
        word.split_once('/')
            .is_some_and(|(room, rest)| !rest.is_empty() && !room.is_empty() && root().join("src").join(room).is_dir())
    });
    of_a_room.map(|(number, word)| (number, word.trim_end_matches('.').to_owned())).collect()
}

/// Files of the repository that a page names in backticks or in a drawing, and that are not there.
fn missing_files(path: &str, page: &MarkdownPage) -> Vec<String> {
    let in_text =
        page.names.iter().filter_map(|(line, name)| Some((*line, name.split_whitespace().next()?.to_owned())));
    let named = in_text.filter(|(_, name)| is_path(path, name)).chain(rooms_in_drawings(page));
    let missing = named.filter(|(_, name)| !is_there(name));
    missing.map(|(line, name)| format!("{path}:{line}: {name}: there is no such file")).collect()
}

#[test]
fn every_link_has_a_target() {
    let pages = pages();
    let dead: Vec<_> = pages.iter().flat_map(|(path, page)| dead_links(path, page, &pages)).collect();
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

/// Names that a page places in a file (`` `Conductor::poll_action` in `conductor.rs` ``) and that the file does not contain.
fn misplaced_names(path: &str, text: &str) -> Vec<String> {
    let mut misplaced = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let parts: Vec<_> = line.split('`').collect();
        let pairs = (1..parts.len()).step_by(2).filter(|&at| parts.get(at + 1) == Some(&" in "));
        for (name, file) in pairs.filter_map(|at| Some((parts[at], *parts.get(at + 2)?))) {
            let name = name.rsplit("::").next().unwrap_or(name);
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let Ok(code) = std::fs::read_to_string(root().join(file)) else { continue };
            if file.ends_with(".rs") && !code.split(|letter| !is_word(letter)).any(|word| word == name) {
                misplaced.push(format!("{path}:{}: {name} is not in {file}", number + 1));
            }
        }
    }
    misplaced
}

#[test]
fn names_are_in_the_files_that_pages_say() {
    let text = |path: &String| std::fs::read_to_string(root().join(path)).unwrap();
    let misplaced: Vec<_> = pages().keys().flat_map(|path| misplaced_names(path, &text(path))).collect();
    assert!(misplaced.is_empty(), "{}", misplaced.join("\n"));
    let page = "`missing_files` in `tests/book/page.rs`, `Page::read` in `tests/book/page.rs`";
    assert_eq!(misplaced_names("x.md", page), ["x.md:1: missing_files is not in tests/book/page.rs"]);
}

#[test]
fn every_named_file_exists() {
    let missing: Vec<_> = pages().iter().flat_map(|(path, page)| missing_files(path, page)).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_page_has_a_title_and_is_in_the_summary_once() {
    let pages = pages();
    let summary = &pages[SUMMARY];
    let listed: Vec<_> = summary.links.iter().map(|link| format!("{BOOK}/{}", link.target)).collect();
    let once: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), once.len(), "a page is in the summary twice");
    let there: BTreeSet<_> = pages.keys().filter(|path| is_in_book(path) && *path != SUMMARY).cloned().collect();
    assert_eq!(there, once, "pages on disk and pages of the summary");
    let untitled: Vec<_> = there.iter().filter(|path| pages[*path].title.is_empty()).collect();
    assert!(untitled.is_empty(), "pages without a title: {untitled:?}");
}

#[test]
fn code_blocks_name_known_languages_and_excerpts_match_their_files() {
    let mut wrong = Vec::new();
    for (path, page) in &pages() {
        for code in &page.code {
            let at = format!("{path}:{}", code.line);
            match code.language.as_deref() {
                Some(language) if !LANGUAGES.contains(&language) => wrong.push(format!("{at}: language {language:?}")),
                _ => {}
            }
            let Some(from) = &code.from else { continue };
            match std::fs::read_to_string(root().join(from)) {
                Ok(file) if file.contains(&code.text) => {}
                Ok(_) => wrong.push(format!("{at}: this excerpt is not in {from}")),
                Err(error) => wrong.push(format!("{at}: {from}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn protocol_pages_match_their_xml() {
    let mut made = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("protocols")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".xml") else { continue };
        let xml = std::fs::read_to_string(root().join("protocols").join(&name)).unwrap();
        let page = root().join("docs/protocols").join(format!("{stem}.md"));
        expect_test::expect_file![page].assert_eq(&protocol::page(&xml, &format!("protocols/{name}")));
        made.insert(format!("{stem}.md"));
    }
    let there = std::fs::read_dir(root().join("docs/protocols")).unwrap();
    let there: BTreeSet<_> = there.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(there, made, "protocol pages on disk and protocols with XML");
}

#[test]
fn dead_links_and_missing_files_are_found() {
    let pages = pages();
    let text = "# A\n[a](nowhere.md) [b](FIGURES.md#nowhere) [c](../src/main.rs) [d](../../x) [e](FIGURES.md)\n\
                `src/nowhere.rs` `src/main.rs` `upbeat-timing/frames` `src/a and b` `timing/pre_executor.rs` `A/b`\n\
                ```text\n output/loop_turn.rs ─► output/nowhere: guard/\n```\n";
    let page = MarkdownPage::read(text);
    let said = [
        "docs/x.md:2: nowhere.md: there is no such file",
        "docs/x.md:2: FIGURES.md#nowhere: there is no such heading",
        "docs/x.md:2: ../src/main.rs: is not in the book: name it in backticks instead",
        "docs/x.md:2: ../../x: leads out of the repository",
    ];
    let mut with = pages;
    with.insert("docs/x.md".to_owned(), MarkdownPage::read(text));
    assert_eq!(dead_links("docs/x.md", &page, &with), said);
    let missing = [
        "docs/x.md:3: src/nowhere.rs: there is no such file",
        "docs/x.md:3: src/a: there is no such file",
        "docs/x.md:3: timing/pre_executor.rs: there is no such file",
        "docs/x.md:5: output/nowhere: there is no such file",
    ];
    assert_eq!(missing_files("docs/x.md", &page), missing);
}

/// If mdBook is installed (`./up test` fetches it), its HTML has every page, and every heading that a link names.
#[test]
fn mdbook_builds_the_book() {
    let fetched = root().join("target/mdbook/bin/mdbook");
    let program = if fetched.exists() { fetched } else { PathBuf::from("mdbook") };
    let directory = tempfile::tempdir().unwrap();
    let built =
        Command::new(program).arg("build").arg("--dest-dir").arg(directory.path()).arg(root().join(BOOK)).output();
    let Ok(built) = built else {
        eprintln!("skipped: mdbook is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && !said.contains("WARN") && !said.contains("ERROR"), "{said}");
    for (path, page) in pages().iter().filter(|(path, _)| is_in_book(path) && *path != SUMMARY) {
        let name = path.strip_prefix("docs/").unwrap().replace("README.md", "index.md").replace(".md", ".html");
        let html =
            std::fs::read_to_string(directory.path().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        for anchor in &page.anchors {
            assert!(html.contains(&format!("id=\"{anchor}\"")), "{name} has no heading {anchor}");
        }
    }
}
