//! `[scroll]`: views that the compositor scrolls for clients.

use serde::{Deserialize, Serialize};

use super::ValueError;
use upbeat_timing::defaults::{EXTENSION_AHEAD, MOST_EXTENSION, SCROLL_BUDGET};
use upbeat_timing::scroll::SupplySettings;

/// The `[scroll]` table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScrollSettings {
    /// Whether clients may have views that the compositor scrolls.
    pub views: bool,
    /// How many pixels all views of one client may have rendered together.
    pub budget: Megapixels,
    /// How far a view's content is rendered ahead of its motion, in lengths of the view, if the budget allows that.
    pub ahead: ViewsAhead,
}

impl Default for ScrollSettings {
    fn default() -> Self {
        ScrollSettings { views: true, budget: Megapixels::default(), ahead: ViewsAhead::default() }
    }
}

impl ScrollSettings {
    /// The limits for the views of one client.
    pub fn supply(&self) -> SupplySettings {
        SupplySettings::with_budget((self.budget.0 * 1e6) as i64).ahead_by(self.ahead.0)
    }
}

/// Millions of pixels, 4 MB each: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Megapixels(f64);

impl Default for Megapixels {
    fn default() -> Self {
        Megapixels(SCROLL_BUDGET as f64 / 1e6)
    }
}

impl TryFrom<f64> for Megapixels {
    type Error = ValueError;

    fn try_from(millions: f64) -> Result<Self, ValueError> {
        let is_meant = (1.0..=1_000.0).contains(&millions);
        if is_meant {
            Ok(Megapixels(millions))
        } else {
            Err(ValueError("expected 1 to 1000 million pixels, such as 16"))
        }
    }
}

impl From<Megapixels> for f64 {
    fn from(pixels: Megapixels) -> f64 {
        pixels.0
    }
}

/// Lengths of a view: 0.1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct ViewsAhead(f64);

impl Default for ViewsAhead {
    fn default() -> Self {
        ViewsAhead(MOST_EXTENSION * EXTENSION_AHEAD)
    }
}

impl TryFrom<f64> for ViewsAhead {
    type Error = ValueError;

    fn try_from(views: f64) -> Result<Self, ValueError> {
        let is_meant = (0.1..=4.0).contains(&views);
        if is_meant { Ok(ViewsAhead(views)) } else { Err(ValueError("expected 0.1 to 4 views, such as 1.125")) }
    }
}

impl From<ViewsAhead> for f64 {
    fn from(views: ViewsAhead) -> f64 {
        views.0
    }
}
