//! Matchings in which rows and columns may have several links each.

use super::{AssignmentError, Nulls, check};

/// Finds best sets of links with a limited number per row and per column. Calls after the first of a size
/// do not allocate.
///
/// Rows and columns without links have the score 0. The problem is a flow of minimum cost from rows to
/// columns, in which each link carries at most one unit. It is solved by successive shortest paths: each
/// path adds one more link in the best way, and paths get longer, so the search ends with the first path
/// that does not pay. With L links in the answer, this takes O(L(R + C)²) steps. Only links with positive
/// scores are considered. A link needs no path if its row and its column have room for all of their
/// links.
///
/// ```
/// use maxmargin::inference::DegreeBounded;
///
/// let (mut solver, mut links) = (DegreeBounded::new(), Vec::new());
/// let scores = [3.0, 2.0, 1.0,   // row 0 with columns 0, 1, 2
///               4.0, -1.0, 0.5];
/// assert_eq!(solver.solve(&scores, 2, 3, [1, 1], &mut links)?, 6.0);
/// assert_eq!(links, [(0, 1), (1, 0)]);
/// assert_eq!(solver.solve(&scores, 2, 3, [2, 1], &mut links)?, 7.0); // two links per row
/// assert_eq!(links, [(0, 1), (0, 2), (1, 0)]);
/// assert_eq!(solver.solve(&scores, 2, 3, [3, 2], &mut links)?, 10.5);
/// # Ok::<(), maxmargin::inference::AssignmentError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct DegreeBounded {
    links: Vec<Link>,
    /// The number of links with positive scores of each row, then of each column.
    wanted: Vec<usize>,
    /// The number of links of each row, then of each column.
    degrees: Vec<usize>,
    /// Distances from the source before the last path, for rows, then columns.
    potentials: Vec<f64>,
    /// Distances in reduced costs, and the previous node on the path.
    distances: Vec<f64>,
    before: Vec<u32>,
    done: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// The score is not positive.
    Out,
    Open,
    Used,
    /// The link is in every best answer.
    Settled,
}

/// Marks the beginning of a path.
const SOURCE: u32 = u32::MAX;

impl DegreeBounded {
    /// Creates a solver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the best links (row, column) to `links`, in order, and returns their score.
    ///
    /// `scores` are stored row by row; −∞ forbids a link. `most` are the largest numbers of links of a
    /// row and of a column.
    ///
    /// # Errors
    /// If a score is NaN or +∞.
    ///
    /// # Panics
    /// If the number of scores is not `rows` · `columns`.
    pub fn solve(
        &mut self,
        scores: &[f64],
        rows: usize,
        columns: usize,
        most: [usize; 2],
        links: &mut Vec<(u32, u32)>,
    ) -> Result<f64, AssignmentError> {
        self.solve_after(scores, rows, columns, most, &[], links)
    }

    /// Like [`solve`](Self::solve), but rows and columns already have the links `taken`. These count
    /// towards `most` but are not part of the answer, and their scores must forbid them.
    pub(super) fn solve_after(
        &mut self,
        scores: &[f64],
        rows: usize,
        columns: usize,
        most: [usize; 2],
        taken: &[(u32, u32)],
        links: &mut Vec<(u32, u32)>,
    ) -> Result<f64, AssignmentError> {
        check(scores, rows, columns, Nulls::Free)?;
        links.clear();
        self.degrees.clear();
        self.degrees.resize(rows + columns, 0);
        for &(row, column) in taken {
            self.degrees[row as usize] += 1;
            self.degrees[rows + column as usize] += 1;
        }
        self.settle(scores, rows, columns, most);
        self.begin(scores, rows, columns);
        // The potential of the sink. A path pays while it is below that of the source, which is 0.
        let mut cost = self.potentials[rows..].iter().copied().fold(f64::INFINITY, f64::min);
        while let Some((end, distance)) = self.find_path(scores, rows, columns, most, cost) {
            cost += distance;
            // The cost is never NaN. Rounding can make a worthless path seem to pay a tiny amount.
            if cost >= 0.0 {
                break;
            }
            for ((potential, own), done) in
                self.potentials.iter_mut().zip(&self.distances).zip(&self.done)
            {
                *potential += if *done { own.min(distance) } else { distance };
            }
            self.take(end, rows, columns);
        }
        let mut total = 0.0;
        let is_in = |link: &Link| matches!(link, Link::Used | Link::Settled);
        for (at, _) in self.links.iter().enumerate().filter(|(_, link)| is_in(link)) {
            links.push(((at / columns) as u32, (at % columns) as u32));
            total += scores[at];
        }
        Ok(total)
    }

