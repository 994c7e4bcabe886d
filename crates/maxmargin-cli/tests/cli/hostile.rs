//! Names, files and data that somebody has made on purpose.

use crate::common::Desk;

#[test]
#[cfg(target_os = "linux")]
fn an_endless_file_is_refused_by_its_head() {
    let run = Desk::new().run("dump /dev/urandom");
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("error: /dev/urandom: not a maxmargin model: "),
        "{}",
        run.stderr
    );
}

#[test]
#[cfg(unix)]
fn data_paths_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;
    let desk = Desk::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.crf");
    std::fs::copy(desk.path("pets.crf"), desk.path("pets.crf").with_file_name(name)).unwrap();
    for (before, after) in
        [("train", "-q -o pets.model"), ("predict pets.model", "-q"), ("verify pets.model", "")]
    {
        let output =
            desk.command(before).arg(name).args(after.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let wrong = std::ffi::OsStr::from_bytes(b"./th\xe9.crf");
    let output = desk.command("train").arg(wrong).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("error: ./th\u{fffd}.crf: cannot be read: "), "{text}");
}

#[test]
fn names_cannot_act_on_the_terminal() {
    let desk = Desk::new();
    let graph = r#"{"variables": [{"states": 2, "truth": 0}], "factors": [{"template": "t\u001b[2J\n", "variables": [0], "attributes": {"a\u001b]0;x\u0007\r": 1}}]}"#;
    desk.write("graph.jsonl", format!("{graph}\n"));
    desk.run("train graph.jsonl -q -o graph.model").ok();
    let text = desk.run("dump graph.model").ok().stdout;
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    assert!(text.contains(r"t\u{1b}[2J\n"), "{text}");
    assert!(text.contains(r"a\u{1b}]0;x\u{7}\r"), "{text}");
    // Messages that name files and labels.
    let run = desk.run("train no/such\u{1b}[31m.txt");
    assert!(run.stderr.contains(r"such\u{1b}[31m.txt"), "{:?}", run.stderr);
    desk.write("esc.crf", "A\u{1b}[31m\tw=1\nB\tw=2\n");
    desk.run("train esc.crf -q -o esc.model").ok();
    for command in ["evaluate esc.model esc.crf", "dump esc.model", "train esc.crf --test esc.crf"]
    {
        let run = desk.run(command).ok();
        let all = run.stdout + &run.stderr;
        assert!(!all.contains('\u{1b}'), "{command}: {all:?}");
    }
    // Programs get names as they are.
    let labels = desk.run("predict esc.model esc.crf -q").ok().stdout;
    assert!(labels.starts_with("A\u{1b}[31m\n"), "{labels:?}");
}

#[test]
fn too_many_weights_are_told_before_memory_is_reserved() {
    let desk = Desk::new();
    let lines: String = (0..30_000).map(|label| format!("L{label}\tw={}\n", label % 50)).collect();
    desk.write("many.crf", lines);
    let run = desk.run("train many.crf -q");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("too many weights: 901590000; at most"), "{}", run.stderr);
    assert!(run.stderr.contains("--without transition"), "{}", run.stderr);
    let words = "word ".repeat(5000);
    desk.write("long.tsv", format!("{words}\t{words}\t1-1\n"));
    let run = desk.run("train long.tsv --format alignment -q");
    assert!(run.stderr.contains("found 5000 and 5000 words"), "{}", run.stderr);
}

#[test]
fn a_changed_byte_of_a_model_is_noticed() {
    let desk = Desk::with_model("-q");
    let mut bytes = std::fs::read(desk.path("pets.model")).unwrap();
    *bytes.last_mut().unwrap() ^= 4;
    desk.write("pets.model", bytes);
    for command in ["dump pets.model", "verify pets.model pets.crf", "predict pets.model pets.crf"]
    {
        let run = desk.run(command);
        assert_eq!(run.code, 1);
        assert!(run.stderr.contains("its check sum is wrong"), "{}", run.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_killed_run_has_left_is_cleared_by_the_next() {
    let desk = Desk::new();
    let before = desk.files("").len();
    // A full disk, as it looks to the program: it is killed by the signal while it writes.
    let line = format!("ulimit -f 1; exec {} train pets.crf -q -o pets.model", crate::PROGRAM.1);
    let folder = desk.path("");
    for _ in 0..2 {
        let mut command = std::process::Command::new("sh");
        let status = command.args(["-c", &line]).current_dir(&folder).output().unwrap().status;
        assert!(!status.success());
        assert!(!desk.path("pets.model").exists());
        assert!(desk.files("").len() <= before + 1, "{:?}", desk.files(""));
    }
    desk.run("train pets.crf -q -o pets.model").ok();
    assert_eq!(desk.files("").len(), before + 1, "{:?}", desk.files(""));
}

#[test]
fn joints_that_are_absurdly_far_away_are_refused() {
    let desk = Desk::new();
    let joints =
        |first: &str| format!("p{}\n", [&format!("\t{first}"), &"\t1,2,0".repeat(13)[..]].concat());
    desk.write("far.tsv", joints("1e308,-1e308,0") + &joints("3,4,0"));
    let run = desk.run("train far.tsv --format pose -q");
    assert_eq!(run.code, 1);
    let text = "far.tsv:1:3: expected a joint from -1e9 to 1e9 pixels, found `1e308,-1e308,0`";
    assert!(run.stderr.contains(text), "{}", run.stderr);
}

#[test]
fn messages_show_long_names_in_short() {
    let desk = Desk::new();
    let label = "L".repeat(100_000);
    desk.write("long.crf", format!("{label}\tw=1\n"));
    desk.write("long.svm", format!("{label} 1:1\n"));
    for (data, format) in [("long.crf", "crfsuite"), ("long.svm", "libsvm")] {
        let run = desk.run(&format!("train {data} --format {format} --model chain -q"));
        assert!(run.code == 1 && run.stderr.len() < 1000, "{}", run.stderr);
    }
    let run = desk.run("train long.svm --format libsvm --model multiclass -q");
    assert!(run.stderr.contains(&format!("the label `{}…`", "L".repeat(40))), "{}", run.stderr);
}

#[test]
fn a_number_of_settings_that_is_too_large_is_refused_with_the_name_of_the_file() {
    let desk = Desk::new();
    desk.write("huge.toml", "cache_bytes = 18446744073709551615\n");
    let run = desk.run("train pets.crf --settings huge.toml -q");
    assert!(run.code == 1 && run.stderr.starts_with("error: huge.toml: "), "{}", run.stderr);
}

#[test]
fn costs_may_have_comments_of_three_words_and_come_once() {
    let desk = Desk::new();
    desk.write("rows.svm", "a 1:1\nb 2:1\nc 3:1\n");
    desk.write("costs.txt", "# three words\na b 2\n");
    desk.run("train rows.svm --format libsvm --costs costs.txt -q").ok();
    desk.write("costs.txt", "a b 2\n\na b 3\n");
    let run = desk.run("train rows.svm --format libsvm --costs costs.txt -q");
    let text = "costs.txt:3: expected one cost for `a` and `b`, which line 1 has given";
    assert!(run.code == 1 && run.stderr.contains(text), "{}", run.stderr);
}
