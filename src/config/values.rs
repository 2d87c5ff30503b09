//! The values of options. Each type parses the text that users write, and rejects values that cannot be right.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::match_budget;
use upbeat_timing::defaults::{FREE_RUNNING_MISS, INTERACTIVE_MISS};
use upbeat_timing::estimator::MissBudget;

/// An invalid value; the message is a sentence without its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub(super) &'static str);

/// A share of frames in percent, above 0 and up to 50.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Percent(f64);

impl Percent {
    pub const FREE_RUNNING: Percent = Percent::of(FREE_RUNNING_MISS);
    pub const INTERACTIVE: Percent = Percent::of(INTERACTIVE_MISS);

    const fn of(miss: MissBudget) -> Self {
        Percent(miss.as_ppm() as f64 / 10_000.0)
    }

    /// Converts it for the timing core.
    pub fn miss_budget(self) -> MissBudget {
        // Cannot overflow: 50 % are 500 000 millionths.
        MissBudget::ppm((self.0 * 10_000.0).round() as u32)
    }
}

impl TryFrom<f64> for Percent {
    type Error = ValueError;

    fn try_from(percent: f64) -> Result<Self, ValueError> {
        if percent > 0.0 && percent <= 50.0 {
            Ok(Percent(percent))
        } else {
            Err(ValueError("expected a percentage above 0 and up to 50, such as 0.1"))
        }
    }
}

impl From<Percent> for f64 {
    fn from(percent: Percent) -> f64 {
        percent.0
    }
}

/// The side of the area around the newest input within which changes are written in place: 2 to 50 millimetres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct InPlaceSize(f64);

impl InPlaceSize {
    pub const fn millimetres(self) -> f64 {
        self.0
    }
}

impl Default for InPlaceSize {
    fn default() -> Self {
        // Presto 3.2.1: 200 pixels of a panel with 500 pixels an inch.
        InPlaceSize(10.0)
    }
}

impl TryFrom<f64> for InPlaceSize {
    type Error = ValueError;

    fn try_from(millimetres: f64) -> Result<Self, ValueError> {
        if (2.0..=50.0).contains(&millimetres) {
            Ok(InPlaceSize(millimetres))
        } else {
            Err(ValueError("expected 2 to 50 millimetres, such as 10.0"))
        }
    }
}

impl From<InPlaceSize> for f64 {
    fn from(size: InPlaceSize) -> f64 {
        size.0
    }
}

/// Physical pixels per logical pixel: 0.5 to 8, in the steps of 1/120 that `wp_fractional_scale` can express.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct OutputScale(f64);

/// How many steps `wp_fractional_scale_v1` divides 1 into.
const SCALE_STEPS: f64 = 120.0;

impl OutputScale {
    pub const ONE: OutputScale = OutputScale(1.0);

    pub const fn factor(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for OutputScale {
    type Error = ValueError;

    fn try_from(factor: f64) -> Result<Self, ValueError> {
        if (0.5..=8.0).contains(&factor) {
            Ok(OutputScale((factor * SCALE_STEPS).round() / SCALE_STEPS))
        } else {
            Err(ValueError("expected a scale from 0.5 to 8, such as 1.25"))
        }
    }
}

impl From<OutputScale> for f64 {
    fn from(scale: OutputScale) -> f64 {
        scale.0
    }
}

/// An opaque colour in sRGB, written `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RgbColour {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl RgbColour {
    /// Red, green, blue and alpha, each from 0 to 1, as renderers take them.
    pub fn components(self) -> [f32; 4] {
        let part = |byte: u8| f32::from(byte) / 255.0;
        [part(self.red), part(self.green), part(self.blue), 1.0]
    }
}

impl TryFrom<String> for RgbColour {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let error = ValueError("expected a colour as #rrggbb, such as #1d2330");
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6).ok_or(error)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error);
        }
        let number = u32::from_str_radix(digits, 16).map_err(|_| error)?;
        let [_, red, green, blue] = number.to_be_bytes();
        Ok(RgbColour { red, green, blue })
    }
}

impl From<RgbColour> for String {
    fn from(colour: RgbColour) -> String {
        colour.to_string()
    }
}

impl fmt::Display for RgbColour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// A name with wildcards: `*` stands for any characters, `?` for one. Case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WildcardPattern(String);

/// Stands for any characters.
const STAR: char = '*';
/// Stands for one character.
const ANY: char = '?';
/// The length limit of a pattern, in bytes.
pub(super) const LONGEST: usize = 256;

impl WildcardPattern {
    /// Whether the whole `name` matches.
    ///
    /// ```
    /// use upbeat::config::WildcardPattern;
    /// let pattern = WildcardPattern::try_from("org.gnome.*".to_owned())?;
    /// assert!(pattern.matches("org.gnome.Nautilus"));
    /// assert!(!pattern.matches("org.kde.dolphin"));
    /// # Ok::<(), upbeat::config::ValueError>(())
    /// ```
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once(STAR) else {
            return after(&self.0, name).is_some_and(str::is_empty);
        };
        let (middle, last) = rest.rsplit_once(STAR).map_or((None, rest), |(middle, last)| (Some(middle), last));
        // The first and the last run must lie at the ends; each run between stars is searched after the one before it.
        let Some(name) = after(first, name).and_then(|name| before(last, name)) else { return false };
        let mut runs = middle.into_iter().flat_map(|middle| middle.split(STAR));
        runs.try_fold(name, |name, run| after_first(run, name)).is_some()
    }
}

