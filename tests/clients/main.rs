//! Real Wayland clients against the whole shell, over socket pairs in one thread. Nothing runs by itself: time is
//! what a test says, and the world moves when a test calls `settle`.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod fixture;

mod animated_layers;
mod animations;
mod bad_input;
mod bounds;
mod capture;
mod data_control;
mod decorations;
mod descriptors;
mod dmabuf;
mod drawing;
mod dying;
mod early_callbacks;
mod ext_workspace;
mod faults;
mod floor;
mod focus;
mod foreign;
mod frame_pacing;
mod gamma;
mod idle;
mod layers;
mod lock;
mod neighbours;
mod notices;
mod output_management;
mod output_power;
mod outputs;
mod overview;
mod pointer;
mod popups;
mod recordings;
mod refreshes;
mod rendering;
mod sandbox;
mod scroll;
mod selection;
mod shortcuts;
mod stated;
mod stopped;
mod subsurfaces;
mod text;
mod tools;
mod toplevels;
mod undrawable;
mod updates;
mod virtual_devices;
mod waiting_keymaps;
mod windows;
mod workspaces;
