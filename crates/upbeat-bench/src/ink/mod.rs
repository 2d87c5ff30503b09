//! `upbeat bench ink`: how old the ink under a hand is when its row of the screen is lit, from recorded pixels.
//!
//! ```text
//!  hand      ×  ×  ×  ×  ×  ×         reports of a pen, a finger or a mouse, at their own times
//!               └────────┐
//!  client           call ─▓▓▓▓▓ commit            a dot where the hand is (or will be), and a code beside it
//!                                   │
//!  screen            ───────────────┴─ present ┬──────── rows ────────►
//!                                              └ the code's row is lit: event→row, age
//! ```
//!
//! | figure | what it is |
//! |---|---|
//! | event→row | each report to the light of the first picture of its row that knows of it |
//! | age | of the newest report in a picture, when its row is lit for the first time |
//! | event→line 0 | the first, as if the row were the topmost: what whole pictures are compared by |
//! | missed | refreshes that showed nothing new while the hand moved |
//! | backwards | pictures that know less than one before |
//! | position error | from where the dot is to where the hand is when that row is lit |
//! | overshoot | how far beyond the hand the dot is, of what a prediction put there |
//!
//! A row is lit when the beam is at it: `present` and as many lines as lie above. Slack must not hide in a figure of line 0.
//!
//! | file | what it knows |
//! |---|---|
//! | `path` | where hands go: recordings, and one of 1 kHz (pure) |
//! | `hand` | a thread that plays one: a pointer, a finger or a pen |
//! | `sheet` | the client: ink under the hand |
//! | `targets` | two frames for a refresh |
//! | `followed` | the same on a surface of its own, which follows the pointer |
//! | `ahead`, `front` | the same in the picture on screen, ahead of the beam |
//! | `dispatch` | its events |
//! | `marker` | what a picture says of itself, beside the hand |
//! | `film` | the pictures of a recording |
//! | `figures` | what follows from both (pure) |
//! | `driver` | the runs, each in a session of its own |

mod ahead;
mod dispatch;
mod driver;
mod figures;
mod film;
mod followed;
mod front;
mod hand;
mod marker;
mod path;
mod sheet;
mod targets;

pub use driver::{InkOptions, InkReport, Mode, table};
pub use figures::{InkRun, Pixels};
pub use sheet::{SheetError, SheetOptions, SheetReport, run};