/// The rest of `name` after `run`, if `name` begins with it.
fn after<'a>(run: &str, name: &'a str) -> Option<&'a str> {
    let mut name = name.chars();
    run.chars().all(|wanted| name.next().is_some_and(|letter| fits(wanted, letter))).then_some(name.as_str())
}

/// The rest of `name` before `run`, if `name` ends with it.
fn before<'a>(run: &str, name: &'a str) -> Option<&'a str> {
    let mut name = name.chars();
    run.chars().rev().all(|wanted| name.next_back().is_some_and(|letter| fits(wanted, letter))).then_some(name.as_str())
}

/// The rest of `name` after the first place where `run` is found.
fn after_first<'a>(run: &str, name: &'a str) -> Option<&'a str> {
    if run.contains(ANY) {
        return name.char_indices().find_map(|(at, _)| after(run, &name[at..]));
    }
    // `str::find` is linear in both lengths.
    name.find(run).map(|at| &name[at + run.len()..])
}

fn fits(wanted: char, letter: char) -> bool {
    wanted == ANY || wanted == letter
}

impl TryFrom<String> for WildcardPattern {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        if text.is_empty() {
            return Err(ValueError("expected a name, or * for every one"));
        }
        if text.len() > LONGEST {
            return Err(ValueError("expected a name of at most 256 bytes"));
        }
        let between = text.split(STAR).skip(1).filter(|run| run.contains(ANY));
        let letters: usize = between.map(str::len).max().unwrap_or(0);
        let is_affordable = match_budget::spend(letters * match_budget::OF_A_LETTER);
        if is_affordable { Ok(WildcardPattern(text)) } else { Err(ValueError(match_budget::TOO_MUCH)) }
    }
}

impl From<WildcardPattern> for String {
    fn from(pattern: WildcardPattern) -> String {
        pattern.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> WildcardPattern {
        WildcardPattern::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn invalid_values_are_rejected() {
        for percent in [0.0, -1.0, 50.1, f64::NAN, f64::INFINITY] {
            assert!(Percent::try_from(percent).is_err(), "{percent}");
        }
        for size in [0.0, 1.9, 50.1, f64::NAN] {
            let error = InPlaceSize::try_from(size).unwrap_err().to_string();
            assert_eq!(error, "expected 2 to 50 millimetres, such as 10.0");
        }
        for scale in [0.49, 8.1, f64::NAN] {
            assert!(OutputScale::try_from(scale).is_err(), "{scale}");
        }
        for colour in ["", "#12345", "#1234567", "123456", "#+12345", "#gggggg", "#é1234"] {
            assert!(RgbColour::try_from(colour.to_owned()).is_err(), "{colour}");
        }
        assert!(WildcardPattern::try_from(String::new()).is_err());
    }

    #[test]
    fn values_are_parsed() {
        assert_eq!(Percent::try_from(0.1).unwrap().miss_budget(), MissBudget::FREE_RUNNING);
        assert_eq!(Percent::try_from(1.0).unwrap().miss_budget(), MissBudget::INTERACTIVE);
        assert_eq!(InPlaceSize::try_from(12.5).unwrap().millimetres(), 12.5);
        assert_eq!(OutputScale::try_from(1.3333).unwrap().factor(), 160.0 / 120.0);
        let colour = RgbColour::try_from("#FF8000".to_owned()).unwrap();
        assert_eq!((colour.red, colour.green, colour.blue), (255, 128, 0));
        assert_eq!(colour.to_string(), "#ff8000");
    }

    #[test]
    fn wildcards_stand_for_characters() {
        for (text, name, matches) in [
            ("foot", "foot", true),
            ("foot", "Foot", false),
            ("foot", "footclient", false),
            ("foot*", "footclient", true),
            ("*", "", true),
            ("?", "", false),
            ("DP-?", "DP-1", true),
            ("DP-?", "DP-12", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("*.gnome.*", "org.gnome.Nautilus", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*ab*ab", "xab", false),
            ("*?b*", "ab", true),
            ("*?b*", "b", false),
            ("é?*ü", "éxü", true),
            ("é?*ü", "éü", false),
            ("**", "x", true),
            ("a**b", "ab", true),
        ] {
            assert_eq!(pattern(text).matches(name), matches, "{text} and {name}");
        }
    }

    /// Reference implementation: tries every way in which stars can stand for characters.
    fn matches_slowly(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], name) => name.is_empty(),
            ([STAR, rest @ ..], _) => (0..=name.len()).any(|covered| matches_slowly(rest, &name[covered..])),
            ([wanted, rest @ ..], [letter, others @ ..]) => fits(*wanted, *letter) && matches_slowly(rest, others),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn fast_matching_equals_the_reference(text in "[ab*?é]{1,8}", name in "[abé]{0,8}") {
            match_budget::reset_budget();
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(pattern(&text).matches(&name), matches_slowly(&letters(&text), &letters(&name)));
        }

        #[test]
        fn star_matches_any_text(head in "[a-c]{0,4}", middle in "[a-c]{0,6}", tail in "[a-c]{0,4}") {
            let name = format!("{head}{middle}{tail}");
            let pattern = pattern(&format!("{head}*{tail}"));
            prop_assert!(pattern.matches(&name));
        }
    }
}
