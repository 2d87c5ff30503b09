//! The built-in defaults. `config/default.toml` says the same; a test compares them.

use super::{Colour, Config, Cursor, Keyboard, MissBudgets, Percent, PointerSettings};
use crate::timing::pacing::PacingWish;

impl Default for Config {
    fn default() -> Self {
        Config {
            pacing: PacingWish::Auto,
            miss_budget: MissBudgets::default(),
            background: Colour { red: 0x1d, green: 0x23, blue: 0x30 },
            reduced_motion: false,
            keyboard: Keyboard::default(),
            mouse: PointerSettings::default(),
            touchpad: PointerSettings::default(),
            cursor: Cursor::default(),
            terminal: "foot".to_owned(),
            outputs: Vec::new(),
            apps: Vec::new(),
        }
    }
}

impl Default for MissBudgets {
    fn default() -> Self {
        MissBudgets { free_running: Percent::FREE_RUNNING, interactive: Percent::INTERACTIVE }
    }
}

impl Default for Keyboard {
    fn default() -> Self {
        Keyboard {
            layout: String::new(),
            variant: String::new(),
            model: String::new(),
            options: String::new(),
            repeat_delay: 400,
            repeat_rate: 25,
        }
    }
}

impl Default for Cursor {
    fn default() -> Self {
        Cursor { theme: "default".to_owned(), size: 24 }
    }
}
