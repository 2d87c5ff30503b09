//! Configurations that include other files: `include = ["colours.toml"]`.
//!
//! ```text
//!   colours.toml ──┐
//!   keys.toml ─────┼─► one after the other, as if they stood above the file's own text
//!   config.toml ───┘   (options: the later one counts · rules and autostart: added · shortcuts: by their keys)
//! ```
//!
//! Each file is first parsed by itself, so that its errors are reported with its own name and line.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::error::{LARGEST, LocatedError};
use super::parsing::parse;
use super::{Config, ConfigError};
use crate::bindings::{Chord, Modifier};
use upbeat_record::files;

/// More files than this are a mistake: each is opened, and watched from then on.
const MOST_FILES: usize = 32;
/// How deep files may include each other.
const DEEPEST: usize = 8;

/// Arrays that are added up, besides arrays of tables. A later file replaces any other array.
const ADDED: [&str; 1] = ["autostart"];
/// The table whose names are chords, which can be written in more than one way.
const KEYS: &str = "keys";

/// The one option that is read before all others.
#[derive(Deserialize)]
struct Includes {
    #[serde(default)]
    include: Vec<Spanned<String>>,
}

/// Reads the configuration at `path` and its included files. `reads` is called with each file before it is opened.
pub(super) fn read(path: &Path, reads: &mut dyn FnMut(&Path)) -> Result<Config, ConfigError> {
    let mut reading = IncludeReader { reads, left: LARGEST, files: 0, open: Vec::new() };
    let text = reading.text(path)?;
    let config = parse(path, &text)?;
    if config.include.is_empty() {
        config.check_workspaces(path, &text)?;
        return Ok(config);
    }
    let mut all = Table::new();
    reading.collect(path, &text, &mut all)?;
    let together = |message: String| ConfigError::Together { path: path.to_owned(), message };
    let config = Config::deserialize(Value::Table(all)).map_err(|error| together(error.message().to_owned()))?;
    if let Some((most, name)) = config.exceeded_limit() {
        return Err(together(format!("more than {most} {name}, with those of the files that it includes")));
    }
    config.unknown_workspace().map_or(Ok(config), |unknown| Err(together(unknown.to_string())))
}

struct IncludeReader<'a> {
    reads: &'a mut dyn FnMut(&Path),
    /// Bytes that may still be read.
    left: u64,
    files: usize,
    /// Files that are being read, each included by the one before it, as canonical paths.
    open: Vec<PathBuf>,
}

