use super::*;
use crate::{
    DataError, Dataset, Format, Lines, RawSequence, ReadSequences, Template, guess_format,
    open_reader, read_training,
};

fn lines(text: &str) -> Lines {
    Lines::from_reader("f", std::io::Cursor::new(text.to_owned())).unwrap()
}

/// Reads data to train on, whose format is found out.
fn train(text: &str) -> Result<Dataset, String> {
    open_reader(lines(text), None).and_then(read_training).map_err(|error| error.to_string())
}

/// Words, with labels if they have any.
type Sentence = Vec<(String, Option<String>)>;

/// What a template makes of new data: labels, and the first attribute of each token, which is its word.
fn tokens(template: &Template, text: &str) -> Result<Vec<Sentence>, String> {
    let mut reader = template.clone().open(lines(text));
    let (mut all, mut raw) = (Vec::new(), RawSequence::new());
    loop {
        match reader.read(&mut raw) {
            Err(error) => return Err(error.to_string()),
            Ok(false) => return Ok(all),
            Ok(true) => {}
        }
        let token = |token: crate::RawToken<'_>| {
            let (word, _) = token.attributes().find(|(name, _)| name.starts_with("w[0]=")).unwrap();
            (word["w[0]=".len()..].to_owned(), token.label().map(str::to_owned))
        };
        all.push(raw.tokens().map(token).collect());
    }
}

/// The words of sentences, with their labels if they have any.
fn show(sentences: &[Sentence]) -> String {
    let token = |(word, label): &(String, Option<String>)| match label {
        Some(label) => format!("{word}/{label}"),
        None => word.clone(),
    };
    let sentence = |tokens: &Vec<_>| tokens.iter().map(token).collect::<Vec<_>>().join(" ");
    sentences.iter().map(sentence).collect::<Vec<_>>().join(" . ")
}

fn read(template: &Template, text: &str) -> String {
    tokens(template, text).map_or_else(|error| error, |sentences| show(&sentences))
}

const TWO: &str = "the DT\ncat NN\n\na DT\ndog NN\n";
const FOUR: &str =
    "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nPeter NNP B-NP B-PER\n";
const CONLLU: &str = "# sent_id = 1\n# text = Du vin\n\
    1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_\n\
    1\tDe\tde\tADP\tP\t_\t3\tcase\t_\t_\n\
    2\tle\tle\tDET\tD\tDefinite=Def|Gender=Masc\t3\tdet\t_\t_\n\
    3\tvin\tvin\tNOUN\tN\t_\t0\troot\t_\t_\n\
    3.1\tbu\tboire\tVERB\tV\t_\t_\t_\t_\t_\n\n\
    # sent_id = 2\n\
    1\tOui\toui\tINTJ\tI\t_\t0\troot\t_\t_\n";

#[test]
fn every_kind_is_recognised_and_gets_its_template() {
    let rules = |text: &str| train(text).unwrap().template.unwrap().describe().unwrap();
    let between = |columns: &str, separator: &str, template: &str| {
        format!("columns `{columns}` between {separator}; attributes by --template {template}")
    };
    assert_eq!(rules(TWO), between("word label", "blanks", "words"));
    assert_eq!(rules(&TWO.replace(' ', "\t")), between("word label", "tabs", "words"));
    assert_eq!(rules("a DT B-NP\ncat NN I-NP\n"), between("word pos label", "blanks", "words+pos"));
    assert_eq!(rules(FOUR), between("word pos column3 label", "blanks", "words+pos"));
    let headed = "token\tpos\tchunk\tner\nEU\tNNP\tB-NP\tB-ORG\nrejects\tVBZ\tB-VP\tO\n";
    assert_eq!(rules(headed), between("token pos chunk ner", "tabs", "words+pos"));
    assert_eq!(rules(CONLLU), "CoNLL-U with the label UPOS; attributes by --template words");
    assert_eq!(
        rules(&CONLLU.replace('\t', " ")),
        "CoNLL-U with the label UPOS; attributes by --template words"
    );
}

#[test]
fn labels_are_those_of_the_tokens_and_nothing_else() {
    let labels = |text: &str| -> Vec<String> {
        train(text).unwrap().labels.iter().map(str::to_owned).collect()
    };
    assert_eq!(labels(TWO), ["DT", "NN"]);
    assert_eq!(labels(FOUR), ["B-ORG", "O", "B-PER"]);
    assert_eq!(labels(CONLLU), ["ADP", "DET", "NOUN", "INTJ"]);
    assert_eq!(labels(&format!("word tag\n{TWO}")), ["DT", "NN"]);
    assert_eq!(labels(&format!("# id 7 domain=en\n{TWO}")), ["DT", "NN"]);
    // MultiCoNER's comments have as many parts as its lines.
    assert_eq!(labels("# id 7 en\nEU _ B-ORG\nwins _ O\n\n# id 8 en\n# _ O\n"), ["B-ORG", "O"]);
}

