//! Limits the damage rectangles of an update: very many of them cost more time than drawing the pixels between them.

use smithay::utils::Rectangle;
use smithay::wayland::compositor::Damage;

/// Damage rectangles of one update before their bounding box replaces them: a terminal damages each of its lines, and
/// has a hundred or two.
pub const MOST_DAMAGE: usize = 256;

/// Replaces more than [`MOST_DAMAGE`] rectangles by a bounding box of each kind.
pub(super) fn limit_damage(damage: &mut Vec<Damage>) {
    if damage.len() <= MOST_DAMAGE {
        return;
    }
    let of_surface = damage.iter().filter_map(|one| if let Damage::Surface(rect) = one { Some(*rect) } else { None });
    let of_buffer = damage.iter().filter_map(|one| if let Damage::Buffer(rect) = one { Some(*rect) } else { None });
    let around = (of_surface.reduce(Rectangle::merge), of_buffer.reduce(Rectangle::merge));
    damage.clear();
    damage.extend(around.0.map(Damage::Surface).into_iter().chain(around.1.map(Damage::Buffer)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_damage_becomes_its_bounding_box() {
        let surface = |x: usize| Damage::Surface(Rectangle::new((x as i32, 0).into(), (1, 1).into()));
        let mut damage: Vec<_> = (0..=MOST_DAMAGE).map(surface).collect();
        damage[3] = Damage::Buffer(Rectangle::new((5, 5).into(), (2, 2).into()));
        limit_damage(&mut damage);
        let all = Rectangle::from_size((MOST_DAMAGE as i32 + 1, 1).into());
        let buffer = Rectangle::new((5, 5).into(), (2, 2).into());
        assert!(
            matches!(&damage[..], [Damage::Surface(a), Damage::Buffer(b)] if (*a, *b) == (all, buffer)),
            "{damage:?}"
        );
    }
}
