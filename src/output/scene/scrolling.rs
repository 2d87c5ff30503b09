//! Scroll views: each latch of their output moves them to their offsets in the chosen frame.

use smithay::backend::renderer::{BufferType, buffer_type};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor;

use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::scene::plane_choice::PlaneRefusal;
use crate::output::scene::planes::PlaneChoice;
use crate::render::UpcomingContent;
use crate::scene::{Layer, Scene};
use crate::state::State;
use crate::surface::content::SurfaceContent;
use crate::surface::scroll::{self, ScrollListener, ScrollModeReason, ViewScrollMode};
use crate::surface::tree::find_downward;
use crate::surface::{self, SurfaceEntry, SurfaceRegistry};
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::record::RepaintReason;
use upbeat_timing::scroll::{ScrollRequest, ViewLatch, ViewPosition};
use upbeat_timing::target::Target;
use upbeat_timing::time::{Clock, Instant, Span};

use std::sync::Arc;

/// The offset of a view in a frame, to be reported to its client.
#[derive(Debug)]
pub(in crate::output) struct ViewReport {
    listener: Arc<dyn ScrollListener>,
    at: ViewPosition,
}

impl ViewReport {
    /// Reports the offset after the frame was presented.
    pub fn presented(&self, present: Instant) {
        self.listener.send_offset(self.at, present);
    }
}

/// Applies a movement to the view of `surface` now.
pub fn move_view(state: &mut State, surface: &WlSurface, movement: ScrollRequest) {
    let now = state.clock.now();
    move_view_at(state, surface, now, movement);
}

/// Applies a movement at the time of the input event that caused it.
pub fn move_view_at(state: &mut State, surface: &WlSurface, at: Instant, movement: ScrollRequest) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let Some(view) = entry.scroll_mut() else { return };
    view.request_movement(surface, at, movement);
    let home = moving_output(&state.surfaces, &state.outputs, surface);
    if let Some(output) = home.and_then(|id| state.outputs.by_id_mut(id)) {
        if output.scrolls && output.are_views_foreseen {
            // The frames ahead go on with the fling. None stays as insurance, since the view would then jump back.
            let machine = output.conductor.output_mut();
            machine.drop_ahead();
            machine.withdraw_held();
        }
        output.schedule_repaint(RepaintReason::Scroll);
    }
}

/// The client destroyed its view of `surface`: frames that show it further on are outdated.
pub fn end(state: &mut State, surface: &WlSurface) {
    let view = state.surfaces.get_mut(surface).and_then(|entry| entry.take_scroll());
    if view.is_some_and(|view| view.is_active()) {
        schedule_repaint(state, surface);
    }
}

/// Schedules a repaint of the output that moves the view of `surface`.
fn schedule_repaint(state: &mut State, surface: &WlSurface) {
    let home = moving_output(&state.surfaces, &state.outputs, surface);
    if let Some(output) = home.and_then(|id| state.outputs.by_id_mut(id)) {
        output.schedule_repaint(RepaintReason::Scroll);
    }
}

/// The output that moves the view of `surface`: an output that shows the view or the contents that cover it. Of
/// several, the output that paces it.
fn moving_output(surfaces: &SurfaceRegistry, outputs: &Outputs, surface: &WlSurface) -> Option<OutputId> {
    let paced_by = surfaces.get(surface).and_then(|entry| entry.output());
    let shows = |output: &&OutputState| {
        let has = |part: &WlSurface| output.scene_cache.contains(part) == Some(true);
        output.on && (has(surface) || compositor::get_children(surface).iter().any(has))
    };
    let by_pacing = paced_by.and_then(|id| outputs.by_id(id)).filter(shows);
    by_pacing.or_else(|| outputs.states().find(shows)).map(|output| output.id).or(paced_by).or(outputs.first())
}

/// The origin of `surface` on screen (global logical coordinates), from its own layer. If the surface is hidden, the
/// origin is derived from another surface of its window. `near`: a point on the screen.
pub fn origin_on_screen(state: &State, surface: &WlSurface, near: Point<f64, Logical>) -> Option<Point<f64, Logical>> {
    let layers = || state.outputs.states().flat_map(|output| &output.on_screen.layers);
    let seen = || layers().filter(|layer| layer.snapshot.is_none());
    let origin = |layer: &Layer| near - layer.to_surface(near);
    if let Some(layer) = seen().find(|layer| layer.surface == *surface) {
        return Some(origin(layer));
    }
    let root = surface::root(surface);
    let other = seen().find(|layer| surface::root(&layer.surface) == root)?;
    let place = |of: &WlSurface| find_downward(&root, &mut |surface, _, place| (surface == of).then_some(place.origin));
    Some(origin(other) + (place(surface)? - place(&other.surface)?))
}

