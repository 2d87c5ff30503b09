//! What a text has to look like: a pattern with wildcards, or a regular expression between slashes.

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::{Pattern, ValueError};

/// So much of a text is looked at, in bytes: titles may be a megabyte.
const MOST_READ: usize = 4_096;
/// So much memory an expression may take once it is compiled. Matching is linear in the text, whatever it says.
const MOST_MEMORY: usize = 1 << 20;
/// What stands around an expression.
const SLASH: char = '/';

/// What a text has to look like.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Matcher {
    /// As a [`Pattern`] says.
    Pattern(Pattern),
    /// The expression is found somewhere in it.
    Expression(Regex),
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        String::from(self.clone()) == String::from(other.clone())
    }
}

impl Matcher {
    /// Whether `text` looks like that.
    pub fn matches(&self, text: &str) -> bool {
        let end = (0..=text.len().min(MOST_READ)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let text = &text[..end];
        match self {
            Matcher::Pattern(pattern) => pattern.matches(text),
            Matcher::Expression(expression) => expression.is_match(text),
        }
    }
}

impl TryFrom<String> for Matcher {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let inner = text.strip_prefix(SLASH).and_then(|rest| rest.strip_suffix(SLASH));
        let Some(inner) = inner else { return Pattern::try_from(text).map(Matcher::Pattern) };
        let built = RegexBuilder::new(inner).size_limit(MOST_MEMORY).dfa_size_limit(MOST_MEMORY).build();
        built.map(Matcher::Expression).map_err(|_| {
            ValueError("expected a regular expression between the slashes, as the Rust crate `regex` has them, and not too large a one")
        })
    }
}

impl From<Matcher> for String {
    fn from(matcher: Matcher) -> String {
        match matcher {
            Matcher::Pattern(pattern) => pattern.into(),
            Matcher::Expression(expression) => format!("{SLASH}{}{SLASH}", expression.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matcher(text: &str) -> Matcher {
        Matcher::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn expressions_are_found_anywhere_and_patterns_are_all_of_it() {
        assert!(matcher("/picture.in/").matches("A picture-in-picture"));
        assert!(!matcher("/^picture$/").matches("A picture"));
        assert!(matcher("A *").matches("A picture") && !matcher("picture").matches("A picture"));
        for wrong in ["/(/", "", "/(?:a{1000}){1000}/"] {
            assert!(Matcher::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_megabyte_of_title_and_an_expression_that_would_backtrack_are_done_at_once() {
        let title = "a".repeat(1 << 20);
        let begun = std::time::Instant::now();
        assert!(!matcher("/^(a+)+$x/").matches(&title));
        assert!(!matcher("*a*a*a*a*b").matches(&title));
        // Without the two bounds it would be hours; a tenth of that of a slow machine is plenty.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)/?.{0,20}/?", title in "(?s).{0,40}") {
            if let Ok(matcher) = Matcher::try_from(text) {
                matcher.matches(&title);
            }
        }
    }
}
