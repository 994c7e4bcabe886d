//! Pixels of an image as a graph.

/// The edges between neighbours in a grid of `width` × `height` nodes, which are numbered row by row.
/// Diagonal neighbours are joined too if `diagonals` is true.
///
/// ```
/// use maxmargin::model::potts::grid_edges;
///
/// let edges: Vec<_> = grid_edges(3, 2, false).collect();
/// assert_eq!(edges, [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
/// assert_eq!(grid_edges(3, 2, true).count(), 7 + 4);
/// ```
pub fn grid_edges(
    width: usize,
    height: usize,
    diagonals: bool,
) -> impl Iterator<Item = (u32, u32)> {
    let steps: &[(isize, usize)] =
        if diagonals { &[(1, 0), (-1, 1), (0, 1), (1, 1)] } else { &[(1, 0), (0, 1)] };
    let pixels = (0..height).flat_map(move |y| (0..width).map(move |x| (x, y)));
    pixels.flat_map(move |(x, y)| {
        steps.iter().filter_map(move |&(right, down)| {
            let (to_x, to_y) = (x.checked_add_signed(right)?, y + down);
            let inside = to_x < width && to_y < height;
            inside.then(|| ((y * width + x) as u32, (to_y * width + to_x) as u32))
        })
    })
}

/// Attributes of an edge between nodes whose colours are `distance` apart: its length times exp(−distance
/// / width) for each of the widths. All are ≥ 0, and they are large if the colours are similar, so a
/// weight ≥ 0 is the cost of different labels for similar nodes.
///
/// ```
/// use maxmargin::model::potts::contrasts;
///
/// let attributes: Vec<_> = contrasts(2.0, 0.1, &[0.1, f64::INFINITY]).collect();
/// assert_eq!(attributes, [(0, 2.0 * (-1.0f64).exp()), (1, 2.0)]);
/// ```
pub fn contrasts(length: f64, distance: f64, widths: &[f64]) -> impl Iterator<Item = (u32, f64)> {
    let alike = move |width: &f64| length * (-distance / width).exp();
    widths.iter().map(alike).enumerate().map(|(at, value)| (at as u32, value))
}
