//! Places windows, ghosts of closed windows, layer surfaces and their popups in a scene, in pixels of one output.

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use crate::output::geometry;
use crate::output::panel::seen_size;
use crate::output::scene::uncovered_region::UncoveredRegion;
use crate::scene::{Effect, EffectKind, Layer, LayerShape, RoundedRect, Scene, Snapshot};
use crate::shell::animation::ClosingWindow;
use crate::shell::effects::{WindowDecoration, WindowEffects};
use crate::shell::layers::ShellLayerSurface;
use crate::shell::render_order::{OutputView, RenderWindow};
use crate::shell::tiling::TITLES;
use crate::shell::{Shell, Window};
use crate::surface::SurfaceRegistry;
use crate::surface::content::SurfaceContent;
use crate::surface::tree::{self, find_downward};
use upbeat_timing::time::Instant;

/// Maps a surface tree to the screen: the rectangle `from` (in the root's coordinates) is shown as `to` (global logical
/// coordinates); the same mapping applies outside `from`.
#[derive(Clone, Copy, Debug)]
pub(in crate::output) struct SurfaceMapping {
    from: Rectangle<f64, Logical>,
    to: Rectangle<f64, Logical>,
    /// It is maximised, tiled, fullscreen or a layer surface, so it may reach the edge of its output.
    fills: bool,
}

impl SurfaceMapping {
    /// Unscaled, with the root's origin at `location`.
    fn at(location: Point<i32, Logical>) -> Self {
        let unit = Size::from((1.0, 1.0));
        SurfaceMapping { from: Rectangle::from_size(unit), to: Rectangle::new(location.to_f64(), unit), fills: false }
    }

    fn filling(self, fills: bool) -> Self {
        SurfaceMapping { fills, ..self }
    }

    pub fn zoom(&self) -> (f64, f64) {
        (self.to.size.w / self.from.size.w.max(1.0), self.to.size.h / self.from.size.h.max(1.0))
    }

    pub fn point(&self, point: Point<f64, Logical>) -> Point<f64, Logical> {
        let (zoom, relative) = (self.zoom(), point - self.from.loc);
        self.to.loc + Point::from((relative.x * zoom.0, relative.y * zoom.1))
    }
}

/// Rounding error of sums of coordinates, in pixels.
const INEXACT: f64 = 1e-6;

/// Alignment of a surface tree to the pixels of an output.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::output) struct PixelAlignment {
    /// Distance that moves the root's origin onto a whole pixel (logical pixels).
    nudge: Point<f64, Logical>,
    /// Rectangles that reach the edge of the output are extended to its last pixel.
    fills: bool,
}

/// The target of placement: an output's area and scale, and the effects drawn around windows.
pub(in crate::output) struct LayerPlacer<'a> {
    area: Rectangle<i32, Logical>,
    /// Size of the output in pixels; `None` for a picture of an area.
    pixels: Option<Size<i32, Physical>>,
    scale: f64,
    effects: WindowEffects,
    pub(in crate::output) surfaces: &'a SurfaceRegistry,
}

impl<'a> LayerPlacer<'a> {
    pub fn new(output: &Output, effects: WindowEffects, surfaces: &'a SurfaceRegistry) -> Self {
        let scale = output.current_scale().fractional_scale();
        LayerPlacer { area: geometry(output), pixels: Some(seen_size(output)), scale, effects, surfaces }
    }

    /// For a picture of `area` alone, without effects around windows.
    pub fn of_area(area: Rectangle<i32, Logical>, scale: f64, surfaces: &'a SurfaceRegistry) -> Self {
        LayerPlacer { area, pixels: None, scale, effects: WindowEffects::default(), surfaces }
    }

    /// Adds a window if the uncovered region `bare` may show any part of it. Returns whether the window is
    /// fullscreen, so that it hides everything below.
    pub fn unless_hidden(
        &self,
        scene: &mut Scene,
        shell: &Shell,
        window: &Window,
        view: &OutputView<'_>,
        bare: &UncoveredRegion,
    ) -> bool {
        if self.is_hidden(shell, window, view, bare) {
            return false;
        }
        let Some(window) = shell.render(window, view) else { return false };
        self.window(scene, &window);
        window.fullscreen
    }

