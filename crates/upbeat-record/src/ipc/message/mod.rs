//! The protocol of the private socket: one JSON object per line, a request and then its answer.
//!
//! ```text
//! → {"version":1,"request":{"kind":"set-pacing","target":{"output":"HEADLESS-1"},"pacing":"vsync"}}
//! ← {"version":1,"ok":{"kind":"done"}}
//! → {"version":1,"request":{"kind":"screenshot","output":"DP-9","path":"/tmp/a.png"}}
//! ← {"version":1,"error":"there is no output called DP-9; there is HEADLESS-1"}
//! ```
//!
//! Spans are in nanoseconds, as in the frame log. Readers ignore fields that they do not know. The version changes if
//! the meaning of a field changes or a field is removed.

mod client_use;
pub mod event;
pub mod input;
mod layer;
pub mod layouts;
mod mode;
mod output;
mod request;
mod response;
mod statistics;
mod window;
mod window_layout;
pub mod workspace;
pub mod workspace_name;

pub use client_use::{ClientUse, EndedClient, ResourceUse};
pub use layer::{LayerInfo, LayerLevel};
pub use mode::{DEFAULT_REFRESH, ModeError, OutputMode, RefreshRate};
pub use output::{DisabledOutput, DriverFeatures, OutputInfo, OutputRotation, ScanTiming, VirtualMonitor};
pub use request::Request;
pub use response::Response;
use serde::{Deserialize, Serialize};
pub use statistics::{CadenceStats, Frequency, Miss, OutputStats, WindowStats};
pub use window::WindowInfo;
pub use window_layout::{ColumnPosition, SnappedPart, WindowLayout, WindowMode};
pub use workspace::{WorkspaceInfo, WorkspaceOrder};

use upbeat_timing::id::WindowId;

/// The version of this protocol.
pub const VERSION: u32 = 1;

/// A line that a client sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestLine {
    /// Version of the protocol ([`VERSION`]).
    pub version: u32,
    /// The request, with its arguments.
    pub request: Request,
}

/// A line that the compositor answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseLine {
    /// Version of the protocol ([`VERSION`]).
    pub version: u32,
    /// The response, or the error.
    #[serde(flatten)]
    pub result: RequestResult,
}

/// Result of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RequestResult {
    /// The request succeeded, with this response.
    Ok(Response),
    /// The request failed, for this reason: a sentence for the user.
    Error(String),
}

/// An output or a window, as the object of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutputOrWindow {
    /// An output by its name.
    Output(String),
    /// A window by its number.
    Window(WindowId),
}

/// A rectangle in global logical coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogicalRect {
    /// Left edge in logical pixels.
    pub x: i32,
    /// Top edge in logical pixels.
    pub y: i32,
    /// Width in logical pixels.
    pub width: i32,
    /// Height in logical pixels.
    pub height: i32,
}

impl RequestLine {
    /// A line with `request`, of this version of the protocol.
    pub const fn new(request: Request) -> Self {
        RequestLine { version: VERSION, request }
    }
}

impl ResponseLine {
    /// A line with `result`, of this version of the protocol.
    pub fn new(result: Result<Response, String>) -> Self {
        let result = match result {
            Ok(response) => RequestResult::Ok(response),
            Err(sentence) => RequestResult::Error(sentence),
        };
        ResponseLine { version: VERSION, result }
    }
}

#[cfg(test)]
mod tests;
