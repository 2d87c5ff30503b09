//! Divides a length into whole pixels, without a remainder. No part gets less than its minimum as long as that is
//! possible.

/// Unit of [`ColumnWidth::Share`](super::op::ColumnWidth::Share): thousandths.
pub(super) const WHOLE: u16 = 1000;

/// Size of one part of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartLength {
    /// Size in whole pixels.
    Fixed(i32),
    /// Share in proportion to this weight, which is at least 1.
    Weight(u16),
}

/// Divides `length` among parts, each given with its minimum. Weighted parts share the rest exactly. A weighted part
/// whose share would be too small gets its minimum, and the other weighted parts share the rest. Fixed parts shrink if
/// the other parts would not fit. If even the minimums do not fit, each part gets its minimum.
pub(super) fn divide(length: i32, parts: &[(PartLength, i32)]) -> Vec<i32> {
    let mut sizes: Vec<i32> = parts.iter().map(|(_, least)| (*least).max(0)).collect();
    let mut left = i64::from(length) - sizes.iter().map(|size| i64::from(*size)).sum::<i64>();
    if left <= 0 {
        return sizes;
    }
    let is_weighted = parts.iter().any(|(part, _)| matches!(part, PartLength::Weight(_)));
    for (size, (part, _)) in sizes.iter_mut().zip(parts) {
        if let PartLength::Fixed(wanted) = part {
            let more = (i64::from(*wanted) - i64::from(*size)).clamp(0, left);
            *size += more as i32;
            left -= more;
        }
    }
    if is_weighted {
        fill(&mut sizes, parts, left);
    } else if let Some(last) = sizes.last_mut() {
        *last += left as i32;
    }
    sizes
}

/// Distributes the length that is `left` above the minimums among the weighted parts.
fn fill(sizes: &mut [i32], parts: &[(PartLength, i32)], left: i64) {
    // Index and weight of the weighted parts, without those parts whose minimum exceeds their share.
    let mut sharing: Vec<(usize, i64)> =
        parts.iter().enumerate().filter_map(|(index, (part, _))| weight(index, *part)).collect();
    let mut total: i64 = left + sharing.iter().map(|(index, _)| i64::from(sizes[*index])).sum::<i64>();
    loop {
        let weights: i64 = sharing.iter().map(|(_, weight)| weight).sum();
        let before = sharing.len();
        let mut kept = total;
        sharing.retain(|(index, weight)| {
            let fits = i64::from(sizes[*index]) * weights <= total * weight;
            if !fits {
                kept -= i64::from(sizes[*index]);
            }
            fits
        });
        total = kept;
        if sharing.len() == before {
            break;
        }
    }
    // Round edges down, not lengths: so there is no remainder, and a part whose exact share is enough stays large
    // enough.
    let weights: i64 = sharing.iter().map(|(_, weight)| weight).sum();
    let (mut sum, mut edge) = (0, 0);
    for (index, weight) in sharing {
        sum += weight;
        let next = total * sum / weights;
        sizes[index] = (next - edge) as i32;
        edge = next;
    }
}

fn weight(index: usize, part: PartLength) -> Option<(usize, i64)> {
    match part {
        PartLength::Weight(weight) => Some((index, i64::from(weight.max(1)))),
        PartLength::Fixed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part() -> impl Strategy<Value = (PartLength, i32)> {
        let part = prop_oneof![(1u16..9).prop_map(PartLength::Weight), (0i32..3000).prop_map(PartLength::Fixed)];
        (part, prop_oneof![3 => Just(1), 2 => 1i32..400])
    }

    proptest! {
        #[test]
        fn all_of_a_length_is_divided_and_nobody_gets_less_than_the_least(
            length in 0i32..4000, parts in proptest::collection::vec(part(), 1..9)
        ) {
            let sizes = divide(length, &parts);
            let least: i32 = parts.iter().map(|(_, least)| least).sum();
            prop_assert_eq!(sizes.iter().sum::<i32>(), length.max(least));
            for (size, (_, least)) in sizes.iter().zip(&parts) {
                prop_assert!(size >= least, "{sizes:?}");
            }
        }

        #[test]
        fn equal_weights_differ_by_a_pixel_at_most(length in 100i32..4000, count in 1usize..9) {
            let sizes = divide(length, &vec![(PartLength::Weight(3), 1); count]);
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            prop_assert!(most - least <= 1, "{sizes:?}");
        }
    }

    #[test]
    fn fixed_part_shrinks_to_fit_other_minimums() {
        assert_eq!(
            divide(1000, &[(PartLength::Fixed(300), 1), (PartLength::Weight(1), 1), (PartLength::Weight(2), 1)]),
            [300, 233, 467]
        );
        assert_eq!(divide(1000, &[(PartLength::Fixed(3000), 1), (PartLength::Weight(1), 150)]), [850, 150]);
        assert_eq!(divide(1000, &[(PartLength::Weight(1), 600), (PartLength::Weight(1), 1)]), [600, 400]);
        assert_eq!(divide(100, &[(PartLength::Weight(1), 600), (PartLength::Weight(1), 10)]), [600, 10]);
    }
}