    /// Finds the links with positive scores, and takes those that do not compete with others.
    fn settle(&mut self, scores: &[f64], rows: usize, columns: usize, most: [usize; 2]) {
        let Self { links, wanted, degrees, .. } = self;
        wanted.clear();
        wanted.extend_from_slice(degrees);
        for (at, _) in scores.iter().enumerate().filter(|(_, score)| **score > 0.0) {
            wanted[at / columns] += 1;
            wanted[rows + at % columns] += 1;
        }
        links.clear();
        links.extend(scores.iter().enumerate().map(|(at, &score)| {
            let has_room =
                wanted[at / columns] <= most[0] && wanted[rows + at % columns] <= most[1];
            match score > 0.0 {
                false => Link::Out,
                true if has_room => Link::Settled,
                true => Link::Open,
            }
        }));
    }

    /// Sets the distances for the start, at which no link is used and every row is at the source.
    fn begin(&mut self, scores: &[f64], rows: usize, columns: usize) {
        let Self { links, potentials, .. } = self;
        potentials.clear();
        potentials.resize(rows, 0.0);
        potentials.resize(rows + columns, f64::INFINITY);
        let open = links.iter().enumerate().filter(|(_, link)| **link == Link::Open);
        for (at, _) in open {
            let potential = &mut potentials[rows + at % columns];
            *potential = potential.min(-scores[at]);
        }
    }

    /// Runs Dijkstra's algorithm from all rows with room to the nearest column with room. Returns that
    /// column and its distance, by which the distance of the sink grows.
    fn find_path(
        &mut self,
        scores: &[f64],
        rows: usize,
        columns: usize,
        most: [usize; 2],
        sink: f64,
    ) -> Option<(usize, f64)> {
        let Self { links, degrees, potentials, distances, before, done, .. } = self;
        let nodes = rows + columns;
        distances.clear();
        distances.resize(nodes, f64::INFINITY);
        before.clear();
        before.resize(nodes, SOURCE);
        done.clear();
        done.resize(nodes, false);
        // Start from all rows with room.
        for row in (0..rows).filter(|&row| degrees[row] < most[0]) {
            distances[row] = (-potentials[row]).max(0.0);
        }
        let (mut end, mut nearest_end) = (None, f64::INFINITY);
        loop {
            // Take the nearest node that is not done.
            let open = (0..nodes).filter(|&node| !done[node]);
            let shorter = |a: usize, b: usize| if distances[b] < distances[a] { b } else { a };
            let Some(node) = open.reduce(shorter) else {
                return end.map(|end| (end, nearest_end));
            };
            let distance = distances[node];
            if distance >= nearest_end || distance == f64::INFINITY {
                return end.map(|end| (end, nearest_end));
            }
            done[node] = true;
            if node < rows {
                // From a row, links that are not used yet lead to columns.
                for c in 0..columns {
                    let at = node * columns + c;
                    if links[at] != Link::Open || done[rows + c] {
                        continue;
                    }
                    let reduced = (potentials[node] - potentials[rows + c] - scores[at]).max(0.0);
                    if distance + reduced < distances[rows + c] {
                        distances[rows + c] = distance + reduced;
                        before[rows + c] = node as u32;
                    }
                }
            } else {
                let c = node - rows;
                if degrees[node] < most[1] {
                    let to_sink = distance + (potentials[node] - sink).max(0.0);
                    if to_sink < nearest_end {
                        (end, nearest_end) = (Some(node), to_sink);
                    }
                }
                // From a column, used links lead back to rows.
                let is_used = |row: usize| links[row * columns + c] == Link::Used;
                for row in (0..rows).filter(|&row| is_used(row) && !done[row]) {
                    let score = scores[row * columns + c];
                    let reduced = (potentials[node] - potentials[row] + score).max(0.0);
                    if distance + reduced < distances[row] {
                        distances[row] = distance + reduced;
                        before[row] = node as u32;
                    }
                }
            }
        }
    }

    /// Flips the links of a path: uses those that were not used, and gives up those that were.
    fn take(&mut self, end: usize, rows: usize, columns: usize) {
        self.degrees[end] += 1;
        let mut node = end;
        loop {
            let from = self.before[node];
            if from == SOURCE {
                self.degrees[node] += 1;
                return;
            }
            let (row, column) = (node.min(from as usize), node.max(from as usize) - rows);
            let link = &mut self.links[row * columns + column];
            *link = if *link == Link::Used { Link::Open } else { Link::Used };
            node = from as usize;
        }
    }
}
