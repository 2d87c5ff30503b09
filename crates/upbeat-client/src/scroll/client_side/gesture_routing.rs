//! Assigns each gesture to one of the nested views when it begins, and scrolls this view.

use std::sync::{Arc, Weak};

use wayland_client::WEnum;
use wayland_client::protocol::wl_pointer::{self, ButtonState};
use wayland_client::protocol::wl_touch;

use super::axis_events::{AxisDevice, AxisFrame, ScrollStep, event_time};
use super::layout::content_region;
use super::{ClientViewState, ContentPlacement, SharedView, WeakView, lock, motion_terms};
use upbeat_timing::scroll::{ScrollDistance, ScrollRequest};
use upbeat_timing::time::{Instant, Span};

/// A finger that moves further than this drags; a shorter movement is a tap. In surface coordinates.
const SLOP: f64 = 8.0;
/// After such a pause, turning the wheel is a new gesture, which goes to the view that is below the pointer then.
const WHEEL_PAUSE: Span = Span::from_millis(300);

/// State of the pointer and the fingers of a seat on the outermost view.
#[derive(Clone, Debug, Default)]
pub(super) struct GestureRouter {
    /// Position of the pointer while it is on the view.
    pointer: Option<(f64, f64)>,
    axes: AxisFrame,
    gesture: Option<ViewGesture>,
    finger: Option<DraggingFinger>,
    /// Number of fingers that are down.
    fingers: u32,
}

#[derive(Clone, Debug)]
struct ViewGesture {
    source: AxisDevice,
    /// The view that scrolls; `None`: the gesture is left to the program.
    view: Option<WeakView>,
    last: Instant,
}

#[derive(Clone, Debug)]
struct DraggingFinger {
    id: i32,
    /// Position at which it went down.
    start: (f64, f64),
    last: (f64, f64),
    /// The view that it drags, once decided.
    drags: Option<WeakView>,
    is_decided: bool,
}

impl GestureRouter {
    pub fn pointer(&mut self, root: &SharedView, event: &wl_pointer::Event) -> bool {
        use wl_pointer::Event;
        match event {
            Event::Enter { surface, surface_x, surface_y, .. } => {
                self.pointer = (*surface == lock(root).surface).then_some((*surface_x, *surface_y));
            }
            Event::Motion { surface_x, surface_y, .. } => {
                self.pointer = self.pointer.map(|_| (*surface_x, *surface_y));
            }
            Event::Leave { .. } => self.pointer = None,
            Event::Button { state: WEnum::Value(ButtonState::Pressed), .. } => {
                if let Some(at) = self.pointer {
                    stop(&views_at(root, at));
                }
            }
            _ => {
                let scrolled = self.axes.event(event);
                return scrolled.is_some_and(|scrolled| self.scroll(root, scrolled));
            }
        }
        false
    }

    fn scroll(&mut self, root: &SharedView, scrolled: ScrollStep) -> bool {
        let at = event_time(scrolled.millis, lock(root).current_time());
        let ScrollStep { source, way, lifted, .. } = scrolled;
        let goes_on = |gesture: &ViewGesture| {
            gesture.source == source && (source == AxisDevice::Finger || at.since(gesture.last) < WHEEL_PAUSE)
        };
        let pulls = source == AxisDevice::Finger;
        let view = match self.gesture.take().filter(goes_on) {
            Some(gesture) => gesture.view,
            None => {
                let wishes = |own: &ClientViewState| if pulls { own.options.finger } else { own.options.wheel };
                self.pointer.and_then(|at| innermost_scrollable(&views_at(root, at), way, pulls, wishes))
            }
        };
        if !lifted {
            self.gesture = Some(ViewGesture { source, view: view.clone(), last: at });
        }
        let Some(view) = view.and_then(|view| view.upgrade()) else { return false };
        let movement = match source {
            _ if lifted => ScrollRequest::Release,
            AxisDevice::Finger => ScrollRequest::Drag(way),
            AxisDevice::Wheel => ScrollRequest::Wheel(way),
        };
        lock(&view).start_movement(at, movement);
        true
    }

