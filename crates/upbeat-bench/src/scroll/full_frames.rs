//! A client that renders each frame: the same input and the same physics as a view, but a full picture for each
//! refresh.

use wayland_client::WEnum;
use wayland_client::protocol::wl_pointer::{self, AxisSource};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::protocol::wl_touch;

use super::tiles::ScrollTiles;
use upbeat_client::FramePacer;
use upbeat_timing::scroll::{
    NOTCH_DISTANCE, RenderedRegions, ScrollDistance, ScrollRequest, SupplySettings, ViewLatch, ViewMachine, ViewTerms,
    WHEEL_TURN,
};
use upbeat_timing::time::Instant;

/// The document, drawn as full frames.
#[derive(Debug)]
pub(super) struct FullFrames {
    surface: WlSurface,
    pacer: FramePacer,
    machine: ViewMachine,
    terms: ViewTerms<'static>,
    shown: (f64, f64),
    is_wheel: bool,
    /// Last touch position along the scroll axis.
    finger: Option<f64>,
    is_dirty: bool,
    pub tiles: ScrollTiles,
    /// Number of drawn frames.
    pub frames: u64,
}

impl FullFrames {
    /// `tiles` are as large as the window. The first visible offset is `first`.
    pub fn new(
        surface: &WlSurface,
        pacer: FramePacer,
        tiles: ScrollTiles,
        terms: ViewTerms<'static>,
        first: (i64, i64),
    ) -> Self {
        let mut made = FullFrames {
            surface: surface.clone(),
            pacer,
            machine: ViewMachine::new(SupplySettings::default()),
            terms,
            shown: (0.0, 0.0),
            is_wheel: false,
            finger: None,
            is_dirty: true,
            tiles,
            frames: 0,
        };
        let now = made.pacer.now();
        made.ask(now, ScrollRequest::To { offset: first, smoothly: false, serial: 1 });
        made
    }

    /// Whether it scrolls left and right.
    const fn is_across(&self) -> bool {
        self.terms.axes.0
    }

    const fn way(&self, by: f64) -> ScrollDistance {
        if self.is_across() { ScrollDistance { x: by, y: 0.0 } } else { ScrollDistance { x: 0.0, y: by } }
    }

    fn ask(&mut self, at: Instant, movement: ScrollRequest) {
        self.machine.handle_request(at, movement, &self.terms, self.shown);
        self.is_dirty = true;
    }

    pub fn pointer_event(&mut self, event: &wl_pointer::Event) {
        use wl_pointer::Event;
        let now = self.pacer.now();
        match event {
            Event::AxisSource { axis_source: WEnum::Value(source) } => self.is_wheel = *source == AxisSource::Wheel,
            Event::Axis { value, .. } if *value != 0.0 => {
                let turned = ScrollRequest::Wheel(self.way(value / NOTCH_DISTANCE * WHEEL_TURN));
                self.ask(now, if self.is_wheel { turned } else { ScrollRequest::Drag(self.way(*value)) });
            }
            Event::AxisStop { .. } => self.ask(now, ScrollRequest::Release),
            _ => {}
        }
    }

    pub fn touch_event(&mut self, event: &wl_touch::Event) {
        use wl_touch::Event;
        let now = self.pacer.now();
        match event {
            Event::Down { x, y, .. } => self.finger = Some(if self.is_across() { *x } else { *y }),
            Event::Motion { x, y, .. } => {
                let at = if self.is_across() { *x } else { *y };
                let before = self.finger.replace(at).unwrap_or(at);
                self.ask(now, ScrollRequest::Drag(self.way(before - at)));
            }
            Event::Up { .. } | Event::Cancel => {
                self.finger = None;
                self.ask(now, ScrollRequest::Release);
            }
            _ => {}
        }
    }

    /// Draws the next frame, if the document moves and a buffer is free.
    pub fn draw_next(&mut self) {
        while self.pacer.next_event().is_some() {}
        if !(self.machine.is_active() || self.is_dirty) || !self.tiles.has(1) {
            return;
        }
        self.pacer.request_frame();
        let Some(target) = self.pacer.next_target() else { return };
        self.is_dirty = false;
        let latch = ViewLatch { now: self.pacer.now(), present: target.present, interval: target.interval, scale: 1.0 };
        let cover = RenderedRegions::of([self.terms.document]);
        let step = self.machine.latch(latch, &self.terms, cover, self.shown);
        self.shown = step.at.offset;
        if !(step.moved || step.is_moving) {
            self.pacer.cancel_from(target.id);
            return;
        }
        if let Some(buffer) = self.tiles.draw(if self.is_across() { self.shown.0 } else { self.shown.1 } as i64) {
            self.frames += 1;
            self.surface.attach(Some(&buffer), 0, 0);
            self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        }
        if self.pacer.bind(target.id).is_ok() {
            self.surface.commit();
        }
    }
}
