//! Layout of the overview: pure geometry.
//!
//! Every workspace with windows, and every visible workspace, has a card. The cards form a grid, and the windows within
//! each card form another grid. All other workspaces have small cards in a row at the bottom, onto which a window can be
//! dropped.
//!
//! ```text
//!   ┌ 1 ───────────┐  ┌ 2 ───────────┐
//!   │ ┌───┐ ┌────┐ │  │   ┌──────┐   │
//!   │ └───┘ └────┘ │  │   │      │   │
//!   │    ┌──┐      │  │   └──────┘   │
//!   └──────────────┘  └──────────────┘
//!     ┌ 3 ┐ ┌ 4 ┐ ┌ 5 ┐ … ┌ mail ┐
//! ```

use smithay::utils::{Logical, Point, Rectangle, Size};

use crate::shell::WindowId;
use crate::shell::workspaces::WorkspaceNumber;

/// Gap between and around cards, in logical pixels, as all lengths here.
const CARD_GAP: f64 = 28.0;
/// Gap between windows, and between windows and the edges of their card.
const WINDOW_GAP: f64 = 18.0;
/// Height of a card's header, with its number.
pub const HEADER: f64 = 30.0;
/// Margin above and below the windows of a card.
const FOOT: f64 = 6.0;
/// Height of the title below each window.
pub const CAPTION: f64 = 24.0;

/// Height and largest width of the card of an empty workspace, and the gap between such cards.
const EMPTY_CARD: (f64, f64) = (120.0, 64.0);
const EMPTY_GAP: f64 = 14.0;
/// Width of a character of a name, the margin on both sides of a name together, and the largest width for a name. A card
/// with a name is at least that wide if the row has room.
const CHARACTER: f64 = 9.0;
const NAME_MARGINS: f64 = 24.0;
const LONGEST_NAME: f64 = 220.0;
/// Largest share of the area's height that the row of empty workspaces takes.
const EMPTY_SHARE: f64 = 0.125;
/// Side of the button that closes a window, and its distance from the window's corner.
const CLOSE_BUTTON: f64 = 28.0;
const CLOSE_MARGIN: f64 = 6.0;
/// Largest share of the window's width and height that the button takes.
const CLOSE_SHARE: f64 = 0.25;

/// Margin of the window switcher, as a share of the area.
const MARGIN: f64 = 0.1;

/// A workspace and the sizes of its windows.
pub type WorkspaceWindows = (WorkspaceNumber, Vec<(WindowId, Size<f64, Logical>)>);

/// A workspace without windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmptyWorkspace {
    pub number: WorkspaceNumber,
    /// Number of characters of its name, or of its number.
    pub characters: usize,
}

impl EmptyWorkspace {
    /// Width that its name needs.
    fn width(&self) -> f64 {
        (self.characters as f64 * CHARACTER + NAME_MARGINS).min(LONGEST_NAME)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkspaceCard {
    pub number: WorkspaceNumber,
    pub rect: Rectangle<f64, Logical>,
}

/// Layout of the overview on one output, in coordinates of its area.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OverviewLayout {
    /// Workspaces, in ascending order.
    pub cards: Vec<WorkspaceCard>,
    /// Hidden workspaces without windows, in ascending order.
    pub empty: Vec<WorkspaceCard>,
    /// Windows, in the order in which they were given.
    pub windows: Vec<(WindowId, Rectangle<f64, Logical>)>,
}

impl OverviewLayout {
    /// Lays out workspaces with windows of these sizes within `area`.
    pub fn new(area: Rectangle<f64, Logical>, spaces: &[WorkspaceWindows]) -> Self {
        let cards = grid(inset(area, CARD_GAP, CARD_GAP), &vec![area.size; spaces.len()], CARD_GAP, 0.0);
        let windows = spaces.iter().zip(&cards).flat_map(|((_, windows), card)| {
            let header = HEADER.min(card.size.h / 4.0);
            let below =
                Rectangle::new(card.loc + Point::from((0.0, header)), Size::from((card.size.w, card.size.h - header)));
            let sizes: Vec<_> = windows.iter().map(|(_, size)| *size).collect();
            let places = grid(inset(below, WINDOW_GAP, FOOT), &sizes, WINDOW_GAP, CAPTION);
            windows.iter().map(|(id, _)| *id).zip(places)
        });
        let windows = windows.collect();
        let cards =
            spaces.iter().zip(cards).map(|((number, _), rect)| WorkspaceCard { number: *number, rect }).collect();
        OverviewLayout { cards, empty: Vec::new(), windows }
    }