#[test]
fn words_may_begin_with_a_hash() {
    let data = train("#fun NN\nis VB\n\n#cat NN\n\n# NN\ntwo CD\n").unwrap();
    assert_eq!((data.sequences.len(), data.sequences.tokens()), (3, 5));
    let words = data.template.unwrap();
    assert_eq!(read(&words, "#a NN\n#b NN\n"), "#a/NN #b/NN");
    assert_eq!(read(&words, "#\nb\n"), "# b");
    // Comments may have as many columns as tokens without labels.
    let chunking = Template::built_in(BuiltInTemplate::Chunking, 3).unwrap();
    let text = "# first\na DT\n# #\n\n# second\nb NN\n\n# #\nc NN\n";
    assert_eq!(read(&chunking, text), "a # . b . # c");
}

#[test]
fn a_missing_column_means_no_labels() {
    let two = train(TWO).unwrap().template.unwrap();
    assert_eq!(read(&two, "a\ncat\n\ndog"), "a cat . dog");
    assert_eq!(read(&two, "a X\ncat Y\n"), "a/X cat/Y");
    assert_eq!(read(&two, "a\tX\ncat\tY\n"), "a/X cat/Y");
    let four = train(FOUR).unwrap().template.unwrap();
    assert_eq!(read(&four, "EU NNP B-NP\n\n-DOCSTART- -X- O\n\nPeter NNP B-NP\n"), "EU . Peter");
    let upos = train(CONLLU).unwrap().template.unwrap();
    assert_eq!(read(&upos, CONLLU), "De/ADP le/DET vin/NOUN . Oui/INTJ");
    assert_eq!(read(&upos, "1\tOui\t_\t_\t_\t_\t_\t_\t_\t_\n"), "Oui");
    // Words alone do as well, and words with a label.
    assert_eq!(read(&upos, "Oui\nnon\n"), "Oui non");
    assert_eq!(read(&upos, "Oui INTJ\n"), "Oui/INTJ");
    assert_eq!(read(&two, CONLLU), "De/ADP le/DET vin/NOUN . Oui/INTJ");
}

#[test]
fn words_between_tabs_may_have_spaces() {
    let data = train("New York\tB-LOC\nis\tO\nbig\tO\n").unwrap();
    let template = data.template.unwrap();
    assert_eq!(read(&template, "New York\n\nis\nbig\n"), "New York . is big");
    assert!(read(&template, "EU NNP O\nis VBZ O\n").ends_with("found 3 columns"));
    assert_eq!(read(&template, "New York\tX\nis\tO\n"), "New York/X is/O");
    assert_eq!(read(&template, "York X\nis O\n"), "York/X is/O");
}

#[test]
fn other_numbers_of_columns_are_refused_and_say_what_was_expected() {
    let two = train(TWO).unwrap().template.unwrap();
    assert_eq!(
        read(&two, "\n\na DT x\n"),
        "f:3:1: expected 2 columns as in training (word label), or 1 without the label, found 3 columns"
    );
    let four = train(FOUR).unwrap().template.unwrap();
    assert_eq!(
        read(&four, "EU NNP\n"),
        "f:1:1: expected 4 columns as in training (word pos column3 label), or 3 without the label, \
         found 2 columns"
    );
    let upos = train(CONLLU).unwrap().template.unwrap();
    assert_eq!(
        read(&upos, "1\tOui\toui\tINTJ\n"),
        "f:1:15: expected the 10 columns of CoNLL-U, between tabs, found 4"
    );
}

#[test]
fn ragged_lines_are_named() {
    let ragged = |text: &str| train(text).unwrap_err();
    let two = "expected 2 columns between blanks, as in the lines before, found";
    assert_eq!(ragged("a DT\nb NN\nc DT\nd NN\ne\nf NN\n"), format!("f:5:2: {two} 1"));
    assert_eq!(ragged("a DT\nb NN\nc DT\nd NN\ne X Y\n"), format!("f:5:6: {two} 3"));
    let tabs = two.replace("blanks", "tabs");
    assert_eq!(ragged("a\tDT\nNew York\tNN\nc\tDT\nd\tNN\ne f\n"), format!("f:5:4: {tabs} 1"));
    assert_eq!(
        ragged(&CONLLU.replace("N\t_\t0\troot\t_\t_\n", "N\t_\t0\troot\t_\n")),
        "f:6:28: expected the 10 columns of CoNLL-U, between tabs, found 9"
    );
    let wrong = CONLLU.replace("2\tle", "b\tle");
    assert_eq!(
        ragged(&wrong),
        "f:5:1: expected the number of a token, such as 1, 1-2 or 1.1, found `b`"
    );
}

