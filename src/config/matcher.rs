//! Matches text by a pattern with wildcards, or by a regular expression between slashes.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::values::LONGEST;
use super::{ValueError, WildcardPattern, match_budget};

/// How many bytes of a text are matched at its beginning and at its end, because titles may be far longer. Browsers put
/// their own words at the end.
const MOST_OF_AN_END: usize = 256;
/// Stands for the part of a long text between its ends.
const LEFT_OUT: char = '…';
/// Size limits of a compiled expression, in bytes. The smallest that it fits into is its effort, which is taken from
/// the shared budget.
const SIZES: [usize; 5] = [8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10];
/// Memory that matching may take for each expression, in bytes.
const MOST_MEMORY: usize = 1 << 20;
/// Stands before and after an expression.
const SLASH: char = '/';

/// A condition on a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TextMatcher {
    /// The whole text matches the [`WildcardPattern`].
    Pattern(WildcardPattern),
    /// The expression is found somewhere in the text.
    Expression(Regex),
}

impl PartialEq for TextMatcher {
    fn eq(&self, other: &Self) -> bool {
        String::from(self.clone()) == String::from(other.clone())
    }
}

impl TextMatcher {
    pub fn matches(&self, text: &str) -> bool {
        let text = shortened(text);
        match self {
            TextMatcher::Pattern(pattern) => pattern.matches(&text),
            TextMatcher::Expression(expression) => expression.is_match(&text),
        }
    }
}

/// Cuts the middle out of a long text, at character boundaries.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * MOST_OF_AN_END {
        return Cow::Borrowed(text);
    }
    let (mut first, mut last) = (MOST_OF_AN_END, text.len() - MOST_OF_AN_END);
    while !text.is_char_boundary(first) {
        first -= 1;
    }
    while !text.is_char_boundary(last) {
        last += 1;
    }
    Cow::Owned(format!("{}{LEFT_OUT}{}", &text[..first], &text[last..]))
}

impl TryFrom<String> for TextMatcher {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let inner = text.strip_prefix(SLASH).and_then(|rest| rest.strip_suffix(SLASH));
        let Some(inner) = inner else { return WildcardPattern::try_from(text).map(TextMatcher::Pattern) };
        if inner.len() > LONGEST {
            return Err(ValueError("expected a regular expression of at most 256 bytes"));
        }
        // Only sizes that the budget allows are compiled.
        for size in SIZES.into_iter().filter(|size| *size <= match_budget::remaining()) {
            match RegexBuilder::new(inner).size_limit(size).dfa_size_limit(MOST_MEMORY).build() {
                Ok(expression) if match_budget::spend(size) => return Ok(TextMatcher::Expression(expression)),
                Ok(_) => return Err(ValueError(match_budget::TOO_MUCH)),
                Err(regex::Error::CompiledTooBig(_)) => {}
                Err(_) => {
                    return Err(ValueError(
                        "expected a regular expression between the slashes, as the Rust crate `regex` has them",
                    ));
                }
            }
        }
        let is_alone_too_large = match_budget::remaining() >= SIZES[SIZES.len() - 1];
        Err(ValueError(if is_alone_too_large {
            "expected a smaller regular expression"
        } else {
            match_budget::TOO_MUCH
        }))
    }
}

