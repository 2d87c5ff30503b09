//! Assigns each gesture to one of the nested views when it begins, and scrolls this view.

use std::sync::{Arc, Weak};

use wayland_client::WEnum;
use wayland_client::protocol::wl_pointer::{self, ButtonState};
use wayland_client::protocol::wl_touch;

use super::gesture::{AxisFrame, Scrolled, Source, moment};
use super::layout::lies;
use super::{Own, SharedView, Shown, WeakView, lock, terms};
use upbeat_timing::scroll::{Movement, Way};
use upbeat_timing::time::{Instant, Span};

/// A finger that moves further than this drags; a shorter movement is a tap. In surface coordinates.
const SLOP: f64 = 8.0;
/// After such a pause, turning the wheel is a new gesture, which goes to the view that is below the pointer then.
const WHEEL_PAUSE: Span = Span::from_millis(300);

/// State of the pointer and the fingers of a seat on the outermost view.
#[derive(Clone, Debug, Default)]
pub(super) struct Hand {
    /// Position of the pointer while it is on the view.
    pointer: Option<(f64, f64)>,
    axes: AxisFrame,
    gesture: Option<Gesture>,
    finger: Option<Finger>,
    /// Number of fingers that are down.
    fingers: u32,
}

#[derive(Clone, Debug)]
struct Gesture {
    source: Source,
    /// The view that scrolls; `None`: the gesture is left to the program.
    view: Option<WeakView>,
    last: Instant,
}

#[derive(Clone, Debug)]
struct Finger {
    id: i32,
    /// Position at which it went down.
    start: (f64, f64),
    last: (f64, f64),
    /// The view that it drags, once decided.
    drags: Option<WeakView>,
    is_decided: bool,
}

impl Hand {
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
                    stop(&path(root, at));
                }
            }
            _ => {
                let scrolled = self.axes.event(event);
                return scrolled.is_some_and(|scrolled| self.scroll(root, scrolled));
            }
        }
        false
    }

    fn scroll(&mut self, root: &SharedView, scrolled: Scrolled) -> bool {
        let at = moment(scrolled.millis, lock(root).moment());
        let Scrolled { source, way, lifted, .. } = scrolled;
        let goes_on = |gesture: &Gesture| {
            gesture.source == source && (source == Source::Finger || at.since(gesture.last) < WHEEL_PAUSE)
        };
        let pulls = source == Source::Finger;
        let view = match self.gesture.take().filter(goes_on) {
            Some(gesture) => gesture.view,
            None => {
                let wishes = |own: &Own| if pulls { own.options.finger } else { own.options.wheel };
                self.pointer.and_then(|at| choose(&path(root, at), way, pulls, wishes))
            }
        };
        if !lifted {
            self.gesture = Some(Gesture { source, view: view.clone(), last: at });
        }
        let Some(view) = view.and_then(|view| view.upgrade()) else { return false };
        let movement = match source {
            _ if lifted => Movement::LetGo,
            Source::Finger => Movement::Pull(way),
            Source::Wheel => Movement::Turn(way),
        };
        lock(&view).ask(at, movement);
        true
    }

    pub fn touch(&mut self, root: &SharedView, event: &wl_touch::Event) -> bool {
        use wl_touch::Event;
        let now = lock(root).moment();
        match event {
            Event::Down { surface, id, x, y, .. } => {
                if *surface != lock(root).surface {
                    return false;
                }
                self.fingers += 1;
                let start = (*x, *y);
                stop(&path(root, start));
                // Gestures with two fingers are left to the program.
                let is_first = self.fingers == 1;
                let undecided = Finger { id: *id, start, last: start, drags: None, is_decided: false };
                match &mut self.finger {
                    Some(other) => other.is_decided = true,
                    None if is_first => self.finger = Some(undecided),
                    None => {}
                }
                false
            }
            Event::Motion { id, time, x, y } => self.moved(root, *id, moment(*time, now), (*x, *y)),
            Event::Up { id, time, .. } => {
                self.fingers = self.fingers.saturating_sub(1);
                let Some(finger) = self.finger.take_if(|finger| finger.id == *id) else { return false };
                let Some(view) = finger.drags.and_then(|view| view.upgrade()) else { return false };
                lock(&view).ask(moment(*time, now), Movement::LetGo);
                true
            }
            Event::Cancel => {
                self.fingers = 0;
                let finger = self.finger.take();
                let Some(view) = finger.and_then(|finger| finger.drags?.upgrade()) else { return false };
                let mut view = lock(&view);
                view.ask(now, Movement::LetGo);
                view.ask(now, Movement::Stop);
                true
            }
            _ => false,
        }
    }

    fn moved(&mut self, root: &SharedView, id: i32, at: Instant, to: (f64, f64)) -> bool {
        let Some(finger) = self.finger.as_mut().filter(|finger| finger.id == id) else { return false };
        let before = std::mem::replace(&mut finger.last, to);
        // The content follows the finger, so the offset of the view changes in the opposite direction.
        let way = |from: (f64, f64)| Way { x: from.0 - to.0, y: from.1 - to.1 };
        if let Some(view) = &finger.drags {
            if let Some(view) = view.upgrade() {
                lock(&view).ask(at, Movement::Pull(way(before)));
            }
            return true;
        }
        let gone = way(finger.start);
        if finger.is_decided || gone.x.hypot(gone.y) <= SLOP {
            return false;
        }
        finger.is_decided = true;
        finger.drags = choose(&path(root, finger.start), gone, true, |own| own.options.drag);
        let Some(view) = finger.drags.as_ref().and_then(Weak::upgrade) else { return false };
        // Start from here, without catching up: a jump by the distance that told the drag from a tap would be visible.
        lock(&view).ask(at, Movement::Pull(Way::default()));
        true
    }
}

