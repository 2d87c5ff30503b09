//! What is done to a world, step by step, so that it can be done again, and with some of the steps left out.

use serde::{Deserialize, Serialize};

use crate::descriptors::Descriptor;

/// What a script is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Well-formed requests.
    Requests,
    /// The same, with bytes that are changed on the way.
    Bytes,
}

impl Kind {
    pub const ALL: [(&str, Kind); 2] = [("requests", Kind::Requests), ("bytes", Kind::Bytes)];

    pub fn called(word: &str) -> Kind {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind).unwrap()
    }

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map(|(word, _)| *word).unwrap()
    }
}

/// An object, whatever its number is in the run at hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Name {
    Display,
    Registry,
    /// Made by a step.
    Made(u32),
    /// Made by the compositor: of which kind, and the how manieth of the connection.
    Given(String, u32),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Argument {
    /// A number of any kind.
    Word(u32),
    /// A serial that was heard: the last, the one before, and so on.
    Serial(u32),
    /// What an xdg_surface is to acknowledge.
    Configure,
    Text(Option<String>),
    Bytes(Vec<u8>),
    File(Descriptor),
    Object(Option<Name>),
    New(u32),
    /// A global, by its interface, in a version.
    Bind(String, u32, u32),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    pub to: Name,
    pub opcode: u16,
    /// For people.
    pub called: String,
    pub arguments: Vec<Argument>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    Connect(usize),
    Leave(usize),
    Request(usize, Request),
    /// Of what a client is about to send, some bytes are others.
    Mangle(usize, u32, Change),
    /// What was said is heard.
    Turn,
    /// So many milliseconds pass.
    Pass(u32),
    Point(i32, i32),
    Button(bool),
    Key(u32, bool),
    Scroll(i32),
    Touch(u32, i32, i32),
    Lift(u32),
    Unplug,
    Plug,
    /// The outputs go dark, or are lit: as when somebody else has the seat for a while.
    Light(bool),
    /// The second output has another rate (mHz).
    Rate(u32),
    /// Another configuration comes in force: see [`play`](crate::play).
    Reload(usize),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Change {
    Word(u32),
    Flip(u8),
    Insert(u32),
    Remove(u32),
}