/// Continues a moving view on the output that shows it, unless that output is about to show a frame anyway.
fn continue_view(state: &mut State, surface: &WlSurface) {
    if state.surfaces.get(surface).and_then(|entry| entry.scroll()).is_none_or(|view| !view.is_active()) {
        return;
    }
    let home = moving_output(&state.surfaces, &state.outputs, surface);
    let output = home.and_then(|id| state.outputs.by_id_mut(id));
    if let Some(output) = output.filter(|output| output.conductor.output().repaint_reason().is_none()) {
        output.schedule_repaint(RepaintReason::Scroll);
    }
}

/// Moves the views of output `id` to their offsets in the frame that is shown at `present`, at this distance from the
/// previous frame.
pub(in crate::output) fn latch(state: &mut State, id: OutputId, (present, interval): (Instant, Span)) {
    let now = state.clock.now();
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let mut ours = std::mem::take(&mut output.latched_views);
    ours.clear();
    let concerned = |entry: &&SurfaceEntry| entry.scroll().is_some_and(|view| view.needs_latch());
    ours.extend(state.surfaces.awake().filter(concerned).map(|entry| entry.surface().clone()));
    ours.retain(|view| {
        let is_here = moving_output(&state.surfaces, &state.outputs, view) == Some(id);
        if !is_here {
            // The view may have moved to another output since its last request.
            continue_view(state, view);
        }
        is_here
    });
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let scale = output.output.current_scale().fractional_scale();
    (output.scrolls, output.are_views_foreseen, output.keeps_content) = (false, true, false);
    output.reports.clear();
    let OutputState { scrolls, are_views_foreseen, keeps_content: keeps, reports, .. } = output;
    let whole = state.surfaces.supply();
    let (mut moved, mut touched) = (false, Vec::new());
    for surface in &ours {
        let Some(view) = state.surfaces.get_mut(surface).and_then(|entry| entry.scroll_mut()) else { continue };
        view.set_supply(whole);
        let answer = view.latch(surface, ViewLatch { now, present, interval, scale });
        moved |= answer.moved;
        touched.extend(answer.touched.then_some(surface));
        *scrolls |= answer.goes_on;
        *are_views_foreseen &= answer.is_foreseen || !answer.goes_on;
        *keeps |= !view.kept().is_empty();
        reports.extend(answer.reported.map(|at| ViewReport { listener: view.listener().clone(), at }));
    }
    if moved {
        state.shell.note_change();
    }
    announce_uploads(&state.outputs, &touched);
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.latched_views = ours;
    }
}

/// Tells the clients of views how `scene` shows their contents: of the views that the last latch looked at, or of all
/// views if other layers are on planes than before. `choice`: the planes that were chosen for it; `None` if it is on
/// screen already.
pub(in crate::output) fn report_modes(
    output: &OutputState,
    surfaces: &mut SurfaceRegistry,
    scene: &Scene,
    choice: Option<&PlaneChoice>,
) {
    let (now, before) = (&scene.layers, &output.drawn_scene.layers);
    let is_same = |(now, before): (&Layer, &Layer)| now.plane == before.plane;
    let uses_planes = [now, before].into_iter().flatten().any(|layer| layer.plane.is_some());
    let are_others = uses_planes && !(now.len() == before.len() && now.iter().zip(before).all(is_same));
    let views = surfaces.iter().filter(|entry| are_others && entry.scroll().is_some());
    let all: Vec<WlSurface> = views.map(|entry| entry.surface().clone()).collect();
    let uniform = choice.and_then(PlaneChoice::refusal_of_all).map(reason_of);
    for surface in if are_others { &all } else { &output.latched_views } {
        let known = surfaces.get(surface).and_then(|entry| entry.scroll()).and_then(|view| view.path());
        if uniform.is_some_and(|reason| known == Some((ViewScrollMode::Composited, reason))) {
            continue;
        }
        let contents = scroll::document_contents(surface);
        let mut seen =
            scene.layers.iter().enumerate().filter(|(_, layer)| contents.contains(&layer.surface)).peekable();
        if seen.peek().is_none() {
            continue;
        }
        let (mode, reason) = match seen.find(|(_, layer)| layer.plane.is_none()) {
            None => (ViewScrollMode::Overlay, ScrollModeReason::Policy),
            Some((index, _)) => {
                let reason = choice.map_or(ScrollModeReason::Policy, |choice| reason_of(choice.refusal(scene, index)));
                (ViewScrollMode::Composited, reason)
            }
        };
        let view = surfaces.get_mut(surface).and_then(|entry| entry.scroll_mut());
        if let Some(view) = view.filter(|_| choice.is_some() || known.is_none()) {
            view.note_path(mode, reason);
        }
    }
}

