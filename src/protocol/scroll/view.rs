//! The requests of a view.

use std::sync::Arc;

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, New, Resource, WEnum};
use smithay::wayland::compositor;

use super::content::ContentObject;
use super::generated::upbeat_scroll_content_v1::UpbeatScrollContentV1;
use super::generated::upbeat_scroll_view_v1::{self as wire, Axes, Behavior, Error, Options, UpbeatScrollViewV1};
use super::{ViewObject, edit, one_axis};
use crate::bounds::DocumentUnit;
use crate::guard;
use crate::guard::Handlers;
use crate::output::scene::scrolling;
use crate::state::State;
use crate::surface::scroll::{MOST_CONTENTS, ScrollContent, ScrollInputs, ViewAxis, ViewContentRole, ViewState};
use upbeat_timing::scroll::{DocumentExtent, DocumentRegion, ScrollRequest};

/// Allowed deceleration of a fling: the share of its speed that it keeps from one millisecond to the next, in
/// thousandths.
const DECELERATION: std::ops::RangeInclusive<u32> = 900..=999;
/// The furthest that a view may be pulled beyond its document, in logical pixels.
const MOST_RUBBER_BAND: u32 = 1_000;
/// The version of a view from which on its ends may be stretched.
const STRETCHED_SINCE: u32 = 2;
/// Snap positions of a view at most: so many fill half of the largest message.
const MOST_SNAPS: usize = 512;

impl Dispatch<UpbeatScrollViewV1, ViewObject, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &UpbeatScrollViewV1,
        request: wire::Request,
        data: &ViewObject,
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use wire::Request;
        let Some(surface) = data.surface() else {
            if let Request::GetContent { id, .. } = request {
                init.init(id, ContentObject::inert());
            }
            return;
        };
        match request {
            Request::Destroy => end(state, &surface, data),
            Request::GetContent { id, surface: content } => get_content(object, &surface, &content, id, init),
            Request::SetDocument { x, y, width, height } => set_document(object, &surface, [x, y, width, height]),
            Request::SetAxes { axes } => match axes {
                WEnum::Value(axes) => edit(&surface, |view| {
                    view.axes = (axes.contains(Axes::Horizontal), axes.contains(Axes::Vertical));
                }),
                WEnum::Unknown(bits) => refuse(object, Error::InvalidAxes, bits, "bits that are no axis"),
            },
            Request::SetInputs { inputs } => {
                let bits = u32::from(inputs);
                match ScrollInputs::from_bits(bits) {
                    Some(inputs) => edit(&surface, |view| view.inputs = inputs),
                    None => refuse(object, Error::InvalidInputs, bits, "bits that are no input"),
                }
            }
            Request::SetPhysics { deceleration, rubber_band } => {
                set_physics(object, &surface, deceleration, rubber_band);
            }
            Request::SetSnaps { axis, positions } => set_snaps(object, &surface, axis, &positions),
            Request::SetOptions { options } => match options {
                WEnum::Value(options) if options.contains(Options::Stretched) && object.version() < STRETCHED_SINCE => {
                    refuse(object, Error::InvalidOptions, options.bits(), "an option of version 2");
                }
                WEnum::Value(options) => edit(&surface, |view| {
                    view.unpredicted = options.contains(Options::Unpredicted);
                    view.stretched = options.contains(Options::Stretched);
                }),
                WEnum::Unknown(bits) => refuse(object, Error::InvalidOptions, bits, "bits that are no option"),
            },
            Request::ScrollTo { x, y, behavior, serial } => {
                let Some(smoothly) = smoothly(object, behavior) else { return };
                let offset = (i64::from(x), i64::from(y));
                scrolling::move_view(state, &surface, ScrollRequest::To { offset, smoothly, serial });
            }
            Request::ScrollBy { x, y, behavior, serial } => {
                let Some(smoothly) = smoothly(object, behavior) else { return };
                let way = (i64::from(x), i64::from(y));
                scrolling::move_view(state, &surface, ScrollRequest::By { way, smoothly, serial });
            }
            Request::Stop => scrolling::move_view(state, &surface, ScrollRequest::Stop),
            Request::ReportOffsets { armed } => {
                if let Some(view) = state.surfaces.get_mut(&surface).and_then(|entry| entry.scroll_mut()) {
                    view.set_offset_events(armed != 0);
                }
            }
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, _object: &UpbeatScrollViewV1, data: &ViewObject) {
        if let Some(surface) = data.surface() {
            end(state, &surface, data);
        }
    }
}