    /// Whether certainly no part of a window is visible in the uncovered region `bare`.
    fn is_hidden(&self, shell: &Shell, window: &Window, view: &OutputView<'_>, bare: &UncoveredRegion) -> bool {
        let reach = shell.reach_at_rest(window, view);
        let titles = if window.carries_titles() { TITLES } else { 0 };
        reach.is_some_and(|reach| !bare.overlaps(self.with_effects(reach, titles)))
    }

    /// Adds the popups of a layer surface.
    pub fn popups_of(&self, scene: &mut Scene, shell: &Shell, pinned: &ShellLayerSurface) {
        let above = scene.layers.len();
        for (popup, location) in shell.popups_of_layer(pinned) {
            self.tree(scene, popup, SurfaceMapping::at(location), pinned.look().opacity);
        }
        exclude_from_captures(&mut scene.layers[above..], pinned.look().is_kept_out);
    }

    /// Adds a layer surface without its popups.
    pub fn pinned(&self, scene: &mut Scene, pinned: &ShellLayerSurface) {
        let (above, fit) = (scene.layers.len(), SurfaceMapping::at(pinned.rect().loc).filling(true));
        let look = pinned.look();
        self.tree(scene, pinned.surface(), fit, look.opacity);
        exclude_from_captures(&mut scene.layers[above..], look.is_kept_out);
        let radius = (look.corner_radius * self.scale).round() as i32;
        if radius > 0 {
            let rect = self.on_grid(pinned.rect().to_f64(), self.grid(fit));
            let surface = RoundedRect { rect, radius: radius.min(rect.size.w / 2).min(rect.size.h / 2) };
            scene.layers[above..].iter_mut().for_each(|layer| round(layer, surface));
        }
    }

    /// Adds a surface tree unscaled, its root's origin at `at`.
    pub fn unscaled(&self, scene: &mut Scene, root: &WlSurface, at: Point<i32, Logical>) {
        self.tree(scene, root, SurfaceMapping::at(at), 1.0);
    }

    /// The same for a surface that fills the output.
    pub fn filling(&self, scene: &mut Scene, root: &WlSurface, at: Point<i32, Logical>) {
        self.tree(scene, root, SurfaceMapping::at(at).filling(true), 1.0);
    }

    fn window(&self, scene: &mut Scene, window: &RenderWindow) {
        let settled = Rectangle::new(window.location + window.geometry.loc, window.geometry.size).to_f64();
        let topmost = scene.layers.len();
        for (popup, location) in window.popups.iter().rev() {
            // Popups move and scale with their window's animation.
            let fit = match window.animated {
                Some(to) => SurfaceMapping {
                    from: Rectangle::new(settled.loc - location.to_f64(), settled.size),
                    to,
                    fills: false,
                },
                None => SurfaceMapping::at(*location),
            };
            self.tree(scene, popup, fit, window.opacity);
        }
        let to = window.animated.or(window.stretch.map(|to| to.to_f64()));
        let fit = to.map_or_else(
            || SurfaceMapping::at(window.location),
            |to| SurfaceMapping { from: window.geometry.to_f64(), to, fills: false },
        );
        let fit = fit.filling(window.fills);
        let above = scene.layers.len();
        self.tree(scene, &window.surface, fit, window.opacity);
        exclude_from_captures(&mut scene.layers[topmost..], window.hidden_from_capture);
        let rect = self.on_grid(to.unwrap_or(settled), self.grid(fit));
        self.decorate(scene, above, &window.decoration, rect, window.opacity);
    }

    /// Adds a window even if it is hidden.
    pub fn alone(&self, scene: &mut Scene, window: &RenderWindow) {
        self.window(scene, window);
    }

    /// Upper bound of a window's visible pixels, with its effects, if its surfaces cover `reach` and its titles
    /// rise `above` it.
    fn with_effects(&self, reach: Rectangle<i32, Logical>, above: i32) -> Rectangle<i32, Physical> {
        let reach = Rectangle::new(reach.loc - Point::from((0, above)), reach.size + Size::from((0, above)));
        let mut rect = self.to_physical(reach.loc.to_f64(), reach.size.to_f64());
        let shadow = self.effects.shadow.map_or(0.0, |shadow| shadow.reach);
        let mark = self.effects.border.map_or(0.0, |mark| mark.width);
        // One pixel more, because `grid` moves unscaled trees by up to half a pixel.
        let margin = (shadow.max(mark) * self.scale).ceil() as i32 + 1;
        rect.loc -= Point::from((margin, margin));
        rect.size += Size::from((margin * 2, margin * 2));
        rect
    }

