//! What every page has, whatever is in the report.

use maxmargin_report::{
    Answer, Bar, Bars, Bitmap, Body, Browser, Code, Confusions, Drawing, Drawings, Example, Fact,
    Facts, Heatmap, Letter, Links, Network, Plot, Prose, Report, Section, Series, Shade,
    SvgOptions, Table, Tagged, TaggedExample, Theme, Tile, Tiles, Tone, Weights, Word, Words,
    XAxis, YAxis, plot_svg,
};

const NASTY: &str = "</script></style><img src=x onerror=alert(1)>\"'&amp; <!-- \u{0}\u{202e} ]]>";

/// Checks that tags are closed in order and that attributes are in quotes; gives all tags.
fn tags(page: &str) -> Vec<String> {
    const VOID: [&str; 4] = ["meta", "link", "img", "br"];
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").unwrap_or(page);
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        // The end of the tag is outside of quotes.
        let mut quoted = false;
        let end = rest
            .find(|character| {
                quoted ^= character == '"';
                character == '>' && !quoted
            })
            .unwrap_or_else(|| panic!("a tag does not end: {rest:.60}"));
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default().to_string();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "odd tag: {tag}");
        all.push(tag.to_string());
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            rest = rest.split_once(&close).unwrap_or_else(|| panic!("no {close}")).1;
        } else if !VOID.contains(&name.as_str()) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new());
    all
}

fn bitmap() -> Bitmap {
    Bitmap::new(2, 2, vec![0.0, 1.0, -0.5, f64::NAN])
}

/// A report of every kind of section, with `text` for every text.
fn everything(text: &str) -> Report {
    Report::new(text)
        .subtitle(text)
        .footer(text)
        .with(Prose::new(text).paragraph(text))
        .with(
            Facts::new(text)
                .fact(Fact::new(text, text).hint(text).tone(Tone::Good))
                .fact(Fact::new(text, text).tone(Tone::Warning))
                .fact(Fact::new(text, text).tone(Tone::Bad))
                .fact((text, text))
                .note(text),
        )
        .with(
            Plot::new(text)
                .note(text)
                .x(XAxis::new(text, text))
                .y(YAxis::new("y", text).log().guide(text, 0.5))
                .y(YAxis::together(text, [("y", text), ("z", text)]))
                .series(
                    Series::new(text)
                        .column(text, [1.0, 2.0, 3.0])
                        .column("y", [Some(1.0), None, Some(0.0)])
                        .band("y", [0.5], [1.5])
                        .column("z", [f64::NAN, 1.0]),
                )
                .series(Series::new(text).column(text, [1.0]).column("y", [2.0])),
        )
        .with(
            Table::new(text)
                .note(text)
                .text_column(text)
                .number_column(text)
                .row([text])
                .row([text, text, text]),
        )
        .with(
            Bars::new(text)
                .note(text)
                .unit(text)
                .bar(Bar::new(text).part(text, 1.0).part("b", f64::NAN)),
        )
        .with(
            Heatmap::new(text, [text, "b"], [text, "d"], vec![1.0, f64::NAN])
                .axes(text, text)
                .note(text),
        )
        .with(
            Heatmap::new(text, ["a"], ["c", "d"], vec![-1.0, 2.0])
                .meaning(-1.0, text)
                .meaning(2.0, text),
        )
        .with(Tiles::new(text, Shade::Diverging).note(text).tile(Tile::new(text, bitmap())))
        .with(
            Words::new(text)
                .note(text)
                .word(Word::new([Letter::new(bitmap(), text, "x")]).caption(text)),
        )
        .with(Tagged::new(text).note(text).example(TaggedExample::new([(text, text, "x")])))
        .with(
            Drawings::new(text)
                .note(text)
                .colour(text, 1)
                .drawing(Drawing::new(text, 2.0, 1.0).dashed((0.0, 0.0), (1.0, 1.0), 2)),
        )
        .with(Confusions::new(text, [text, "x"], vec![3.0, 1.0, 0.0, 2.0]).note(text))
        .with(
            bodies(text)
                .into_iter()
                .fold(Browser::new(text).note(text).colour(text, 3), |all, body| {
                    all.example(Example::new(text, body).note(text).cell(text, "x"))
                }),
        )
        .with(Weights::new(text).note(text).group(text, [(text, 1.0), ("x", -2.0)]))
        .with(
            Table::new(text)
                .label_column(text)
                .share_column(text)
                .row([text, text])
                .row([text, "50"])
                .row(["x", "–"]),
        )
        .with(Code::new(text, text).note(text))
        .labels([text, "x"])
}