#[test]
fn line_ends_and_marks_of_all_sorts_are_read() {
    let plain = train(TWO).unwrap();
    for text in [
        TWO.replace('\n', "\r\n"),
        format!("\u{feff}{TWO}"),
        TWO.trim_end().to_owned(),
        format!("\n\n{TWO}\n\n\n"),
        TWO.replace("\n\n", "\n \t\n"),
        TWO.replace("cat NN", "  cat \t NN  "),
        format!("-DOCSTART-\n\n{TWO}"),
        format!("word label\n\n{TWO}"),
    ] {
        let other = train(&text).unwrap();
        assert_eq!((&other.sequences, &other.attributes), (&plain.sequences, &plain.attributes));
        assert_eq!(other.fingerprint, plain.fingerprint, "{text:?}");
    }
}

#[test]
fn single_columns_and_empty_files_are_refused() {
    let error = train("the\ncat\n").unwrap_err();
    assert!(error.contains("(they have a single column, and so no labels)"), "{error}");
    let error = Template::choose(&mut lines("# c\nthe\ncat\n"), None, None, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "f:2:1: expected two columns or more, the word first and its label last, found 1 column"
    );
    for text in ["", "\n", "# only\n# comments\n", "-DOCSTART- -X- O O\n\n"] {
        let error = Template::choose(&mut lines(text), None, None, None).unwrap_err();
        assert!(matches!(error, DataError::Empty { .. }), "{text:?}: {error}");
    }
}

#[test]
fn templates_for_other_columns_name_those_that_fit() {
    let choose = |text: &str, name| {
        Template::choose(&mut lines(text), Some(name), None, None).unwrap_err().to_string()
    };
    assert_eq!(
        choose(TWO, BuiltInTemplate::Chunking),
        "f:1:1: expected the columns `word pos chunk` of --template chunking, found 2 columns; \
         --template words takes `word label`"
    );
    assert_eq!(
        choose(FOUR, BuiltInTemplate::Chunking),
        "f:3:1: expected the columns `word pos chunk` of --template chunking, found 4 columns; \
         --template words+pos takes `word pos … label`"
    );
    assert!(choose(TWO, BuiltInTemplate::WordsPos).contains("--template words takes"));
    assert_eq!(
        choose(CONLLU, BuiltInTemplate::WordsPos),
        "f: --template words+pos looks at UPOS, which is the label; --template words looks at words \
         only, --label-column names another label"
    );
}

#[test]
fn another_column_can_be_the_label() {
    let choose = |text: &str, name: Option<BuiltInTemplate>, label: &str| {
        let mut lines = lines(text);
        let template = Template::choose(&mut lines, name, None, Some(label));
        template.map_err(|error| error.to_string()).map(|template| read(&template, text))
    };
    assert_eq!(choose(FOUR, None, "3").unwrap(), "EU/B-NP rejects/B-VP . Peter/B-NP");
    assert_eq!(choose(CONLLU, None, "xpos").unwrap(), "De/P le/D vin/N . Oui/I");
    let pos = Some(BuiltInTemplate::WordsPos);
    assert_eq!(choose(CONLLU, pos, "DEPREL").unwrap(), "De/case le/det vin/root . Oui/root");
    assert_eq!(
        choose(CONLLU, None, "FEATS").unwrap(),
        "De/_ le/Definite=Def|Gender=Masc vin/_ . Oui/_"
    );
    let headed = format!("word tag\n{TWO}");
    assert_eq!(choose(&headed, None, "TAG").unwrap(), "the/DT cat/NN . a/DT dog/NN");
    assert_eq!(choose(TWO, None, "1").unwrap(), "DT/the NN/cat . DT/a NN/dog");
    for (text, label, why) in [
        (TWO, "3", "--label-column is 3, and there are 2 columns"),
        (TWO, "0", "the file has no header; give the number of the column, from 1"),
        (headed.as_str(), "ner", "there is no column `ner`; the columns are word, tag"),
        (CONLLU, "upso", "did you mean UPOS?"),
    ] {
        let error = choose(text, None, label).unwrap_err();
        assert!(error.starts_with("f: ") && error.contains(why), "{error}");
    }
}

