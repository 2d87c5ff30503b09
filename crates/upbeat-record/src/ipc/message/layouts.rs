//! Keyboard layouts as the private socket describes them.

use serde::{Deserialize, Serialize};

/// The layouts of the keyboard that was used last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyboardLayouts {
    /// The names of the layouts, such as `English (US)`.
    pub layouts: Vec<String>,
    /// The active layout, counted from 0.
    pub active: u32,
}

/// The layout to switch to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LayoutWish {
    /// The layout after the active layout; after the last, the first.
    Next,
    /// The layout before the active layout; before the first, the last.
    Previous,
    /// A layout by its number, counted from 0.
    Number(u32),
}

/// The text is not a [`LayoutWish`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected next, previous or the number of a layout, counted from 0")]
pub struct InvalidLayout;

impl std::str::FromStr for LayoutWish {
    type Err = InvalidLayout;

    fn from_str(text: &str) -> Result<Self, InvalidLayout> {
        match text {
            "next" => Ok(LayoutWish::Next),
            "previous" => Ok(LayoutWish::Previous),
            number => number.parse().map(LayoutWish::Number).map_err(|_| InvalidLayout),
        }
    }
}

impl KeyboardLayouts {
    /// The number of the layout to switch to, counted from 0; `None` if there is no such layout.
    pub fn number(&self, wish: LayoutWish) -> Option<u32> {
        let count = u32::try_from(self.layouts.len()).ok().filter(|count| *count > 0)?;
        match wish {
            LayoutWish::Next => Some((self.active + 1) % count),
            LayoutWish::Previous => Some((self.active + count - 1) % count),
            LayoutWish::Number(number) => (number < count).then_some(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_layout_wraps_around_and_unknown_numbers_are_refused() {
        let layouts = KeyboardLayouts { layouts: vec!["us".to_owned(), "de".to_owned()], active: 1 };
        let number = |text: &str| layouts.number(text.parse().unwrap());
        assert_eq!((number("next"), number("previous"), number("0"), number("2")), (Some(0), Some(0), Some(0), None));
        assert_eq!(KeyboardLayouts::default().number(LayoutWish::Next), None);
        assert_eq!("de".parse::<LayoutWish>(), Err(InvalidLayout));
    }
}