/// Everything that an example can be.
fn bodies(text: &str) -> [Body; 6] {
    [
        Body::Tokens(TaggedExample::new([(text, text, "x"), ("x", "x", "x")])),
        Body::Word(Word::new([Letter::new(bitmap(), text, "x")])),
        Body::Answer(Answer::new([text], ["x"]).clues_are(text).clue(text, text)),
        Body::Links(Links::new([text], [text, "x"]).link(0, 1, 2)),
        Body::Network(Network::new([(text, "x"), ("x", text)]).edge(0, 1)),
        Body::Drawing(Drawing::new(text, 2.0, 1.0).dot((1.0, 1.0), 0)),
    ]
}

#[test]
fn nasty_texts_stay_texts() {
    let page = everything(NASTY).to_html();
    let tags = tags(&page);
    assert!(!page.contains("<img src=x"));
    assert!(!page.contains('\u{0}'));
    for tag in &tags {
        assert!(!tag.contains("onerror=alert") || tag.contains("&lt;img"), "{tag}");
    }
    let scripts = tags.iter().filter(|tag| tag.starts_with("script")).count();
    assert_eq!(scripts, 6, "one for the plot, each matrix and the examples, one for the page");
    // The same tags as with harmless texts: no text has become markup.
    let names = |tags: &[String]| -> Vec<String> {
        tags.iter().map(|tag| tag.split(' ').next().unwrap_or("").to_string()).collect()
    };
    let harmless = everything("a -b").to_html();
    assert_eq!(names(&tags), names(&self::tags(&harmless)));
}

#[test]
fn everything_is_there_and_nothing_is_fetched() {
    let page = everything("Label one").to_html();
    let tags = tags(&page);
    assert!(tags.iter().any(|tag| tag == "html lang=\"en\""));
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("h1")).count(), 1);
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("h2")).count(), 16);
    for tag in &tags {
        for name in ["src=\"", "href=\""] {
            for address in tag.split(name).skip(1) {
                assert!(address.starts_with("data:") || address.starts_with('#'), "{tag}");
            }
        }
        if tag.starts_with("img") {
            assert!(tag.contains("alt=\""), "{tag}");
        }
    }
    assert!(page.contains("Content-Security-Policy"));
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("@media print"));
    assert!(page.contains("\"name\":\"Label one\""), "the series is in the data");
    assert!(page.contains("1 point at or below zero"), "a log axis says what it leaves out");
}

/// Colours are explained as far as they are used, and matrices of words have words in place of numbers.
#[test]
fn colours_are_explained() {
    let page = |map: Heatmap| Report::new("").with(map).to_html();
    let matrix = |values| Heatmap::new("Counts", ["a"], ["b", "c"], values);
    let counts = page(matrix(vec![3.0, 0.0]));
    assert!(counts.contains("paper for zero, blue up to 3") && !counts.contains("−3"));
    let signed = page(matrix(vec![3.0, -1.0]));
    assert!(signed.contains("negative values down to −3"));
    let words = page(matrix(vec![1.0, -1.0]).meaning(1.0, "right").meaning(-1.0, "wrong"));
    assert!(words.contains("</i>wrong</li>") && words.contains("<td class=\"num\">wrong</td>"));
    assert!(!words.contains("negative values"));
}

#[test]
fn same_report_same_bytes() {
    assert_eq!(everything("x").to_html(), everything("x").to_html());
    assert_ne!(everything("x").to_html(), everything("y").to_html());
}

#[test]
fn the_page_itself_is_small() {
    let page = Report::new("").to_html();
    tags(&page);
    assert!(page.len() < 60_000, "{}", page.len());
    assert!(page.contains("This report is empty."));
}