#[test]
fn the_words_template_looks_at_words_near_by() {
    let mut reader = open_reader(lines("The DT\n2nd JJ\nMcCoys NNS\n"), None).unwrap();
    let mut raw = RawSequence::new();
    assert!(reader.read(&mut raw).unwrap());
    let names = |t: usize| {
        raw.token(t).attributes().map(|(name, _)| name.to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(1),
        "w[0]=2nd lower[-1]=the lower[0]=2nd lower[1]=mccoys lower[-1]|lower[0]=the|2nd \
         lower[0]|lower[1]=2nd|mccoys prefix1[0]=2 prefix2[0]=2n suffix1[0]=d suffix2[0]=nd \
         suffix3[1]=oys shape[-1]=Xx shape[0]=0x shape[1]=XxXx"
    );
    assert!(names(0).ends_with("shape[1]=0x __BOS__") && names(2).ends_with("__EOS__"));
}

#[test]
fn further_columns_are_seen_by_words_and_pos() {
    let mut reader = open_reader(lines(FOUR), None).unwrap();
    let mut raw = RawSequence::new();
    assert!(reader.read(&mut raw).unwrap());
    let has = |t: usize, wanted: &str| raw.token(t).attributes().any(|(name, _)| name == wanted);
    assert!(has(0, "pos[0]|pos[1]=NNP|VBZ") && has(0, "column3[1]=B-VP") && has(1, "lower[-1]=eu"));
    assert!(!raw.token(0).attributes().any(|(name, _)| name.contains("B-ORG")));
}

#[test]
fn templates_survive_storage_with_their_attributes_spelt_out() {
    for text in [TWO, FOUR, CONLLU, "word tag\nthe DT\ncat NN\n"] {
        let template = train(text).unwrap().template.unwrap();
        let json = serde_json::to_string(&template).unwrap();
        let stored = serde_json::from_str::<Template>(&json).unwrap();
        assert_eq!(stored, template);
        assert_eq!(read(&stored, text), read(&template, text));
        // Other attributes, as a later version may have, stay what they are.
        let fewer = json.replace("\"prefix2[0]\",", "");
        let fewer = serde_json::from_str::<Template>(&fewer).unwrap();
        let mut raw = RawSequence::new();
        fewer.open(lines(text)).read(&mut raw).unwrap();
        assert!(!raw.names().any(|name| name.starts_with("prefix2[0]=")));
        let more = json.replace("\"columns\":10", "\"columns\":50");
        assert_eq!(serde_json::from_str::<Template>(&more).is_err(), text == CONLLU);
        assert!(serde_json::from_str::<Template>(&json.replace("\"w[0]\"", "\"x[0]\"")).is_err());
        assert!(
            serde_json::from_str::<Template>(&json.replace("\"label\":", "\"label\":99")).is_err()
        );
    }
}

#[test]
fn lines_are_repeated_with_labels_beside_them() {
    let repeat = |template: &Template, text: &str| {
        let mut reader = template.clone().open(lines(text));
        assert!(reader.keep_lines());
        let (mut output, mut raw) = (Vec::new(), RawSequence::new());
        loop {
            let more = reader.read(&mut raw).unwrap();
            let labels = vec!["?"; raw.len()];
            reader.kept_lines().unwrap().write(&mut output, labels).unwrap();
            if !more {
                return String::from_utf8(output).unwrap();
            }
        }
    };
    let two = train(TWO).unwrap().template.unwrap();
    assert_eq!(repeat(&two, TWO), "the DT ?\ncat NN ?\n\na DT ?\ndog NN ?\n");
    assert_eq!(repeat(&two, "a\n\n\ndog\n\n# end now ok\n"), "a ?\n\n\ndog ?\n\n# end now ok\n");
    assert_eq!(repeat(&two, "word\ttag\na\tDT\n"), "word\ttag\tpredicted\na\tDT\t?\n");
    let four = train(FOUR).unwrap().template.unwrap();
    assert_eq!(repeat(&four, FOUR).lines().next(), Some("-DOCSTART- -X- O O"));
    let upos = train(CONLLU).unwrap().template.unwrap();
    let expected = CONLLU.replace("\tADP\t", "\t?\t").replace("\tDET\t", "\t?\t");
    let expected = expected.replace("\tNOUN\t", "\t?\t").replace("\tINTJ\t", "\t?\t");
    assert_eq!(repeat(&upos, CONLLU), expected);
}

#[test]
fn bare_lines_are_all_tokens() {
    let template = Template::built_in(BuiltInTemplate::Words, 2).unwrap();
    let mut reader = template.open_bare(lines("word label\n-DOCSTART- O\n\n# id\n"));
    let (mut raw, mut lengths) = (RawSequence::new(), Vec::new());
    while reader.read(&mut raw).unwrap() {
        lengths.push(raw.len());
    }
    assert_eq!(lengths, [2, 1]);
}

#[test]
fn the_format_is_guessed_for_every_kind() {
    for (text, format) in [(TWO, Format::Conll), (FOUR, Format::Conll), (CONLLU, Format::Conllu)] {
        assert_eq!(guess_format(&mut lines(text)).unwrap(), format);
    }
}
