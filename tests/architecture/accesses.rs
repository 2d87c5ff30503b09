//! Finds the fields of `State` that a file uses: `state.shell`, `let State { shell, .. } = state`, `self.shell` in
//! `impl ... for State`.

use std::collections::BTreeSet;

use super::imports::{ModulePath, is_name, paths};

/// Usual name of a value of the type, in files that do not say its type.
const USUAL: &str = "state";
const STATE: &str = "State";

/// The fields of `struct State`, each with the tokens of its type.
pub fn fields(words: &[String]) -> Vec<(String, Vec<String>)> {
    let Some(at) = words.windows(2).position(|pair| pair[0] == "struct" && pair[1] == STATE) else { return Vec::new() };
    let mut fields: Vec<(String, Vec<String>)> = Vec::new();
    let mut depth = 0;
    for (index, word) in words.iter().enumerate().skip(at + 2) {
        match word.as_str() {
            "{" => depth += 1,
            "}" => break,
            ":" if depth == 1 => fields.push((words[index - 1].clone(), Vec::new())),
            _ => fields.last_mut().into_iter().for_each(|(_, kind)| kind.push(word.clone())),
        }
    }
    fields
}

/// The fields that are used as `value.field`, or named in a pattern of `State`.
pub fn names(words: &[String]) -> BTreeSet<String> {
    let kinds = kinds(words);
    let is_state = |at: usize| {
        let is_path = at >= 2 && words[at - 1] == "::" && words[at - 2] != "state";
        words.get(at).is_some_and(|word| kinds.contains(word)) && !is_path
    };
    let values = values(words, &is_state);
    let mut found = BTreeSet::new();
    let mut implemented = None;
    for at in 0..words.len() {
        let word = words[at].as_str();
        if word == "impl" {
            implemented = implementation(words, at, &is_state).or(implemented);
        }
        let is_within = implemented.as_ref().is_some_and(|body| body.contains(&at));
        if (values.contains(word) || is_within && word == "self") && words.get(at + 1).is_some_and(|dot| dot == ".") {
            let is_call = words.get(at + 3).is_some_and(|next| next == "(");
            found.extend(words.get(at + 2).filter(|_| !is_call).cloned());
        }
        let is_body = at > 0 && ["impl", "for", ">", "&", "mut"].contains(&words[at - 1].as_str());
        if is_state(at) && !is_body || is_within && word == "Self" {
            found.extend(pattern(&words[at + 1..]));
        }
    }
    found
}

/// Names of the type in a file: `State` unless the file defines another `State`, and its aliases from imports.
fn kinds(words: &[String]) -> BTreeSet<String> {
    let imported = paths(words).into_iter().filter(|(path, _)| path.ends_with(&["state".to_owned(), STATE.to_owned()]));
    let mut kinds: BTreeSet<String> = imported.filter_map(|(_, name)| name).collect();
    let is_own = words.windows(2).any(|pair| ["struct", "enum"].contains(&pair[0].as_str()) && pair[1] == STATE);
    if !is_own {
        kinds.insert(STATE.to_owned());
    }
    kinds
}

/// Names of values that are declared as `State` or a reference to it, and the usual name.
fn values(words: &[String], is_state: &dyn Fn(usize) -> bool) -> BTreeSet<String> {
    let mut values = BTreeSet::from([USUAL.to_owned()]);
    for at in (1..words.len()).filter(|at| words[*at] == ":") {
        let before_type =
            |word: &&String| ["&", "mut", "crate", "super", "::", "state", "'", "a"].contains(&word.as_str());
        let kind = at + 1 + words[at + 1..].iter().take_while(before_type).count();
        if is_state(kind) && is_name(&words[at - 1]) {
            values.insert(words[at - 1].clone());
        }
    }
    values
}

/// The range of tokens of an `impl` block of `State` that begins at `at`.
fn implementation(words: &[String], at: usize, is_state: &dyn Fn(usize) -> bool) -> Option<std::ops::Range<usize>> {
    let open = at + words[at..].iter().position(|word| word == "{")?;
    let is_of_state = is_state(open - 1)
        || words[at..open].windows(2).enumerate().any(|(index, pair)| pair[0] == "for" && is_state(at + index + 1));
    is_of_state.then(|| open..open + block(&words[open..]))
}

/// Number of tokens of the block that `words` begin with.
fn block(words: &[String]) -> usize {
    let mut depth = 0;
    let end = words.iter().position(|word| {
        depth += i32::from(word == "{") - i32::from(word == "}");
        depth == 0
    });
    end.unwrap_or(words.len())
}

/// Field names in the pattern `{ shell, outputs: known, .. }` that `words` begin with.
fn pattern(words: &[String]) -> ModulePath {
    if words.first().is_none_or(|first| first != "{") {
        return ModulePath::new();
    }
    let mut found = ModulePath::new();
    let (mut depth, mut begins) = (0, false);
    for word in &words[..block(words)] {
        match word.as_str() {
            "{" | "(" | "[" => (depth, begins) = (depth + 1, depth == 0),
            "}" | ")" | "]" => depth -= 1,
            "," => begins = depth == 1,
            "ref" | "mut" => {}
            name => {
                found.extend(Some(name.to_owned()).filter(|_| begins && is_name(name)));
                begins = false;
            }
        }
    }
    found
}