/// The nested views at a point, outermost first.
fn path(root: &SharedView, at: (f64, f64)) -> Vec<SharedView> {
    let mut path = vec![root.clone()];
    let mut at = at;
    while let Some((inner, inside)) = path.last().and_then(|view| nested_at(&lock(view), at)) {
        path.push(inner);
        at = inside;
    }
    path
}

/// The nested view at a point, and the point in the coordinates of this view.
fn nested_at(own: &Own, (x, y): (f64, f64)) -> Option<(SharedView, (f64, f64))> {
    let (clip, ranges) = (own.clip(), terms(&own.options).ranges());
    let inside = |extent: super::Extent, at: f64| (extent.start as f64..extent.end() as f64).contains(&at);
    let content = own.contents.iter().rev().find(
        |content| matches!(content.shown, Shown::Seen(placed) if inside(placed.seen.x, x) && inside(placed.seen.y, y)),
    )?;
    let view = content.nested.as_ref()?.upgrade()?;
    if !inside(clip.x, x) || !inside(clip.y, y) {
        return None;
    }
    let lies = lies(content.picture.as_ref()?.region, content.role, own.shown, ranges);
    Some((view, (x - lies.x.start as f64, y - lies.y.start as f64)))
}

/// The innermost view that can scroll in this direction.
fn choose(path: &[SharedView], way: Way, pulls: bool, wishes: impl Fn(&Own) -> bool) -> Option<WeakView> {
    let can = |view: &&SharedView| {
        let own = lock(view);
        let along = terms(&own.options).along(way);
        wishes(&own) && along != Way::default() && own.machine.can_go(along, pulls)
    };
    path.iter().rev().find(can).map(Arc::downgrade)
}

/// Stops the views that move by themselves, such as in a fling.
fn stop(path: &[SharedView]) {
    for view in path {
        let mut own = lock(view);
        if own.machine.is_active() && !own.machine.is_pulled() {
            let now = own.moment();
            own.ask(now, Movement::Stop);
        }
    }
}
