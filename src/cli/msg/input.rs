//! `upbeat msg input`: act as an input device.

use anyhow::{Context, bail};
use clap::{Subcommand, ValueEnum};

use upbeat_record::ipc::message::input::{InputEvent, button_code, key_code};

/// Whether a button or key is pressed, released or both.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum PressOrRelease {
    /// Press and release.
    #[default]
    Click,
    /// Press and hold.
    Press,
    /// Release after a press.
    Release,
}

#[derive(Debug, Subcommand)]
pub(super) enum InputMessage {
    /// Put the pointer at a position (logical pixels).
    Move {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// Move the pointer by a distance (logical pixels).
    #[command(allow_negative_numbers = true)]
    MoveBy {
        /// Distance to the right.
        dx: f64,
        /// Distance down, in pixels.
        dy: f64,
    },
    /// Press or release a mouse button.
    Button {
        /// left, right, middle, side, extra or an evdev code.
        button: String,
        /// Press, release or both.
        #[arg(value_enum, default_value_t)]
        stroke: PressOrRelease,
    },
    /// Turn the wheel (logical pixels; 15 are one click).
    #[command(allow_negative_numbers = true)]
    Scroll {
        /// Distance to the right.
        dx: f64,
        /// Distance down, in pixels.
        dy: f64,
    },
    /// Scroll with fingers on a touchpad: move DX DY (logical pixels), lift.
    #[command(subcommand)]
    Fingers(FingerScrollMessage),
    /// Press or release a key, or several together: Ctrl+C.
    Key {
        /// As in the configuration (A, Return, F5, Super, Page_Up), or code:N; several joined by +.
        keys: String,
        /// Press, release or both.
        #[arg(value_enum, default_value_t)]
        stroke: PressOrRelease,
    },
    /// Touch the screen: down FINGER X Y, move FINGER X Y, up FINGER.
    #[command(subcommand)]
    Touch(TouchMessage),
    /// Use a pen on a graphics tablet: near X Y, down X Y, move X Y, up X Y, away.
    #[command(subcommand)]
    Pen(PenMessage),
}

#[derive(Debug, Subcommand)]
pub(super) enum PenMessage {
    /// Bring the pen near the tablet.
    Near {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// Put the pen's tip down.
    Down {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
        /// Pressure of the tip, 0 to 1.
        #[arg(long, default_value_t = 0.5)]
        pressure: f64,
    },
    /// Move the pen.
    Move {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
        /// Pressure of the tip, 0 to 1; unchanged if left out.
        #[arg(long)]
        pressure: Option<f64>,
    },
    /// Lift the pen's tip.
    Up {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// Take the pen away from the tablet.
    Away,
}

#[derive(Debug, Subcommand)]
pub(super) enum FingerScrollMessage {
    /// Move the fingers together.
    #[command(allow_negative_numbers = true)]
    Move {
        /// Distance to the right.
        dx: f64,
        /// Distance down, in pixels.
        dy: f64,
    },
    /// Lift the fingers: a fling goes on.
    Lift,
}

#[derive(Debug, Subcommand)]
pub(super) enum TouchMessage {
    /// Put a finger down.
    Down {
        /// Number of the finger.
        finger: u32,
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// Move a touching finger.
    Move {
        /// Number of the finger.
        finger: u32,
        /// Distance from the left edge.
        x: f64,
        /// Distance from the top edge.
        y: f64,
    },
    /// Lift a touching finger.
    Up {
        /// Number of the finger.
        finger: u32,
    },
}

impl InputMessage {
    pub(super) fn events(self) -> anyhow::Result<Vec<InputEvent>> {
        Ok(match self {
            InputMessage::Move { x, y } => vec![InputEvent::PointerMove { x, y }],
            InputMessage::MoveBy { dx, dy } => vec![InputEvent::PointerMoveBy { dx, dy }],
            InputMessage::Scroll { dx, dy } => vec![InputEvent::Scroll { dx, dy }],
            InputMessage::Fingers(FingerScrollMessage::Move { dx, dy }) => vec![InputEvent::FingersScroll { dx, dy }],
            InputMessage::Fingers(FingerScrollMessage::Lift) => vec![InputEvent::FingersLift],
            InputMessage::Button { button, stroke } => {
                let button = button_code(&button).with_context(|| {
                    format!("no button is called `{button}`: left, right, middle, side, extra or a code")
                })?;
                strokes(stroke, &[button], |button, pressed| InputEvent::Button { button, pressed })
            }
            InputMessage::Key { keys, stroke } => {
                let keys = keys.split('+').map(key).collect::<anyhow::Result<Vec<_>>>()?;
                strokes(stroke, &keys, |key, pressed| InputEvent::Key { key, pressed })
            }
            InputMessage::Touch(TouchMessage::Down { finger, x, y }) => vec![InputEvent::TouchDown { finger, x, y }],
            InputMessage::Touch(TouchMessage::Move { finger, x, y }) => vec![InputEvent::TouchMove { finger, x, y }],
            InputMessage::Touch(TouchMessage::Up { finger }) => vec![InputEvent::TouchUp { finger }],
            InputMessage::Pen(PenMessage::Near { x, y }) => vec![InputEvent::PenNear { x, y }],
            InputMessage::Pen(PenMessage::Down { x, y, pressure }) => vec![InputEvent::PenDown { x, y, pressure }],
            InputMessage::Pen(PenMessage::Move { x, y, pressure }) => vec![InputEvent::PenMove { x, y, pressure }],
            InputMessage::Pen(PenMessage::Up { x, y }) => vec![InputEvent::PenUp { x, y }],
            InputMessage::Pen(PenMessage::Away) => vec![InputEvent::PenAway],
        })
    }
}

fn key(name: &str) -> anyhow::Result<u32> {
    match key_code(name) {
        Some(code) => Ok(code),
        None if name.eq_ignore_ascii_case("mod") => {
            bail!("`{name}` is no key: it stands for Super, or for Alt in a nested session; name one of these")
        }
        None => bail!(
            "no key is called `{name}`: keys have the names of the configuration (A, Return, F5, Super, Page_Up), or code:N"
        ),
    }
}

/// Presses all keys in the order given, and releases them in the reverse order.
fn strokes(stroke: PressOrRelease, codes: &[u32], event: impl Fn(u32, bool) -> InputEvent) -> Vec<InputEvent> {
    let down = codes.iter().map(|code| event(*code, true));
    let up = codes.iter().rev().map(|code| event(*code, false));
    match stroke {
        PressOrRelease::Click => down.chain(up).collect(),
        PressOrRelease::Press => down.collect(),
        PressOrRelease::Release => up.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_held_together_go_down_in_order_and_up_in_reverse() {
        let events = InputMessage::Key { keys: "ctrl+c".to_owned(), stroke: PressOrRelease::Click }.events().unwrap();
        let key = |key, pressed| InputEvent::Key { key, pressed };
        assert_eq!(events, [key(29, true), key(46, true), key(46, false), key(29, false)]);
        let wrong =
            InputMessage::Key { keys: "ctrl+any".to_owned(), stroke: PressOrRelease::Click }.events().unwrap_err();
        assert!(wrong.to_string().contains("`any`"), "{wrong}");
        let wrong = InputMessage::Key { keys: "Mod+1".to_owned(), stroke: PressOrRelease::Click }.events().unwrap_err();
        assert!(wrong.to_string().contains("Super"), "{wrong}");
    }
}
