//! What is said over the private socket: one JSON object per line, a request and then its answer.
//!
//! ```text
//! → {"version":1,"request":{"kind":"set-pacing","target":{"output":"HEADLESS-1"},"pacing":"vsync"}}
//! ← {"version":1,"ok":{"kind":"done"}}
//! → {"version":1,"request":{"kind":"screenshot","output":"DP-9","path":"/tmp/a.png"}}
//! ← {"version":1,"error":"there is no output called DP-9; there is HEADLESS-1"}
//! ```
//!
//! Spans are in nanoseconds, as in the frame log. Readers ignore fields that they do not know. The version changes when
//! a field changes its meaning or goes away.

pub mod event;
pub mod input;
mod layer;
pub mod layouts;
mod mode;
mod output;
mod program;
mod request;
mod response;
mod statistics;
mod window;
pub mod workspace;

pub use layer::{Layer, LayerLevel};
pub use mode::{DEFAULT_REFRESH, ModeError, OutputMode, Refresh};
pub use output::{Output, Scan};
pub use program::{ClientUse, EndedClient, Use};
pub use request::Request;
pub use response::Response;
use serde::{Deserialize, Serialize};
pub use statistics::{CadenceStats, Frequency, Miss, OutputStats, WindowStats};
pub use window::Window;
pub use workspace::{Workspace, WorkspaceOrder};

use upbeat_timing::id::WindowId;

/// The version of this language.
pub const VERSION: u32 = 1;

/// A line from a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// [`VERSION`].
    pub version: u32,
    /// What is asked for.
    pub request: Request,
}

/// A line from the compositor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// [`VERSION`].
    pub version: u32,
    /// The answer, or what is wrong.
    #[serde(flatten)]
    pub result: Outcome,
}

/// Whether it worked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did.
    Ok(Response),
    /// It did not; a sentence for people.
    Error(String),
}

/// An output or a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// An output by its name.
    Output(String),
    /// A window by its number.
    Window(WindowId),
}

/// A rectangle in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

impl Question {
    /// A question in this version of the language.
    pub const fn new(request: Request) -> Self {
        Question { version: VERSION, request }
    }
}

impl Answer {
    /// An answer in this version of the language.
    pub fn new(result: Result<Response, String>) -> Self {
        let result = match result {
            Ok(response) => Outcome::Ok(response),
            Err(sentence) => Outcome::Error(sentence),
        };
        Answer { version: VERSION, result }
    }
}

#[cfg(test)]
mod tests;
