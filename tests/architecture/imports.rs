//! Reads the imports of the compositor's files and of its crates from their text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::accesses;

/// Prefix of our crates' names; each crate is a room, as the compositor's top-level modules are.
const CRATES: &str = "upbeat_";

/// A path from the compositor's root, or from a crate: `["output", "latch", "latch"]`.
pub type ModulePath = Vec<String>;

/// The source files by module path, without their tests.
#[derive(Clone, Default)]
pub struct Sources {
    files: BTreeMap<ModulePath, Vec<WrittenPath>>,
    /// Fields of `State` that each file uses.
    named: BTreeMap<ModulePath, BTreeSet<String>>,
    /// Fields of `State`, each with the paths in its type.
    fields: BTreeMap<String, Vec<ModulePath>>,
}

/// The file that defines `State`.
const STATE_FILE: &str = "state";

/// A path as written in a file, and its local name if it is imported.
type WrittenPath = (ModulePath, Option<String>);

/// Module and imported name, with the path that the name stands for.
type Aliases = BTreeMap<(ModulePath, String), ModulePath>;

impl Sources {
    /// Reads all source files of the repository at `root`.
    pub fn read(root: &Path) -> Self {
        let mut sources = Sources::default();
        let compositor = root.join("src");
        sources.read_folder("", &compositor, &compositor);
        for entry in std::fs::read_dir(root.join("crates")).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap().replace('-', "_");
            let folder = folder.join("src");
            sources.read_folder(&name, &folder, &folder);
        }
        sources
    }

    /// Reads the files below `folder` of the crate at `root`, which is called `name`; the compositor's name is empty.
    fn read_folder(&mut self, name: &str, root: &Path, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.read_folder(name, root, &path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = path.strip_prefix(root).unwrap().with_extension("");
                let module = module.iter().map(|part| part.to_str().unwrap());
                let module: Vec<_> = std::iter::once(name).filter(|name| !name.is_empty()).chain(module).collect();
                self.add(&module.join("::"), &std::fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// Appends text to a file.
    pub fn add(&mut self, module: &str, text: &str) {
        let mut names = split(module);
        let of_a_crate = names[0].starts_with(CRATES);
        if names.last().is_some_and(|last| last == "mod" || (last == "lib" && of_a_crate)) {
            names.pop();
        }
        let is_root = ["lib", "main"].contains(&names[0].as_str()) && names.len() == 1;
        if !is_root && !names.contains(&"tests".to_owned()) {
            let words = words(without_tests(text));
            if names == [STATE_FILE] {
                let fields = accesses::fields(&words).into_iter();
                self.fields.extend(fields.map(|(field, kind)| (field, type_paths(&kind))));
            }
            self.named.entry(names.clone()).or_default().extend(accesses::names(&words));
            self.files.entry(names).or_default().extend(paths(&words));
        }
    }

    pub fn rooms(&self) -> BTreeSet<String> {
        self.files.keys().map(|names| names[0].clone()).collect()
    }

    /// The files that each file needs, by module path. A re-export in a folder's `mod.rs` is followed to its origin.
    /// Imports of a parent `mod.rs` by the files in its folder do not count, because those files are parts of it.
    pub fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let paths: BTreeMap<_, _> =
            self.files.iter().map(|(module, written)| (module, self.within(module, written))).collect();
        let aliases = self.aliases();
        let named = |names: &ModulePath| names.join("::");
        let imports = paths.into_iter().map(|(module, found)| {
            let needed = found.into_iter().filter_map(|(path, _)| self.file_of(&path, &aliases, 0));
            let needed = needed.filter(|file| !module.starts_with(file)).map(|file| named(&file));
            (named(module), needed.collect())
        });
        imports.collect()
    }

    /// Uses of `State` fields whose types belong to another room: file, field, and the file of the type.
    pub fn accesses(&self) -> Vec<(String, String, String)> {
        let (home, aliases) = (vec![STATE_FILE.to_owned()], self.aliases());
        let file_of = |path: &ModulePath| {
            let imported = path.first().and_then(|name| aliases.get(&(home.clone(), name.clone())));
            let path = imported.cloned().or_else(|| self.absolute(&home, path))?;
            self.file_of(&path, &aliases, 0).filter(|file| *file != home)
        };
        let files = self.fields.iter().map(|(field, kind)| (field, kind.iter().filter_map(file_of).collect()));
        let files: BTreeMap<&String, Vec<ModulePath>> = files.collect();
        let mut found = Vec::new();
        for (module, named) in self.named.iter().filter(|(module, _)| **module != home) {
            for field in named {
                let others = files.get(field).into_iter().flatten().filter(|file| file.first() != module.first());
                found.extend(others.map(|file| (module.join("::"), field.clone(), file.join("::"))));
            }
        }
        found
    }

    /// The paths that imported names stand for.
    fn aliases(&self) -> Aliases {
        let mut aliases = Aliases::new();
        for (module, written) in &self.files {
            let named = self.within(module, written).into_iter();
            aliases.extend(named.filter_map(|(path, name)| Some(((module.clone(), name?), path))));
        }
        aliases
    }

    /// The file that defines the item at `path`.
    fn file_of(&self, path: &ModulePath, aliases: &Aliases, depth: usize) -> Option<ModulePath> {
        let known = (1..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let (file, rest) = path.split_at(known);
        let passed_on = rest.first().and_then(|name| aliases.get(&(file.to_vec(), name.clone())));
        // Re-exports form a cycle only by mistake; the compiler reports that better.
        if let Some(target) = passed_on.filter(|target| **target != path[..=known] && depth < 8) {
            let target: ModulePath = target.iter().chain(&rest[1..]).cloned().collect();
            return self.file_of(&target, aliases, depth + 1).or_else(|| Some(file.to_vec()));
        }
        Some(file.to_vec())
    }

    /// The paths of a file that lead into our own code, made absolute.
    fn within(&self, module: &ModulePath, written: &[WrittenPath]) -> Vec<WrittenPath> {
        let ours = written.iter().filter_map(|(path, name)| Some((self.absolute(module, path)?, name.clone())));
        ours.collect()
    }

    /// The path from the crate's root; `None` if it leads to foreign code.
    fn absolute(&self, module: &ModulePath, path: &[String]) -> Option<ModulePath> {
        let ups = path.iter().take_while(|name| *name == "super").count();
        let mut names = match path.first()?.as_str() {
            "crate" => [crate_of(module), &path[1..]].concat(),
            first if first.starts_with(CRATES) => path.to_vec(),
            "super" => [&module[..module.len().checked_sub(ups)?], &path[ups..]].concat(),
            "self" => [module, &path[1..]].concat(),
            first => {
                let child = [module.as_slice(), &[first.to_owned()]].concat();
                self.files.contains_key(&child).then(|| [module, path].concat())?
            }
        };
        names.retain(|name| name != "self");
        Some(names)
    }
}

/// The crate of `module`; empty for the compositor.
fn crate_of(module: &ModulePath) -> &[String] {
    let is_ours = module.first().is_some_and(|first| first.starts_with(CRATES));
    &module[..usize::from(is_ours)]
}

fn split(path: &str) -> ModulePath {
    path.split("::").map(str::to_owned).collect()
}

/// Cuts the tests at the end of a file off, since tests may import anything.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// The paths that `text` names: all imports, and other paths that start at a crate's root or with `super`.
pub fn paths(words: &[String]) -> Vec<WrittenPath> {
    let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word == wanted);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if is(at, "use") {
            let length = words[at..].iter().position(|word| word == ";").unwrap_or(words.len() - at);
            found.extend(import_tree(&words[at + 1..at + length]).into_iter().map(|(path, name)| (path, Some(name))));
            at += length;
        } else if (is(at, "crate") || is(at, "super") || words[at].starts_with(CRATES)) && is(at + 1, "::") {
            let mut path = vec![words[at].clone()];
            while is(at + 1, "::") && words.get(at + 2).is_some_and(|next| is_name(next)) {
                path.push(words[at + 2].clone());
                at += 2;
            }
            found.push((path, None));
        }
        at += 1;
    }
    found
}