    /// The same, with a row of empty workspaces at the bottom of `area`.
    pub fn with_empty(area: Rectangle<f64, Logical>, spaces: &[WorkspaceWindows], empty: &[EmptyWorkspace]) -> Self {
        if empty.is_empty() {
            return Self::new(area, spaces);
        }
        let height = EMPTY_CARD.1.min(area.size.h * EMPTY_SHARE);
        let below = CARD_GAP.min(area.size.h * EMPTY_SHARE / 2.0);
        let rest = Rectangle::new(area.loc, Size::from((area.size.w, area.size.h - height - below)));
        let (gap, widths) = empty_widths(area.size.w, empty);
        let whole: f64 = widths.iter().map(|width| width + gap).sum();
        let mut left = area.loc.x + (area.size.w - whole) / 2.0 + gap / 2.0;
        let card = |(it, width): (&EmptyWorkspace, f64)| {
            let corner = Point::from((left, rest.loc.y + rest.size.h));
            left += width + gap;
            WorkspaceCard { number: it.number, rect: Rectangle::new(corner, Size::from((width, height))) }
        };
        let empty = empty.iter().zip(widths).map(card).collect();
        OverviewLayout { empty, ..Self::new(rest, spaces) }
    }

    /// Lays out the window switcher: windows of these sizes, in their order, in the middle of `area`, without cards.
    pub fn of_windows(area: Rectangle<f64, Logical>, windows: &[(WindowId, Size<f64, Logical>)]) -> Self {
        let sizes: Vec<_> = windows.iter().map(|(_, size)| *size).collect();
        let places = grid(inset(area, area.size.w * MARGIN, area.size.h * MARGIN), &sizes, WINDOW_GAP, CAPTION);
        OverviewLayout { windows: windows.iter().map(|(id, _)| *id).zip(places).collect(), ..OverviewLayout::default() }
    }

    /// The window or card at `point`.
    pub fn at(&self, point: Point<f64, Logical>) -> Option<OverviewTarget> {
        let window =
            self.windows.iter().rfind(|(_, rect)| rect.contains(point)).map(|(id, _)| OverviewTarget::Window(*id));
        window.or_else(|| self.card_at(point).map(OverviewTarget::Card))
    }

    /// The workspace whose card is at `point`, also below a window.
    pub fn card_at(&self, point: Point<f64, Logical>) -> Option<WorkspaceNumber> {
        self.all_cards().find(|card| card.rect.contains(point)).map(|card| card.number)
    }

    /// The cards of all workspaces.
    pub fn all_cards(&self) -> impl Iterator<Item = &WorkspaceCard> {
        self.cards.iter().chain(&self.empty)
    }

    /// Rectangle of the button that closes a window, in its upper right corner.
    pub fn close_button(&self, id: WindowId) -> Option<Rectangle<f64, Logical>> {
        let rect = self.window(id)?;
        let side = CLOSE_BUTTON.min(rect.size.w * CLOSE_SHARE).min(rect.size.h * CLOSE_SHARE);
        let margin = CLOSE_MARGIN.min(side / 2.0);
        let corner = Point::from((rect.loc.x + rect.size.w - side - margin, rect.loc.y + margin));
        Some(Rectangle::new(corner, Size::from((side, side))))
    }