/// Makes the surface an ordinary one from its next commit on.
fn end(state: &mut State, surface: &WlSurface, data: &ViewObject) {
    data.make_inert();
    guard::with_states(surface, |states| *states.cached_state.get::<ViewState>().pending() = ViewState::default());
    scrolling::end(state, surface);
}

fn refuse(object: &UpbeatScrollViewV1, error: Error, bits: u32, what: &str) {
    object.post_error(error, format!("{bits:#x} has {what}"));
}

fn get_content(
    object: &UpbeatScrollViewV1,
    view: &WlSurface,
    content: &WlSurface,
    id: New<UpbeatScrollContentV1>,
    init: &mut DataInit<'_, State>,
) {
    init.init(id, ContentObject::new(view, object, content));
    let (number, of_view) = (content.id().protocol_id(), view.id().protocol_id());
    if compositor::get_parent(content).as_ref() != Some(view) {
        let what = format!("wl_surface#{number} is no subsurface of the view's wl_surface#{of_view}");
        return object.post_error(Error::NotASubsurface, what);
    }
    let mut fault = None;
    edit(view, |view| {
        // Destroyed contents no longer count towards the limit.
        view.contents.retain(|content| content.surface.is_alive());
        if view.content(content).is_some() {
            fault = Some((Error::AlreadyExists, format!("wl_surface#{number} has a content object already")));
        } else if view.contents.len() == MOST_CONTENTS {
            let what = format!("wl_surface#{number} would be content {} of wl_surface#{of_view}", MOST_CONTENTS + 1);
            fault = Some((Error::TooManyContents, what));
        } else {
            view.contents.push(ScrollContent {
                surface: content.downgrade(),
                position: Default::default(),
                role: ViewContentRole::default(),
                track: Default::default(),
            });
        }
    });
    if let Some((error, what)) = fault {
        object.post_error(error, what);
    }
}

fn set_document(object: &UpbeatScrollViewV1, surface: &WlSurface, [x, y, width, height]: [i32; 4]) {
    let extent = |start: i32, length: i32| {
        let extent = DocumentExtent { start: i64::from(start), length: i64::from(length) };
        (length >= 0 && extent.end() <= DocumentUnit::MAX.get()).then_some(extent)
    };
    match extent(x, width).zip(extent(y, height)) {
        Some((x, y)) => edit(surface, |view| view.document = DocumentRegion { x, y }),
        None => object.post_error(
            Error::InvalidDocument,
            format!("a document of {width} × {height} at {x}, {y} is negative or ends beyond 32 bits"),
        ),
    }
}

fn set_physics(object: &UpbeatScrollViewV1, surface: &WlSurface, deceleration: u32, rubber_band: u32) {
    if !DECELERATION.contains(&deceleration) {
        let what = format!("a deceleration of {deceleration} thousandths is not from 900 to 999");
        return object.post_error(Error::InvalidPhysics, what);
    }
    if rubber_band > MOST_RUBBER_BAND {
        let what = format!("a rubber band of {rubber_band} is longer than {MOST_RUBBER_BAND}");
        return object.post_error(Error::InvalidPhysics, what);
    }
    edit(surface, |view| {
        view.physics.keeps = f64::from(deceleration) / 1e3;
        view.physics.rubber_band = rubber_band;
    });
}

fn set_snaps(object: &UpbeatScrollViewV1, surface: &WlSurface, axis: WEnum<Axes>, positions: &[u8]) {
    let Some(axis) = one_axis(axis) else {
        return refuse(object, Error::InvalidAxes, u32::from(axis), "not the bit of one axis");
    };
    let (numbers, rest) = positions.as_chunks::<4>();
    if !rest.is_empty() || numbers.len() > MOST_SNAPS {
        let what = format!("{} bytes are not at most {MOST_SNAPS} numbers of 32 bits", positions.len());
        return object.post_error(Error::InvalidSnap, what);
    }
    let numbers: Arc<[i32]> = numbers.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect();
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] > pair[1]) {
        return object.post_error(Error::InvalidSnap, format!("{} comes after {}", pair[1], pair[0]));
    }
    edit(surface, |view| match axis {
        ViewAxis::Horizontal => view.snaps.0 = numbers,
        ViewAxis::Vertical => view.snaps.1 = numbers,
    });
}

fn smoothly(object: &UpbeatScrollViewV1, behavior: WEnum<Behavior>) -> Option<bool> {
    match behavior {
        WEnum::Value(Behavior::Jump) => Some(false),
        WEnum::Value(Behavior::Glide) => Some(true),
        WEnum::Unknown(value) => {
            object.post_error(Error::InvalidBehavior, format!("{value} is no behavior"));
            None
        }
    }
}