    /// Rounds the corners of a window at `rect`, whose layers begin at index `above`, and adds the effects below it.
    fn decorate(
        &self,
        scene: &mut Scene,
        above: usize,
        decoration: &WindowDecoration,
        rect: Rectangle<i32, Physical>,
        opacity: f64,
    ) {
        let free = decoration.is_free;
        let physical = |length: f64| (length * self.scale).round() as i32;
        let usual = if free { self.effects.corner_radius } else { 0.0 };
        let radius = physical(decoration.corner_radius.unwrap_or(usual));
        // Effects surround the window together with its title bar.
        let bar = if decoration.has_bar { physical(f64::from(TITLES)) } else { 0 };
        let rect = Rectangle::new(rect.loc - Point::from((0, bar)), rect.size + Size::from((0, bar)));
        let window = RoundedRect { rect, radius: radius.min(rect.size.w / 2).min(rect.size.h / 2) };
        let translucent = scene.layers[above..].last().is_some_and(is_translucent);
        if window.radius > 0 {
            for layer in &mut scene.layers[above..] {
                round(layer, window);
            }
        }
        let depth = scene.layers.len();
        let names = &decoration.ids;
        let mut add = |id: &Id, opacity: f64, kind| {
            scene.effects.push(Effect { id: id.clone(), depth, opacity: opacity as f32, kind });
        };
        let mark = self.effects.border.and_then(|mark| Some((mark, mark.colour_for(decoration.border)?)));
        if let Some((mark, colour)) = mark {
            let width = physical(mark.width).max(1);
            let around = Point::from((width, width));
            let outer =
                Rectangle::new(rect.loc - around, Size::from((rect.size.w + 2 * width, rect.size.h + 2 * width)));
            let area = RoundedRect { rect: outer, radius: if window.radius > 0 { window.radius + width } else { 0 } };
            let hole = RoundedRect { rect: Rectangle::new(around, rect.size), radius: window.radius };
            add(&names.border, opacity, EffectKind::Colour { area, hole, colour });
        }
        if let Some(picture) = &decoration.titles {
            let above = if decoration.has_bar { 0 } else { physical(f64::from(TITLES)) };
            let at = rect.loc - Point::from((0, above));
            let size = Size::from((picture.image().width, picture.image().height));
            let kind = EffectKind::Picture { rect: Rectangle::new(at, size), picture: picture.clone() };
            add(&names.titles, opacity, kind);
        }
        // Behind an opaque window a blur would be invisible. A client that sets its own blur region takes precedence.
        let says = |layer: &Layer| layer.blurred.is_some();
        if self.effects.blur > 0 && translucent && !scene.layers[above..].iter().any(says) {
            add(&names.blur, opacity, EffectKind::Blur { area: window, passes: self.effects.blur });
        }
        if let (true, Some(shadow)) = (free, self.effects.shadow) {
            let reach = physical(shadow.reach);
            add(&names.shadow, opacity * shadow.opacity, EffectKind::Shadow { window, reach });
        }
    }

    /// Adds the ghost (closing animation) of a window, moved by `shift`.
    pub fn ghost(&self, scene: &mut Scene, ghost: &ClosingWindow, shift: Point<f64, Logical>, present: Instant) {
        let mut look = ghost.pose_at(present);
        look.rect.loc += shift;
        let fit = SurfaceMapping { from: ghost.geometry.to_f64(), to: look.rect, fills: false };
        let above = scene.layers.len();
        for part in &ghost.parts {
            let Some(mut layer) = self.layer(&part.content, part.place, fit, look.opacity) else { continue };
            let shape = Arc::make_mut(&mut layer.shape);
            shape.id = part.id.clone();
            shape.snapshot = Some(part.name.clone());
            shape.kept_out = ghost.hidden_from_capture;
            scene.layers.push(layer);
            self.blur_behind(scene, part.place, fit);
        }
        let rect = self.on_grid(look.rect, self.grid(fit));
        self.decorate(scene, above, &ghost.decoration, rect, look.opacity);
    }

    /// Adds a surface tree, topmost first.
    fn tree(&self, scene: &mut Scene, root: &WlSurface, fit: SurfaceMapping, opacity: f64) {
        find_downward(root, &mut |surface, states, place| {
            let content = SurfaceContent::of(surface, states)?;
            // Kept contents of a scroll view lie directly above the view's own surface, below its live contents.
            self.kept(scene, surface, (place, content.size), fit, opacity);
            self.stretched(scene, surface, (place, content.size), fit, opacity);
            if let Some(layer) = self.layer(&content, place, fit, opacity) {
                scene.layers.push(layer);
                self.blur_behind(scene, place, fit);
            }
            None::<()>
        });
    }