    pub fn window(&self, id: WindowId) -> Option<Rectangle<f64, Logical>> {
        self.windows.iter().find(|(known, _)| *known == id).map(|(_, rect)| *rect)
    }

    /// The nearest window from `from` in a direction (one of its components is 0); `from` itself if there is none.
    pub fn towards(&self, from: WindowId, (right, down): (i8, i8)) -> Option<WindowId> {
        let middle = |rect: Rectangle<f64, Logical>| rect.loc + rect.size.to_point().downscale(2.0);
        let start = middle(self.window(from)?);
        let ahead = self.windows.iter().filter(|(id, _)| *id != from).filter_map(|(id, rect)| {
            let way = middle(*rect) - start;
            let (right, down) = (f64::from(right), f64::from(down));
            let (along, across) = (way.x * right + way.y * down, way.x * down + way.y * right);
            // A sideways offset counts double, so that windows straight ahead are preferred.
            (along > 1.0 && across.abs() <= 2.0 * along).then_some((along + 2.0 * across.abs(), *id))
        });
        ahead.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Some(from), |(_, id)| Some(id))
    }
}

/// The gap between cards of empty workspaces and the width of each, in a row of width `room`. If all cards at their
/// largest width are too wide, each gets the width of its name and an equal share of the rest. Names that are too long
/// for the row are all shortened by the same share.
fn empty_widths(room: f64, empty: &[EmptyWorkspace]) -> (f64, Vec<f64>) {
    let count = empty.len() as f64;
    let largest: Vec<f64> = empty.iter().map(|it| it.width().max(EMPTY_CARD.0)).collect();
    if largest.iter().map(|width| width + EMPTY_GAP).sum::<f64>() <= room {
        return (EMPTY_GAP, largest);
    }
    let gap = EMPTY_GAP.min(room / count / 4.0);
    let (left, needed) = (room - gap * count, empty.iter().map(EmptyWorkspace::width).sum::<f64>());
    let width = |it: &EmptyWorkspace| match needed <= left {
        true => it.width() + (left - needed) / count,
        false => it.width() * left / needed,
    };
    (gap, empty.iter().map(width).collect())
}

/// Target of a click in the overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverviewTarget {
    Window(WindowId),
    /// A workspace's card, beside its windows.
    Card(WorkspaceNumber),
    /// The button that closes a window.
    CloseButton(WindowId),
}

impl OverviewTarget {
    /// The window that is pointed at.
    pub const fn window(self) -> Option<WindowId> {
        match self {
            OverviewTarget::Window(id) | OverviewTarget::CloseButton(id) => Some(id),
            OverviewTarget::Card(_) => None,
        }
    }
}

/// `rect` shrunk by these margins on each side, at most by a quarter of its size.
fn inset(rect: Rectangle<f64, Logical>, across: f64, down: f64) -> Rectangle<f64, Logical> {
    let (across, down) = (across.min(rect.size.w / 4.0), down.min(rect.size.h / 4.0));
    let size = Size::from((rect.size.w - 2.0 * across, rect.size.h - 2.0 * down));
    Rectangle::new(rect.loc + Point::from((across, down)), size)
}

/// Arranges items of these sizes in rows within `area`. Each item is centred in its cell and shown no larger than its
/// size. The number of columns maximises the scale of the smallest item. A `caption` of this height stays free at the
/// bottom of every cell.
pub fn grid(
    area: Rectangle<f64, Logical>,
    sizes: &[Size<f64, Logical>],
    gap: f64,
    caption: f64,
) -> Vec<Rectangle<f64, Logical>> {
    let count = sizes.len();
    let least = |columns: usize| {
        let cells = GridCells::new(area, count, columns, gap, caption);
        sizes.iter().map(|size| cells.scale(*size)).fold(f64::INFINITY, f64::min)
    };
    let Some(columns) = (1..=count).max_by(|a, b| least(*a).total_cmp(&least(*b)).then(b.cmp(a))) else {
        return Vec::new();
    };
    let cells = GridCells::new(area, count, columns, gap, caption);
    sizes.iter().enumerate().map(|(index, size)| cells.place(index, *size)).collect()
}