#[test]
fn empty_sections_say_so() {
    let sections: [Section; 14] = [
        Prose::new("").into(),
        Facts::new("").into(),
        Plot::new("").into(),
        Table::new("").into(),
        Bars::new("").bar(Bar::new("")).into(),
        Heatmap::new("", [""; 0], [""; 0], vec![]).into(),
        Tiles::new("", Shade::Ink).into(),
        Words::new("").into(),
        Code::new("", "").into(),
        Tagged::new("").into(),
        Drawings::new("").into(),
        Confusions::new("", ["a"], vec![0.0]).into(),
        Browser::new("").into(),
        Weights::new("").group("a", [("x", f64::NAN)]).into(),
    ];
    let mut report = Report::new("");
    for section in sections {
        report.push(section);
    }
    let page = report.to_html();
    tags(&page);
    for text in [
        "no facts",
        "No axes to show",
        "no rows",
        "no amounts",
        "no cells",
        "no pictures",
        "no words",
        "no examples",
        "no drawings",
        "no predictions",
        "no weights",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn odd_values_are_survived() {
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0, 5e-324];
    let plot = Plot::xy("wild", "x", "y")
        .series(Series::xy("a", wild.iter().flat_map(|&x| wild.iter().map(move |&y| (x, y)))))
        .series(Series::new("only x").column("x", [1.0]))
        .series(Series::new("only y").column("y", [1.0]))
        .series(Series::new("only band").band("y", [1.0], [2.0]));
    let mut bar = Bar::new("wild");
    for value in wild {
        bar = bar.part("part", value);
    }
    let page = Report::new("wild")
        .with(plot)
        .with(Bars::new("b").bar(bar).bar(Bar::new("fine").part("part", 1.0)))
        .with(Heatmap::new("h", ["a"; 7], ["b"], wild.to_vec()))
        .with(Heatmap::new("all absent", ["a"], ["b"], vec![]))
        .with(
            Tiles::new("t", Shade::Diverging).tile(Tile::new("", Bitmap::new(7, 1, wild.to_vec()))),
        )
        .with(
            Tiles::new("t", Shade::Ink)
                .tile(Tile::new("", Bitmap::new(usize::MAX, usize::MAX, vec![]))),
        )
        .with(Words::new("w").word(Word::new([])).word(Word::new([Letter::new(
            Bitmap::default(),
            "",
            "",
        )])))
        .to_html();
    tags(&page);
    for word in ["NaN", "inf\"", "inf%"] {
        let page = page.split("<script>").next().unwrap();
        assert!(!page.contains(word), "{}", &page[page.find(word).unwrap() - 200..]);
    }
}

#[test]
fn long_runs_give_pages_of_bounded_size() {
    let rows = 1_000_000;
    let column = |shift: f64| (0..rows).map(move |row| (f64::from(row) * 0.37 + shift).sin() + 2.0);
    let plot = Plot::new("long")
        .x(XAxis::new("pass", "Passes"))
        .y(YAxis::new("gap", "Gap").log())
        .y(YAxis::new("dual", "Dual"))
        .series(
            Series::new("run")
                .column("pass", (0..rows).map(f64::from))
                .column("gap", column(0.0))
                .column("dual", column(1.0)),
        );
    let labels = || (0..400).map(|at| format!("label {at}"));
    let page = Report::new("long")
        .with(plot)
        .with(Heatmap::new("large", labels(), labels(), (0..160_000).map(f64::from).collect()))
        .to_html();
    tags(&page);
    assert!(page.len() < 600_000, "{}", page.len());
    assert!(page.contains("24 of 1,000,000 rows"));
}

#[test]
fn figures_stand_alone() {
    let Some(Section::Plot(plot)) =
        everything(NASTY).sections.into_iter().find(|section| matches!(section, Section::Plot(_)))
    else {
        panic!("there is a plot");
    };
    for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
        let svg = plot_svg(&plot, &SvgOptions::default().theme(theme));
        tags(&svg);
        assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\"") && !svg.contains("var("));
        assert_eq!(svg.contains("prefers-color-scheme"), theme == Theme::Auto);
    }
}