    pub fn touch(&mut self, root: &SharedView, event: &wl_touch::Event) -> bool {
        use wl_touch::Event;
        let now = lock(root).current_time();
        match event {
            Event::Down { surface, id, x, y, .. } => {
                if *surface != lock(root).surface {
                    return false;
                }
                self.fingers += 1;
                let start = (*x, *y);
                stop(&views_at(root, start));
                // Gestures with two fingers are left to the program.
                let is_first = self.fingers == 1;
                let undecided = DraggingFinger { id: *id, start, last: start, drags: None, is_decided: false };
                match &mut self.finger {
                    Some(other) => other.is_decided = true,
                    None if is_first => self.finger = Some(undecided),
                    None => {}
                }
                false
            }
            Event::Motion { id, time, x, y } => self.moved(root, *id, event_time(*time, now), (*x, *y)),
            Event::Up { id, time, .. } => {
                self.fingers = self.fingers.saturating_sub(1);
                let Some(finger) = self.finger.take_if(|finger| finger.id == *id) else { return false };
                let Some(view) = finger.drags.and_then(|view| view.upgrade()) else { return false };
                lock(&view).start_movement(event_time(*time, now), ScrollRequest::Release);
                true
            }
            Event::Cancel => {
                self.fingers = 0;
                let finger = self.finger.take();
                let Some(view) = finger.and_then(|finger| finger.drags?.upgrade()) else { return false };
                let mut view = lock(&view);
                view.start_movement(now, ScrollRequest::Release);
                view.start_movement(now, ScrollRequest::Stop);
                true
            }
            _ => false,
        }
    }

    fn moved(&mut self, root: &SharedView, id: i32, at: Instant, to: (f64, f64)) -> bool {
        let Some(finger) = self.finger.as_mut().filter(|finger| finger.id == id) else { return false };
        let before = std::mem::replace(&mut finger.last, to);
        // The content follows the finger, so the offset of the view changes in the opposite direction.
        let way = |from: (f64, f64)| ScrollDistance { x: from.0 - to.0, y: from.1 - to.1 };
        if let Some(view) = &finger.drags {
            if let Some(view) = view.upgrade() {
                lock(&view).start_movement(at, ScrollRequest::Drag(way(before)));
            }
            return true;
        }
        let gone = way(finger.start);
        if finger.is_decided || gone.x.hypot(gone.y) <= SLOP {
            return false;
        }
        finger.is_decided = true;
        finger.drags = innermost_scrollable(&views_at(root, finger.start), gone, true, |own| own.options.drag);
        let Some(view) = finger.drags.as_ref().and_then(Weak::upgrade) else { return false };
        // Start from here, without catching up: a jump by the distance that told the drag from a tap would be visible.
        lock(&view).start_movement(at, ScrollRequest::Drag(ScrollDistance::default()));
        true
    }
}

/// The nested views at a point, outermost first.
fn views_at(root: &SharedView, at: (f64, f64)) -> Vec<SharedView> {
    let mut path = vec![root.clone()];
    let mut at = at;
    while let Some((inner, inside)) = path.last().and_then(|view| nested_at(&lock(view), at)) {
        path.push(inner);
        at = inside;
    }
    path
}

/// The nested view at a point, and the point in the coordinates of this view.
fn nested_at(own: &ClientViewState, (x, y): (f64, f64)) -> Option<(SharedView, (f64, f64))> {
    let (clip, ranges) = (own.clip(), motion_terms(&own.options).ranges());
    let inside = |extent: super::DocumentExtent, at: f64| (extent.start as f64..extent.end() as f64).contains(&at);
    let content = own.contents.iter().rev().find(
        |content| matches!(content.shown, ContentPlacement::Seen(placed) if inside(placed.region.x, x) && inside(placed.region.y, y)),
    )?;
    let view = content.nested.as_ref()?.upgrade()?;
    if !inside(clip.x, x) || !inside(clip.y, y) {
        return None;
    }
    let lies = content_region(content.picture.as_ref()?.region, content.role, own.offset, ranges);
    Some((view, (x - lies.x.start as f64, y - lies.y.start as f64)))
}

/// The innermost view that can scroll in this direction.
fn innermost_scrollable(
    path: &[SharedView],
    way: ScrollDistance,
    pulls: bool,
    wishes: impl Fn(&ClientViewState) -> bool,
) -> Option<WeakView> {
    let can = |view: &&SharedView| {
        let own = lock(view);
        let along = motion_terms(&own.options).along(way);
        wishes(&own) && along != ScrollDistance::default() && own.machine.can_go(along, pulls)
    };
    path.iter().rev().find(can).map(Arc::downgrade)
}

/// Stops the views that move by themselves, such as in a fling.
fn stop(path: &[SharedView]) {
    for view in path {
        let mut own = lock(view);
        if own.machine.is_active() && !own.machine.is_dragged() {
            let now = own.current_time();
            own.start_movement(now, ScrollRequest::Stop);
        }
    }
}