/// Equal cells in rows; an incomplete last row is centred.
struct GridCells {
    area: Rectangle<f64, Logical>,
    count: usize,
    columns: usize,
    gap: (f64, f64),
    /// Size of an item's cell, without caption.
    size: Size<f64, Logical>,
    caption: f64,
}

impl GridCells {
    fn new(area: Rectangle<f64, Logical>, count: usize, columns: usize, gap: f64, caption: f64) -> Self {
        let rows = count.div_ceil(columns);
        // If space is tight, gaps and captions shrink first.
        let side = |length: f64, cells: usize| {
            let share = length / cells as f64;
            let gap = gap.min(share / 4.0);
            (gap, (length - gap * (cells - 1) as f64) / cells as f64)
        };
        let ((across, width), (down, height)) = (side(area.size.w, columns), side(area.size.h, rows));
        let caption = caption.min(height / 4.0);
        GridCells { area, count, columns, gap: (across, down), size: Size::from((width, height - caption)), caption }
    }

    /// Scale at which an item of `size` is shown, at most 1.
    fn scale(&self, size: Size<f64, Logical>) -> f64 {
        (self.size.w / size.w.max(1.0)).min(self.size.h / size.h.max(1.0)).min(1.0)
    }

    fn place(&self, index: usize, size: Size<f64, Logical>) -> Rectangle<f64, Logical> {
        let (row, column) = (index / self.columns, index % self.columns);
        let in_row = self.columns.min(self.count - row * self.columns);
        let (pitch, drop) = (self.size.w + self.gap.0, self.size.h + self.caption + self.gap.1);
        let margin = (self.columns - in_row) as f64 * pitch / 2.0;
        let corner = self.area.loc + Point::from((margin + column as f64 * pitch, row as f64 * drop));
        let shown = Size::<f64, Logical>::from((size.w.max(1.0), size.h.max(1.0))).upscale(self.scale(size));
        let rest = Point::from(((self.size.w - shown.w) / 2.0, (self.size.h - shown.h) / 2.0));
        Rectangle::new(corner + rest, shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rounding error of an edge.
    const SLACK: f64 = 1e-6;

    fn inside(outer: Rectangle<f64, Logical>, inner: Rectangle<f64, Logical>) -> bool {
        inner.loc.x >= outer.loc.x - SLACK
            && inner.loc.y >= outer.loc.y - SLACK
            && inner.loc.x + inner.size.w <= outer.loc.x + outer.size.w + SLACK
            && inner.loc.y + inner.size.h <= outer.loc.y + outer.size.h + SLACK
    }

    fn apart(a: Rectangle<f64, Logical>, b: Rectangle<f64, Logical>) -> bool {
        a.intersection(b).is_none_or(|common| common.size.w <= SLACK || common.size.h <= SLACK)
    }

    fn sizes() -> impl Strategy<Value = Vec<Vec<(i32, i32)>>> {
        prop::collection::vec(prop::collection::vec((1..5_000, 1..5_000), 0..9), 0..=25)
    }

    fn spaces(sizes: &[Vec<(i32, i32)>]) -> Vec<WorkspaceWindows> {
        let mut last = 0;
        let window = |(w, h): &(i32, i32), last: &mut u32| {
            *last += 1;
            (WindowId(*last), Size::from((f64::from(*w), f64::from(*h))))
        };
        let space = |(number, sizes): (WorkspaceNumber, &Vec<_>)| {
            (number, sizes.iter().map(|it| window(it, &mut last)).collect())
        };
        WorkspaceNumber::all().zip(sizes).map(space).collect()
    }

    proptest! {
        #[test]
        fn all_is_inside_apart_and_keeps_its_shape(
            sizes in sizes(), x in -4_000..4_000, y in -4_000..4_000, w in 64..8_000, h in 64..5_000,
        ) {
            let area = Rectangle::new(Point::from((x, y)), Size::from((w, h))).to_f64();
            let spaces = spaces(&sizes);
            let layout = OverviewLayout::new(area, &spaces);
            prop_assert_eq!(layout.cards.len(), spaces.len());
            for (index, card) in layout.cards.iter().enumerate() {
                prop_assert!(inside(area, card.rect), "{:?}", card);
                prop_assert!(layout.cards[..index].iter().all(|other| apart(other.rect, card.rect)));
            }
            let given: Vec<_> = spaces.iter().flat_map(|(_, windows)| windows).collect();
            prop_assert_eq!(layout.windows.len(), given.len());
            for (index, ((id, rect), (known, size))) in layout.windows.iter().zip(given).enumerate() {
                prop_assert_eq!(id, known);
                let card = layout.cards.iter().find(|card| inside(card.rect, *rect));
                prop_assert!(card.is_some_and(|card| spaces.iter().any(|(number, windows)| {
                    *number == card.number && windows.iter().any(|(window, _)| window == id)
                })), "{:?} at {:?}", id, rect);
                prop_assert!(layout.windows[..index].iter().all(|(_, other)| apart(*other, *rect)));
                let (across, down) = (rect.size.w / size.w, rect.size.h / size.h);
                prop_assert!((across - down).abs() < 1e-9 && across <= 1.0 && across > 0.0, "{} {}", across, down);
            }
        }

        #[test]
        fn row_of_empty_workspaces_is_inside_and_apart_from_all_cards(
            sizes in sizes(), w in 64..8_000, h in 64..5_000, count in 0..25_usize,
        ) {
            let area = Rectangle::from_size(Size::from((w, h))).to_f64();
            let empty = |number: WorkspaceNumber| EmptyWorkspace { number, characters: usize::from(number.get()) };
            let empty: Vec<_> = WorkspaceNumber::all().rev().take(count).map(empty).collect();
            let layout = OverviewLayout::with_empty(area, &spaces(&sizes), &empty);
            prop_assert_eq!(layout.empty.len(), count);
            for (index, card) in layout.empty.iter().enumerate() {
                prop_assert!(inside(area, card.rect), "{:?}", card);
                let others = layout.empty[..index].iter().chain(&layout.cards);
                prop_assert!(others.into_iter().all(|other| apart(other.rect, card.rect)), "{:?}", card);
            }
            for (id, rect) in &layout.windows {
                let button = layout.close_button(*id).unwrap();
                prop_assert!(inside(*rect, button), "{:?} in {:?}", button, rect);
            }
        }

        #[test]
        fn arrows_lead_to_windows_that_are_there(sizes in sizes(), right in -1..=1_i8) {
            let layout = OverviewLayout::new(Rectangle::from_size((1280.0, 720.0).into()), &spaces(&sizes));
            for (id, _) in &layout.windows {
                let step = if right == 0 { (0, 1) } else { (right, 0) };
                let next = layout.towards(*id, step).unwrap();
                prop_assert!(layout.window(next).is_some());
            }
        }
    }

    #[test]
    fn two_windows_side_by_side_are_reached_with_the_arrows() {
        let layout = OverviewLayout::new(Rectangle::from_size((1280.0, 720.0).into()), &spaces(&[vec![(400, 300); 2]]));
        let (left, right) = (WindowId(1), WindowId(2));
        assert_eq!(layout.towards(left, (1, 0)), Some(right));
        assert_eq!(layout.towards(right, (1, 0)), Some(right));
        assert_eq!(layout.towards(right, (-1, 0)), Some(left));
    }
}