/// The paths in a type: `Arc<guard::Rules>` has two.
fn type_paths(words: &[String]) -> Vec<ModulePath> {
    let mut found: Vec<ModulePath> = Vec::new();
    let mut follows = false;
    for word in words {
        match found.last_mut().filter(|_| follows) {
            Some(path) if is_name(word) => path.push(word.clone()),
            _ if is_name(word) => found.push(vec![word.clone()]),
            _ => {}
        }
        follows = word == "::";
    }
    found
}

pub fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The paths of a `use` tree, each with its local name.
fn import_tree(words: &[String]) -> Vec<(ModulePath, String)> {
    let mut found = Vec::new();
    let mut prefixes: Vec<usize> = Vec::new();
    let mut path: ModulePath = Vec::new();
    let mut name: Option<String> = None;
    let mut after_as = false;
    let mut end = |path: &mut ModulePath, name: &mut Option<String>, keep: usize| {
        if path.len() > keep {
            let called = name
                .take()
                .unwrap_or_else(|| path.iter().rev().find(|part| *part != "self").cloned().unwrap_or_default());
            found.push((path.clone(), called));
        }
        path.truncate(keep);
    };
    for word in words {
        let keep = prefixes.last().copied().unwrap_or(0);
        match word.as_str() {
            "::" => {}
            "{" => prefixes.push(path.len()),
            "," => end(&mut path, &mut name, keep),
            "}" => {
                end(&mut path, &mut name, keep);
                prefixes.pop();
                // The braces end: go back to the path before them.
                path.truncate(prefixes.last().copied().unwrap_or(0));
            }
            "as" => after_as = true,
            word if after_as => (name, after_as) = (Some(word.to_owned()), false),
            word => path.push(word.to_owned()),
        }
    }
    end(&mut path, &mut name, 0);
    found
}