impl From<TextMatcher> for String {
    fn from(matcher: TextMatcher) -> String {
        match matcher {
            TextMatcher::Pattern(pattern) => pattern.into(),
            TextMatcher::Expression(expression) => format!("{SLASH}{}{SLASH}", expression.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matcher(text: &str) -> TextMatcher {
        TextMatcher::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn expressions_match_anywhere_and_patterns_match_the_whole_text() {
        assert!(matcher("/picture.in/").matches("A picture-in-picture"));
        assert!(!matcher("/^picture$/").matches("A picture"));
        assert!(matcher("A *").matches("A picture") && !matcher("picture").matches("A picture"));
        for wrong in ["/(/", "", "/(?:a{1000}){1000}/"] {
            assert!(TextMatcher::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn both_ends_of_a_long_title_are_searched() {
        let title = format!("{} — Private Browsing", "é".repeat(4_000));
        for found in ["/(?i)private browsing$/", "/^é+/", "*Private Browsing", "é*"] {
            assert!(matcher(found).matches(&title), "{found}");
        }
        // `$` and `^` match only where the title itself ends.
        for other in ["/é$/", "/^Private/", "/^é* — Private/", "*é", "Private*"] {
            assert!(!matcher(other).matches(&title), "{other}");
        }
    }

    #[test]
    fn usual_expressions_are_cheap_and_the_budget_is_limited() {
        let effort = |text: &str| {
            match_budget::reset_budget();
            matcher(text);
            match_budget::MOST - match_budget::remaining()
        };
        let usual =
            ["/^Picture.in.Picture$/", "/(?i)private browsing/", r"/^\d+ messages?/", "/- (YouTube|Vimeo|Twitch) -/"];
        for (text, most) in usual.into_iter().zip([1, 1, 2, 1]) {
            assert!(effort(text) <= most * (8 << 10), "{text}: {}", effort(text));
        }
        assert!(effort(r"/^\w+@\w+:/") <= 128 << 10, "{}", effort(r"/^\w+@\w+:/"));
        assert_eq!((effort("*gnome*"), effort("a?c*")), (0, 0));
        match_budget::reset_budget();
        let taken = (0..10_000).take_while(|_| TextMatcher::try_from(r"/\w{2}x/".to_owned()).is_ok()).count();
        assert!((1..64).contains(&taken), "{taken}");
        let refused = TextMatcher::try_from(r"/\w{2}x/".to_owned()).unwrap_err().to_string();
        assert!(refused.contains("fewer or smaller expressions"), "{refused}");
        match_budget::reset_budget();
        for wrong in [format!("/{}/", "a".repeat(257)), "a".repeat(257)] {
            let refused = TextMatcher::try_from(wrong).unwrap_err().to_string();
            assert!(refused.contains("at most 256 bytes"), "{refused}");
        }
    }

    /// The cost of a new window title with the worst rules that are allowed. Prints microseconds.
    #[test]
    #[ignore = "prints a measurement and asserts nothing"]
    fn cost_of_the_worst_rules() {
        use super::super::{Config, WindowRule};
        use crate::shell::window_rules::WindowProperties;
        let plain = format!("app-id = '*{0}b*{0}*'\ntag = '*{0}b*'\ntitle = '*{0}b*'", "a".repeat(100));
        let measure = |name: &str, rules: Vec<String>| {
            let all = |count: usize| {
                let text: String = rules.iter().take(count).map(|rule| format!("[[window]]\n{rule}\n")).collect();
                toml::from_str::<Config>(&text)
            };
            // As many rules as are allowed.
            let count = (0..=rules.len()).rev().find(|count| all(*count).is_ok()).unwrap();
            let config = all(count).unwrap();
            let mut chance = 1_u32;
            let mut letter = || {
                chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if chance >> 31 == 0 { 'a' } else { 'b' }
            };
            let titles: Vec<String> = (0..100).map(|_| (0..512).map(|_| letter()).collect()).collect();
            let long = "a".repeat(512);
            let begun = std::time::Instant::now();
            for title in titles.iter().flat_map(|title| [title, &long]) {
                let named = WindowProperties {
                    app_id: &long,
                    title,
                    tag: &long,
                    is_focused: true,
                    is_floating: true,
                    is_urgent: false,
                    is_fullscreen: false,
                    is_maximised: false,
                };
                std::hint::black_box(WindowRule::apply_rules(&config.windows, &named, &[]));
            }
            println!("{name}: {} us a title, {count} rules", begun.elapsed().as_micros() / 200);
        };
        for (letters, count) in [(5, 256), (20, 256), (50, 256), (100, 128), (200, 64), (900, 32)] {
            measure(&format!("[ab]{{{letters}}}"), vec![format!("title = '/a[ab]{{{letters}}}c/'"); count]);
        }
        measure("words", vec![r"title = '/(\w+ )*\w+x/'".to_owned(); 64]);
        measure("searched", vec![format!("title = '*{}?b*'", "a".repeat(100)); 100]);
        measure("plain", vec![plain; 1000]);
        measure("usual", (0..30).map(|n| format!("app-id = 'org.gnome.App{n}'\ntitle = '*something {n}*'")).collect());
    }

    #[test]
    fn huge_title_and_backtracking_expression_are_matched_quickly() {
        let title = "a".repeat(1 << 20);
        let begun = std::time::Instant::now();
        assert!(!matcher("/^(a+)+$x/").matches(&title));
        assert!(!matcher("*a*a*a*a*b").matches(&title));
        // Without the two limits it would take hours; a tenth of this is plenty on a slow machine.
        assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(?s)/?.{0,20}/?", title in "(?s).{0,40}") {
            match_budget::reset_budget();
            if let Ok(matcher) = TextMatcher::try_from(text) {
                matcher.matches(&title);
            }
        }
    }
}