const fn reason_of(refusal: PlaneRefusal) -> ScrollModeReason {
    match refusal {
        PlaneRefusal::Policy => ScrollModeReason::Policy,
        PlaneRefusal::NoPlane => ScrollModeReason::NoPlane,
        PlaneRefusal::Buffer => ScrollModeReason::Buffer,
        PlaneRefusal::Appearance => ScrollModeReason::Appearance,
        PlaneRefusal::Covered => ScrollModeReason::Covered,
        PlaneRefusal::Refused => ScrollModeReason::Refused,
    }
}

/// The offsets of the views of output `id` in the later frame for `target`; `None` if more than time decides about one of
/// them.
pub(in crate::output) fn foresee(state: &State, id: OutputId, target: Target) -> Option<Vec<ForeseenOffset>> {
    let Some(output) = state.outputs.by_id(id).filter(|output| output.scrolls) else { return Some(Vec::new()) };
    let (now, scale) = (state.clock.now(), output.output.current_scale().fractional_scale());
    let later = ViewLatch { now, present: target.present, interval: target.interval, scale };
    let mut offsets = Vec::new();
    for surface in output.latched_views.iter().filter(|_| output.are_views_foreseen) {
        let Some(view) = state.surfaces.get(surface).and_then(|entry| entry.scroll()) else { continue };
        if view.is_active() {
            offsets.push(ForeseenOffset { offset: view.foresee(surface, later)?, surface: surface.clone() });
        }
    }
    (!offsets.is_empty()).then_some(offsets)
}

/// The offset of a view in a later frame.
#[derive(Debug)]
pub(in crate::output) struct ForeseenOffset {
    surface: WlSurface,
    offset: Point<f64, Logical>,
}

/// Calls `choose` while views are at foreseen offsets.
pub(in crate::output) fn at_offsets<T>(offsets: &[ForeseenOffset], choose: impl FnOnce() -> T) -> T {
    let set = |surface: &WlSurface, offset| {
        crate::guard::with_states(surface, |states| {
            let before = scroll::offset(states);
            scroll::set_offset(states, offset);
            before
        })
    };
    let before: Vec<_> = offsets.iter().map(|view| set(&view.surface, view.offset)).collect();
    let chosen = choose();
    offsets.iter().zip(before).for_each(|(view, before)| {
        set(&view.surface, before);
    });
    chosen
}

/// A frame that was rendered ahead is about to be shown: moves the views to where it shows them.
pub(in crate::output) fn follow_frame(state: &mut State, id: OutputId, frame: FrameId) {
    let Some(output) = state.outputs.by_id(id).filter(|output| output.scrolls) else { return };
    // The vsync estimate may have moved since the frame was recorded, so its own times count.
    let Some(shown) = output.conductor.output().frames().get(frame) else { return };
    let times = (shown.content.record.present, shown.content.record.interval);
    latch(state, id, times);
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let reports = std::mem::take(&mut output.reports);
    if let Some(frame) = output.conductor.output_mut().frames_mut().get_mut(frame) {
        frame.content.reports = reports;
    }
}

/// Uploads the contents that these views show or will show before they become visible, if the renderer uploads shared
/// memory.
fn announce_uploads(outputs: &Outputs, views: &[&WlSurface]) {
    let Some(renderer) = outputs.renderer.as_ref().filter(|renderer| renderer.must_upload() && !views.is_empty())
    else {
        return;
    };
    let is_shared = |content: &SurfaceContent| matches!(buffer_type(&content.buffer), Some(BufferType::Shm));
    let contents = views.iter().flat_map(|view| scroll::by_distance(view)).filter(|(content, _)| is_shared(content));
    let ahead = contents.map(|(content, near)| {
        let SurfaceContent { surface, buffer, damage, .. } = content;
        UpcomingContent { surface, buffer, damage, near }
    });
    renderer.announce(ahead.collect(), outputs.render_ping.clone());
}

/// After a latch: schedules the next frame while a view is moving.
pub(in crate::output) fn schedule_next_frame(output: &mut OutputState) {
    if output.scrolls {
        // Frames that are rendered ahead use no planes.
        let uses_planes = output.drawn_scene.layers.iter().any(|layer| layer.plane.is_some());
        let is_foreseen = output.are_views_foreseen && !uses_planes;
        output.schedule_repaint(if is_foreseen { RepaintReason::Fling } else { RepaintReason::Scroll });
    }
}