/// Tokens of a program: names, `::`, and single characters. Comments and quoted text are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted(rest),
            '\'' => character(rest),
            _ if is_name(rest) => {
                rest.find(|next: char| !(next.is_alphanumeric() || next == '_')).unwrap_or(rest.len())
            }
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !first.is_whitespace() && !word.starts_with(['"', '\'']) && !word.starts_with("//") {
            words.push(word.to_owned());
        }
        rest = after;
    }
    words
}

/// Length of the quoted text that `text` starts with.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, next) in text.char_indices().skip(1) {
        match next {
            '"' if !escaped => return at + 1,
            _ => escaped = next == '\\' && !escaped,
        }
    }
    text.len()
}

/// Length of the character literal that `text` starts with; for a lifetime, of its quote only.
fn character(text: &str) -> usize {
    let body = &text[1..];
    let length = if body.starts_with('\\') {
        body[2..].find('\'').map(|end| end + 2)
    } else {
        body.chars().next().map(char::len_utf8).filter(|length| body[*length..].starts_with('\''))
    };
    length.map_or(1, |length| length + 2)
}

/// Import cycles: maximal groups of files that need each other; `hubs` are left out.
pub fn circles(imports: &BTreeMap<String, BTreeSet<String>>, hubs: &BTreeSet<String>) -> Vec<BTreeSet<String>> {
    let reach = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = open.pop() {
            let next = imports.get(&file).into_iter().flatten().filter(|next| !hubs.contains(*next));
            open.extend(next.filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let files = imports.keys().filter(|file| !hubs.contains(*file));
    let reached: BTreeMap<_, _> = files.map(|file| (file.clone(), reach(file))).collect();
    let in_circle = reached.iter().filter(|(file, reached)| reached.contains(*file));
    let groups: BTreeSet<BTreeSet<String>> = in_circle
        .map(|(file, others)| {
            others.iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(file))).cloned().collect()
        })
        .collect();
    groups.into_iter().collect()
}
