use super::*;

fn picks(order: Order, n: usize, count: usize) -> Vec<usize> {
    let (mut picker, mut rng) = (Picker::new(order, n, 1.0), Rng::new(1));
    (0..count).map(|_| picker.next(&mut rng).unwrap()).collect()
}

#[test]
fn a_permutation_visits_every_block_once_a_pass() {
    let picks = picks(Order::Permutation, 9, 27);
    for pass in picks.chunks(9) {
        let mut seen = pass.to_vec();
        seen.sort_unstable();
        assert_eq!(seen, (0..9).collect::<Vec<_>>());
    }
    assert_ne!(picks[..9], picks[9..18]);
}

#[test]
fn cyclic_wraps_around() {
    assert_eq!(picks(Order::Cyclic, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn a_lazy_order_lets_blocks_without_gap_rest() {
    let (mut picker, mut rng) = (Picker::new(Order::Lazy, 3, 1.0), Rng::new(1));
    let mut sweep = |picker: &mut Picker, gaps: [f64; 3]| {
        let mut seen = Vec::new();
        loop {
            let i = picker.next(&mut rng).unwrap();
            picker.update(i, gaps[i]);
            seen.push(i);
            if picker.ends_sweep(3, 0) {
                seen.sort_unstable();
                return seen;
            }
            assert_eq!(picker.known_gap(), None);
        }
    };
    // Block 1 has no gap, block 2 has none at first. All are seen twice, for before the first
    // sweep nothing is known.
    assert_eq!(sweep(&mut picker, [2.0, 0.0, -1e-18]), [0, 1, 2]);
    assert_eq!(picker.known_gap(), Some(2.0));
    assert_eq!(sweep(&mut picker, [2.0, 0.0, 3.0]), [0, 1, 2]);
    assert_eq!(picker.known_gap(), Some(5.0));
    for _ in 0..3 {
        assert_eq!(sweep(&mut picker, [2.0, 9.0, 0.5]), [0, 2]);
    }
    assert_eq!(picker.known_gap(), Some(2.5));
    // At a tenth of 2, which they were when all were seen last, all wake.
    assert_eq!(sweep(&mut picker, [0.15, 9.0, 0.05]), [0, 2]);
    assert_eq!(sweep(&mut picker, [0.15, 0.1, 0.0]), [0, 1, 2]);
    assert_eq!(sweep(&mut picker, [0.15, 0.1, 0.0]), [0, 1]);
    // An exact pass tells who has a gap.
    picker.refresh([0.0, 1.0, 0.0].into_iter());
    assert_eq!(picker.known_gap(), Some(1.0));
    assert_eq!(sweep(&mut picker, [0.0; 3]), [1]);
    // However long nothing has a gap, every block is visited again and again.
    for _ in 0..5 {
        assert_eq!(sweep(&mut picker, [0.0; 3]), [0, 1, 2]);
    }
}

#[test]
fn curvatures_and_sure_gains_are_what_blocks_are_drawn_by() {
    let (mut picker, mut rng) = (Picker::new(Order::Curvature, 3, 1.0), Rng::new(1));
    let mut seen: Vec<_> = (0..3).map(|_| picker.next(&mut rng).unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2], "every block comes first, once");
    assert_eq!(picker.next(&mut rng), None, "nothing has a curvature");
    picker.note_curvature(1, 2.0);
    picker.note_curvature(1, 1.0);
    picker.update(0, 9.0);
    assert!((0..20).all(|_| picker.next(&mut rng) == Some(1)), "gaps do not matter");
    picker.refresh([0.5, 0.0, 0.0].into_iter());
    assert_eq!(picker.next(&mut rng), Some(0), "a gap without a curvature is looked into");

    let mut picker = CurvedPicker::new(3, true);
    for (i, (gap, curvature)) in [(1.0, 4.0), (5.0, 4.0), (3.0, 0.0)].into_iter().enumerate() {
        picker.note_curvature(i, curvature);
        picker.update(i, gap);
    }
    assert_eq!([0, 1, 2].map(|i| picker.weight(i)), [0.125, 3.0, 3.0]);
    assert_eq!(picker.tree.root(), 6.125);
}

#[test]
fn uniform_stays_in_range() {
    assert!(picks(Order::Uniform, 5, 100).iter().all(|&i| i < 5));
}

#[test]
fn gap_orders_visit_every_block_first_and_then_follow_the_gaps() {
    for order in [Order::Gap, Order::MaxGap] {
        let (mut picker, mut rng) = (Picker::new(order, 4, 1.0), Rng::new(1));
        let mut seen: Vec<usize> = (0..4)
            .map(|_| {
                let i = picker.next(&mut rng).unwrap();
                picker.update(i, if i == 2 { 3.0 } else { 0.0 });
                i
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
        assert!((0..20).all(|_| picker.next(&mut rng) == Some(2)));
        picker.update(2, -1e-18);
        assert_eq!(picker.next(&mut rng), None, "nothing is known to be left");
        picker.refresh([0.0, 5.0, 0.0, 0.0].into_iter());
        assert_eq!(picker.next(&mut rng), Some(1));
    }
}
