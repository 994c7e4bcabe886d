//! What a page tells of matchings on test data: the measures of alignments, and lines between words.

use crate::kind::tested::{Candidate, Look, Room, Tested, of_all, percent, pick};
use maxmargin::model::matching::Gold;
use maxmargin_io::{Alignments, RawAlignment, alignment_scores};
use maxmargin_report::{Body, Browser, Example, Links, Table};

/// Pairs of sentences on a page, and their words and links.
const ROOM: Room = Room { examples: 60, size: 3_000 };

/// What is drawn, and its colour. Links that were not predicted have the colours of absent lines.
const RIGHT: usize = 2;
const WRONG: usize = 1;
const MISSED: usize = 0;
const POSSIBLE: usize = 6;

pub(super) fn tested(
    sentences: &Alignments,
    predicted: &[Vec<(u32, u32)>],
    look: &Look<'_>,
) -> Tested {
    let s = alignment_scores(&sentences.links, predicted);
    let counts: Vec<Counts> = sentences
        .pairs
        .iter()
        .zip(predicted)
        .map(|(pair, links)| Counts::of(pair, links))
        .collect();
    let mut page = Tested::default();
    page.tile("AER", percent(s.aer()), "alignment error rate; the less the better".to_owned());
    page.tile("Precision", percent(s.precision()), "links that are sure or possible".to_owned());
    page.tile("Recall", percent(s.recall()), "sure links that were found".to_owned());
    let right = counts.iter().filter(|counts| counts.mistakes() == 0).count() as u64;
    page.tile(
        "Pairs without a mistake",
        percent(right as f64 / counts.len().max(1) as f64),
        of_all(right, counts.len() as u64, "pairs"),
    );
    let all = |part: fn(&Counts) -> usize| counts.iter().map(part).sum::<usize>() as u64;
    let row = |what: &str, count: u64| [what.to_owned(), count.to_string()];
    page.push(
        Table::new("Links of the test")
            .text_column("Links")
            .number_column("Number")
            .row(row("sure, and found", all(|c| c.sure)))
            .row(row("possible, and found", all(|c| c.possible)))
            .row(row("predicted wrongly", all(|c| c.wrong)))
            .row(row("sure, and missed", all(|c| c.missed))),
    );
    let candidate = |(counts, pair): (&Counts, &RawAlignment)| Candidate {
        errors: counts.mistakes() as f64,
        size: 2 * (pair.source.len() + pair.target.len()),
        mistakes: Vec::new(),
    };
    let candidates: Vec<Candidate> = counts.iter().zip(&sentences.pairs).map(candidate).collect();
    let picked = pick(&candidates, ROOM, look.seed);
    let note = format!("{} Those with most mistakes are the worst.", picked.note("pairs"));
    let mut browser = Browser::new("Examples of the test")
        .note(note)
        .per_page(4)
        .colour("a right link", RIGHT)
        .colour("a wrong link", WRONG)
        .colour("a sure link that was missed (dashed)", MISSED)
        .colour("a possible link that was left out (dashed)", POSSIBLE);
    for &(i, drawn) in &picked.examples {
        let counts = &counts[i];
        let note = match counts.mistakes() {
            0 => "no mistake".to_owned(),
            _ => format!("{} wrong, {} missed", counts.wrong, counts.missed),
        };
        let body = Body::Links(lines(&sentences.pairs[i], &predicted[i]));
        let example = Example::new(format!("Pair {}", i + 1), body).note(note);
        browser = browser.example(example.errors(candidates[i].errors).place(i, drawn));
    }
    page.push(browser);
    page
}

/// How the links of a pair of sentences were found.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    sure: usize,
    possible: usize,
    wrong: usize,
    missed: usize,
}

impl Counts {
    fn of(pair: &RawAlignment, links: &[(u32, u32)]) -> Self {
        let of = |gold: Gold| links.iter().filter(|&&(i, j)| pair.gold(i, j) == gold).count();
        let missed = pair.of_kind(Gold::Sure).iter().filter(|link| !links.contains(link)).count();
        Self { sure: of(Gold::Sure), possible: of(Gold::Possible), wrong: of(Gold::Wrong), missed }
    }

    /// Sure links that are missing, and links that are wrong.
    fn mistakes(&self) -> usize {
        self.missed + self.wrong
    }
}

/// The links of a pair of sentences, true and predicted; those that are there come last, over the others.
fn lines(pair: &RawAlignment, links: &[(u32, u32)]) -> Links {
    let mut drawn = Vec::new();
    for (gold, colour) in [(Gold::Possible, POSSIBLE), (Gold::Sure, MISSED)] {
        let absent = pair.of_kind(gold).into_iter().filter(|link| !links.contains(link));
        drawn.extend(absent.map(|link| (link, colour)));
    }
    drawn.extend(
        links
            .iter()
            .map(|&(i, j)| ((i, j), if pair.gold(i, j) == Gold::Wrong { WRONG } else { RIGHT })),
    );
    let sheet = Links::new(pair.source.clone(), pair.target.clone());
    drawn
        .into_iter()
        .fold(sheet, |sheet, ((i, j), colour)| sheet.link(i as usize, j as usize, colour))
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_io::{Lines, read_alignments};

    #[test]
    fn links_are_right_wrong_missed_or_left_out() {
        let text = "the dog 's house\tla maison de le chien\t1-1 2-5 3p3 4-2\n";
        let lines_of = Lines::from_reader("links.tsv", text.as_bytes()).unwrap();
        let pair = &read_alignments(lines_of).unwrap()[0];
        let links = [(0, 0), (1, 1)];
        let counts = Counts::of(pair, &links);
        assert_eq!(counts, Counts { sure: 1, possible: 0, wrong: 1, missed: 2 });
        let drawn = lines(pair, &links).links;
        assert_eq!(
            drawn,
            [(2, 2, POSSIBLE), (1, 4, MISSED), (3, 1, MISSED), (0, 0, RIGHT), (1, 1, WRONG)]
        );
    }
}