    /// Adds the blur that the client requested behind the lowest layer of `scene`.
    fn blur_behind(&self, scene: &mut Scene, place: tree::SurfacePlace, fit: SurfaceMapping) {
        let depth = scene.layers.len();
        let (Some(layer), passes) = (scene.layers.last(), self.effects.blur) else { return };
        let Some(blurred) = layer.blurred.clone().filter(|_| passes > 0) else { return };
        let (whole, (across, down)) = (Rectangle::from_size(layer.size), fit.zoom());
        let (origin, target, opacity, grid) = (fit.point(place.origin), layer.target, layer.opacity, self.grid(fit));
        let behind = blurred.iter().filter_map(|(id, rect)| {
            let rect = rect.intersection(whole)?.to_f64();
            let at = origin + Point::from((rect.loc.x * across, rect.loc.y * down));
            let rect = Rectangle::new(at, Size::from((rect.size.w * across, rect.size.h * down)));
            let rect = self.on_grid(rect, grid);
            // A scroll view crops the blur like the surface.
            let rect = rect.intersection(target).filter(|rect| !rect.is_empty())?;
            let kind = EffectKind::Blur { area: RoundedRect { rect, radius: 0 }, passes };
            Some(Effect { id: id.clone(), depth, opacity, kind })
        });
        scene.effects.extend(behind);
    }

    /// Adds removed contents of a scroll view as they last were, until new contents cover them.
    fn kept(
        &self,
        scene: &mut Scene,
        view: &WlSurface,
        at: (tree::SurfacePlace, Size<i32, Logical>),
        fit: SurfaceMapping,
        opacity: f64,
    ) {
        let Some(scrolled) = self.surfaces.get(view).and_then(|entry| entry.scroll()) else { return };
        let (place, size) = at;
        for kept in scrolled.kept() {
            let seen = Rectangle::new(place.origin, size.to_f64());
            let crop = place.crop.map_or(Some(seen), |crop| crop.intersection(seen));
            let origin = place.origin + scrolled.place(&kept.placement);
            let layer = crop.and_then(|_| self.layer(&kept.content, tree::SurfacePlace { origin, crop }, fit, opacity));
            scene.layers.extend(layer.map(|mut layer| {
                let shape = Arc::make_mut(&mut layer.shape);
                (shape.id, shape.snapshot) = (kept.id.clone(), Some(Snapshot(kept.texture_key.clone())));
                layer
            }));
        }
    }

    /// The layer of one surface; `None` if it is cropped away.
    pub(in crate::output) fn layer(
        &self,
        content: &SurfaceContent,
        place: tree::SurfacePlace,
        fit: SurfaceMapping,
        opacity: f64,
    ) -> Option<Layer> {
        let (origin, zoom, grid) = (fit.point(place.origin), fit.zoom(), self.grid(fit));
        let zoomed = |size: Size<i32, Logical>| {
            Size::<f64, Logical>::from((f64::from(size.w) * zoom.0, f64::from(size.h) * zoom.1))
        };
        let target = self.on_grid(Rectangle::new(origin, zoomed(content.size)), grid);
        let opaque = content.opaque.iter().map(|rect| {
            let at = origin + Point::from((f64::from(rect.loc.x) * zoom.0, f64::from(rect.loc.y) * zoom.1));
            let rect = self.on_grid(Rectangle::new(at, zoomed(rect.size)), grid);
            // Filtering fades the outermost pixels of a scaled surface.
            let fades = if zoom == (1.0, 1.0) { 0 } else { 1 };
            let size = (rect.size.w - 2 * fades, rect.size.h - 2 * fades);
            let inner = Point::from((fades, fades));
            Rectangle::new(rect.loc - target.loc + inner, Size::from((size.0.max(0), size.1.max(0))))
        });
        let mut shape = LayerShape {
            id: Id::from_wayland_resource(&content.surface),
            opaque: opaque.collect(),
            surface: content.surface.clone(),
            buffer_size: content.buffer_size,
            buffer_scale: content.buffer_scale,
            buffer_transform: content.buffer_transform,
            source: content.source,
            whole: content.source,
            size: content.size,
            solid: content.opaque.to_vec(),
            target,
            origin,
            crop: place.crop.map(|crop| {
                let size = Size::from((crop.size.w * zoom.0, crop.size.h * zoom.1));
                Rectangle::new(fit.point(crop.loc), size)
            }),
            stretch: zoom,
            opacity: opacity as f32 * content.opacity,
            own_opacity: content.opacity,
            blurred: content.blurred.clone(),
            clip: None,
            snapshot: None,
            kept_out: false,
        };
        if let Some(crop) = shape.crop {
            shape.cut(self.on_grid(crop, grid))?;
        }
        let (buffer, damage) = (Some(content.buffer.clone()), content.damage.clone());
        Some(Layer { shape: Arc::new(shape), buffer, damage, plane: None })
    }

