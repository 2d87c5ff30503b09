//! Scripts: the steps of a run, so that it can be repeated, also with some of the steps left out.

use serde::{Deserialize, Serialize};

use crate::descriptors::Descriptor;

/// Kind of random input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    Requests,
    /// Well-formed requests whose bytes are changed before they are sent.
    Bytes,
}

impl ScriptKind {
    pub const ALL: [(&str, ScriptKind); 2] = [("requests", ScriptKind::Requests), ("bytes", ScriptKind::Bytes)];

    pub fn called(word: &str) -> ScriptKind {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind).unwrap()
    }

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map(|(word, _)| *word).unwrap()
    }
}

/// An object by a stable name, since its id differs from run to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ObjectName {
    Display,
    Registry,
    /// Created by a step.
    Made(u32),
    /// Created by the compositor: its interface, and its number in order of creation on this connection.
    Given(String, u32),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Argument {
    /// A number of any kind.
    Word(u32),
    /// A received serial: 0 is the latest, 1 is the serial before it, and so on.
    Serial(u32),
    /// The serial of the last configure of an xdg_surface.
    Configure,
    Text(Option<String>),
    Bytes(Vec<u8>),
    File(Descriptor),
    Object(Option<ObjectName>),
    New(u32),
    /// A global: interface, version and the new object's name.
    Bind(String, u32, u32),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RawRequest {
    pub to: ObjectName,
    pub opcode: u16,
    /// `interface.request`, for human readers of the script.
    pub called: String,
    pub arguments: Vec<Argument>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ScriptStep {
    Connect(usize),
    Leave(usize),
    Request(usize, RawRequest),
    /// Changes bytes of a client's unsent requests.
    Mangle(usize, u32, ByteChange),
    /// One turn of the loop: the sent requests are dispatched.
    Turn,
    /// Milliseconds that pass.
    Pass(u32),
    Point(i32, i32),
    Button(bool),
    Key(u32, bool),
    Scroll(i32),
    Touch(u32, i32, i32),
    Lift(u32),
    Unplug,
    Plug,
    /// The outputs are turned off or on, as in a VT switch.
    Light(bool),
    /// The second output changes its refresh rate (mHz).
    Rate(u32),
    /// Another configuration is loaded: see [`play`](crate::play).
    Reload(usize),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum ByteChange {
    Word(u32),
    Flip(u8),
    Insert(u32),
    Remove(u32),
}
