//! Checks that XKB has the configured keymap.

use smithay::input::keyboard::xkb;

use super::KeyboardOptions;

/// XKB has no such keymap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "[keyboard]: there is no such keymap: layout \"{}\", variant \"{}\", model \"{}\", options \"{}\"",
    .0.layout, .0.variant, .0.model, .0.options
)]
pub struct NoSuchKeymap(pub KeyboardOptions);

impl KeyboardOptions {
    /// Compiles the keymap from the system's data files. It takes some milliseconds.
    ///
    /// # Errors
    ///
    /// There is no such keymap.
    pub fn check(&self) -> Result<(), NoSuchKeymap> {
        let mut context = xkb::Context::new(xkb::CONTEXT_NO_FLAGS);
        // Otherwise xkb would print nine lines on standard error.
        context.set_log_level(xkb::LogLevel::Critical);
        let options = Some(self.options.clone()).filter(|options| !options.is_empty());
        let (model, layout, variant) = (&self.model, &self.layout, &self.variant);
        xkb::Keymap::new_from_names(&context, "", model, layout, variant, options, xkb::KEYMAP_COMPILE_NO_FLAGS)
            .map(|_| ())
            .ok_or_else(|| NoSuchKeymap(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_unknown_layout() {
        let keyboard = |layout: &str| KeyboardOptions { layout: layout.to_owned(), ..KeyboardOptions::default() };
        assert_eq!(keyboard("us,de").check(), Ok(()));
        let error = keyboard("zz").check().unwrap_err().to_string();
        assert_eq!(error, "[keyboard]: there is no such keymap: layout \"zz\", variant \"\", model \"\", options \"\"");
    }
}