    /// Moves the origin of an unscaled tree onto a whole pixel, so that its size in pixels does not depend on its
    /// position: clients draw for exactly that size. A scaled tree is not moved.
    pub(in crate::output) fn grid(&self, fit: SurfaceMapping) -> PixelAlignment {
        if fit.zoom() != (1.0, 1.0) {
            return PixelAlignment { nudge: Point::default(), fills: fit.fills };
        }
        let root = fit.point(Point::default()) - self.area.loc.to_f64();
        let whole = |value: f64| (value * self.scale + 0.5 + INEXACT).floor() / self.scale - value;
        PixelAlignment { nudge: Point::from((whole(root.x), whole(root.y))), fills: fit.fills }
    }

    /// Rounds edges, not sizes, so that neighbours in a tree stay neighbours at fractional scales.
    pub(in crate::output) fn on_grid(
        &self,
        rect: Rectangle<f64, Logical>,
        grid: PixelAlignment,
    ) -> Rectangle<i32, Physical> {
        let mut physical = self.to_physical(rect.loc + grid.nudge, rect.size);
        let (Some(pixels), true) = (self.pixels, grid.fills) else { return physical };
        let end = rect.loc + rect.size - self.area.loc.to_f64();
        let (right, bottom) = (physical.loc.x + physical.size.w, physical.loc.y + physical.size.h);
        // The logical size of an output is rounded, so its last pixel may lie beyond its last logical pixel.
        if end.x + INEXACT >= f64::from(self.area.size.w) && right < pixels.w {
            physical.size.w += pixels.w - right;
        }
        if end.y + INEXACT >= f64::from(self.area.size.h) && bottom < pixels.h {
            physical.size.h += pixels.h - bottom;
        }
        physical
    }

    /// Converts a rectangle from global logical coordinates to pixels of the output.
    pub(in crate::output) fn to_physical(
        &self,
        at: Point<f64, Logical>,
        size: Size<f64, Logical>,
    ) -> Rectangle<i32, Physical> {
        let relative = at - self.area.loc.to_f64();
        // Halves must be rounded in the same direction on both sides of zero.
        let edge = |value: f64| (value * self.scale + 0.5 + INEXACT).floor() as i32;
        let (left, top) = (edge(relative.x), edge(relative.y));
        let (right, bottom) = (edge(relative.x + size.w), edge(relative.y + size.h));
        Rectangle::new((left, top).into(), (right - left, bottom - top).into())
    }
}

/// Marks layers that a rule excludes from captures.
fn exclude_from_captures(layers: &mut [Layer], is_kept_out: bool) {
    if is_kept_out {
        layers.iter_mut().for_each(|layer| Arc::make_mut(&mut layer.shape).kept_out = true);
    }
}

/// Clips a layer to its window's rounded corners, and removes them from its opaque region.
fn round(layer: &mut Layer, window: RoundedRect) {
    let corners = window.corners();
    if !corners.iter().any(|corner| corner.overlaps(layer.target)) {
        return;
    }
    let shape = Arc::make_mut(&mut layer.shape);
    shape.clip = Some(window);
    let corners = corners.map(|corner| Rectangle::new(corner.loc - shape.target.loc, corner.size));
    shape.opaque = shape.opaque.iter().flat_map(|rect| rect.subtract_rects(corners)).collect();
}

/// Whether layers below are visible through this layer, apart from its edges.
fn is_translucent(layer: &Layer) -> bool {
    let (width, height) = (layer.target.size.w - 2, layer.target.size.h - 2);
    if width <= 0 || height <= 0 {
        return false;
    }
    let inner = Rectangle::new(Point::from((1, 1)), Size::from((width, height)));
    !inner.subtract_rects(layer.opaque.iter().copied()).is_empty()
}