impl IncludeReader<'_> {
    fn text(&mut self, path: &Path) -> Result<String, ConfigError> {
        (self.reads)(path);
        self.files += 1;
        let bytes =
            files::read(path, self.left).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let length = bytes.len() as u64;
        self.left = self.left.checked_sub(length).ok_or_else(|| ConfigError::TooLarge { path: path.to_owned() })?;
        String::from_utf8(bytes).map_err(|error| {
            let (valid, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
            let line = bytes[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            ConfigError::NotText { path: path.to_owned(), line }
        })
    }

    /// Adds the included files and then the options of the file at `path`, whose `text` is valid by itself.
    fn collect(&mut self, path: &Path, text: &str, all: &mut Table) -> Result<(), ConfigError> {
        self.open.push(canonical(path));
        let wrong = |error: toml::de::Error| ConfigError::from(LocatedError::new(path, text, &error));
        for included in toml::from_str::<Includes>(text).map_err(wrong)?.include {
            self.include(path, text, &included, all)?;
        }
        let mut own: Table = toml::from_str(text).map_err(wrong)?;
        own.remove("include");
        merge(all, own, true);
        self.open.pop();
        Ok(())
    }

    fn include(
        &mut self,
        path: &Path,
        text: &str,
        included: &Spanned<String>,
        all: &mut Table,
    ) -> Result<(), ConfigError> {
        let name = included.get_ref();
        let here = |message: String| ConfigError::from(LocatedError::at(path, text, included.span(), message));
        let file = path.parent().unwrap_or(Path::new("")).join(name);
        if self.open.contains(&canonical(&file)) {
            return Err(here(format!("{name} would include itself")));
        }
        if self.open.len() > DEEPEST {
            return Err(here(format!("files that include each other more than {DEEPEST} deep")));
        }
        if self.files >= MOST_FILES {
            return Err(here(format!("more than {MOST_FILES} files")));
        }
        let inner = self.text(&file).map_err(|error| match error {
            // The error of a file that cannot be read belongs to the line that includes it.
            ConfigError::Read { source, .. } => here(format!("{name}: {source}")),
            other => other,
        })?;
        parse(&file, &inner)?;
        self.collect(&file, &inner, all)
    }
}

/// The canonical path, which is the same for every name of a file.
fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Adds the options of a later file to those before it.
fn merge(all: &mut Table, later: Table, is_top: bool) {
    for (name, value) in later {
        match (all.get_mut(&name), value) {
            (Some(Value::Table(before)), Value::Table(chords)) if is_top && name == KEYS => merge_keys(before, chords),
            (Some(Value::Table(before)), Value::Table(value)) => merge(before, value, false),
            (Some(Value::Array(before)), Value::Array(value))
                if is_top && (ADDED.contains(&name.as_str()) || value.iter().all(Value::is_table)) =>
            {
                before.extend(value);
            }
            (_, value) => _ = all.insert(name, value),
        }
    }
}

/// Adds shortcuts; a chord replaces the same chord in another spelling.
fn merge_keys(before: &mut Table, later: Table) {
    for (name, value) in later {
        let chord = |name: &str| name.parse::<Chord>().ok().map(|chord| chord.resolve_mod(Modifier::Super));
        let own = chord(&name);
        let is_same = |other: &str| other == name || own.is_some() && chord(other) == own;
        let same: Vec<String> = before.keys().filter(|other| is_same(other)).cloned().collect();
        same.iter().for_each(|other| _ = before.remove(other));
        before.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fs;

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn load(folder: &tempfile::TempDir) -> Result<Config, String> {
        let path = folder.path().join("config.toml");
        // The error without the name of the folder.
        let plain = |error: ConfigError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
        read(&path, &mut |_| {}).map_err(plain)
    }

    #[test]
    fn included_files_count_as_if_above_the_file() {
        let folder = folder(&[
            (
                "config.toml",
                "include = [\"more/looks.toml\"]\nplanes = false\n[keys]\n\"Mod+Return\" = \"none\"\n[[app]]\napp-id = \"b\"",
            ),
            (
                "more/looks.toml",
                "include = [\"deep.toml\"]\nbackground = \"#000001\"\nplanes = true\nautostart = [\"two\"]\n[[app]]\napp-id = \"a\"",
            ),
            (
                "more/deep.toml",
                "background = \"#000002\"\nterminal = \"deep\"\nautostart = [\"one\"]\n[keys]\n\"mod+return\" = \"help\"",
            ),
        ]);
        let config = load(&folder).unwrap();
        assert_eq!((config.planes, config.background.blue, config.terminal.0.program()), (false, 1, "deep"));
        let apps: Vec<_> = config.apps.iter().map(|rule| String::from(rule.app_id.clone())).collect();
        assert_eq!(apps, ["a", "b"]);
        assert_eq!(config.autostart.lines().collect::<Vec<_>>(), ["one", "two"]);
        let chord = "Mod+Return".parse().unwrap();
        assert_eq!(config.keys.0.get(&chord), Some(&crate::bindings::ShortcutAction::None.into()));
        assert_eq!(config.include, [""; 0]);
    }

    #[test]
    fn shortcuts_replace_included_shortcuts_in_any_spelling() {
        let folder = folder(&[
            ("config.toml", "include = [\"keys.toml\"]\n[keys]\n\"Mod+Alt+L\" = \"help\""),
            ("keys.toml", "[keys]\n\"super+alt+l\" = \"overview\""),
        ]);
        let keys = load(&folder).unwrap().keys.0;
        assert_eq!(keys.get(&"Mod+Alt+L".parse().unwrap()), Some(&crate::bindings::ShortcutAction::Help.into()));
        let lock = "Super+Alt+L".parse().unwrap();
        assert_eq!(keys.get(&lock), crate::bindings::default_keys().get(&lock), "the included one is gone");
    }

    #[test]
    fn names_of_workspaces_count_across_files() {
        let keys =
            ("keys.toml", "[keys]\n\"Mod+M\" = \"workspace mail\"\n[[app]]\napp-id = \"a\"\nworkspace = \"mail\"");
        let config = |names: &str| format!("include = [\"keys.toml\"]\nworkspaces = [{names}]");
        assert!(load(&folder(&[("config.toml", &config("\"mail\"")), keys])).is_ok());
        let error = load(&folder(&[("config.toml", &config("\"post\"")), keys])).unwrap_err();
        assert_eq!(
            error,
            "config.toml: [keys] \"Mod+M\": there is no workspace called \"mail\"; there are 1 to 9 and \"post\""
        );
    }

    #[test]
    fn every_file_is_reported_before_it_is_opened_even_if_missing() {
        let folder = folder(&[("config.toml", "include = [\"a.toml\", \"missing.toml\"]"), ("a.toml", "")]);
        let mut read_files = Vec::new();
        read(&folder.path().join("config.toml"), &mut |path| read_files.push(path.file_name().unwrap().to_owned()))
            .unwrap_err();
        assert_eq!(read_files, ["config.toml", "a.toml", "missing.toml"]);
    }

    fn wrong(files: &[(&str, &str)], expected: &Expect) {
        expected.assert_eq(&load(&folder(files)).unwrap_err());
    }

    #[test]
    fn errors_name_the_file_and_line() {
        wrong(
            &[("config.toml", "planes = true\ninclude = [\"gone.toml\"]")],
            &expect![[r#"
                config.toml:2:12: include: gone.toml: No such file or directory (os error 2)
                  |
                2 | include = ["gone.toml"]
                  |            ^^^^^^^^^^^"#]],
        );
        wrong(
            &[("config.toml", "include = [\"a.toml\"]"), ("a.toml", "\npacing = \"fast\"")],
            &expect![[r#"
                a.toml:2:10: pacing: unknown word `fast`, expected one of `vsync`, `vsync-late`, `just-in-time`, `ahead`, `auto`
                  |
                2 | pacing = "fast"
                  |          ^^^^^^"#]],
        );
        wrong(
            &[("config.toml", "include = [\"a.toml\"]"), ("a.toml", "include = [\"./config.toml\"]")],
            &expect![[r#"
                a.toml:1:12: include: ./config.toml would include itself
                  |
                1 | include = ["./config.toml"]
                  |            ^^^^^^^^^^^^^^^"#]],
        );
    }

    #[test]
    fn depth_number_and_size_of_includes_are_limited() {
        let next = |number: usize| format!("include = [\"{}.toml\"]", number + 1);
        let files: Vec<_> = (0..20).map(|number| (format!("{number}.toml"), next(number))).collect();
        let mut files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        files.push(("config.toml", "include = [\"0.toml\"]"));
        let error = load(&folder(&files)).unwrap_err();
        assert!(error.starts_with("7.toml:1:12: include: files that include each other more than 8 deep"), "{error}");

        let many = format!("include = [{}]", "\"a.toml\", ".repeat(40));
        let error = load(&folder(&[("config.toml", &many), ("a.toml", "")])).unwrap_err();
        assert!(error.starts_with("config.toml:1:") && error.contains("more than 32 files"), "{error}");

        let long = format!("# {}\n", "x".repeat(600 * 1024));
        let error = load(&folder(&[("config.toml", &format!("include = [\"a.toml\"]\n{long}")), ("a.toml", &long)]));
        assert!(error.unwrap_err().starts_with("a.toml: a configuration of at most 1024 KiB"));

        let rules = "[[app]]\napp-id = \"a\"\n".repeat(700);
        let error = load(&folder(&[("config.toml", &format!("include = [\"a.toml\"]\n{rules}")), ("a.toml", &rules)]));
        let error = error.unwrap_err();
        assert!(error.starts_with("config.toml: more than 1000 [[app]] rules"), "{error}");
        let error = load(&folder(&[("config.toml", &rules.repeat(2))])).unwrap_err();
        assert!(error.starts_with("config.toml:2001:1: more than 1000 [[app]] rules"), "{error}");
    }
}
