//! The page in a real browser, where there is one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::scale::{Domain, Scale, Tick};
use crate::{
    Answer, Bar, Bars, Bitmap, Body, Browser, Confusions, Example, Heatmap, Letter, Links, Plot,
    Report, Series, Shade, Table, Tagged, TaggedExample, Tile, Tiles, Weights, Word, Words, XAxis,
    YAxis,
};

fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

/// The page as the browser has it after its scripts ran, and what the browser said.
fn dump(browser: &Path, folder: &Path, page: &Path) -> Option<(String, String)> {
    let (dom, log) = (folder.join("dom.html"), folder.join("log.txt"));
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--v=0", "--window-size=1400,1000"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&dom).unwrap())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .ok()?;
    let start = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if start.elapsed() > Duration::from_secs(90) {
            child.kill().ok();
            child.wait().ok();
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let read = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    Some((read(&dom), read(&log)))
}

fn sample() -> Report {
    let mut plot = Plot::new("Many </script><b>runs</b>")
        .x(XAxis::new("pass", "Passes"))
        .x(XAxis::new("calls", "Calls").log())
        .y(YAxis::new("gap", "Gap").log().guide("Tolerance", 1e-3))
        .y(YAxis::together("Both", [("primal", "Primal"), ("dual", "Dual")]));
    for run in 0..3 {
        let rows = || (0..4000).map(f64::from);
        let slow = 1.0 + f64::from(run);
        plot = plot.series(
            Series::new(format!("run <{run}>"))
                .column("pass", rows())
                .column("calls", rows().map(|row| row * 626.0))
                .column(
                    "gap",
                    rows().map(|row| (row as i32 % 7 == 0).then_some(slow / (1.0 + row))),
                )
                .band(
                    "gap",
                    rows().map(|row| 0.5 / (1.0 + row)),
                    rows().map(|row| 9.0 / (1.0 + row)),
                )
                .column(
                    "primal",
                    rows().map(|row| if row == 9.0 { f64::NAN } else { 1.0 + slow / (1.0 + row) }),
                )
                .column("dual", rows().map(|row| 1.0 - slow / (1.0 + row))),
        );
    }
    let names = || (0..26).map(|at| char::from(b'a' + at).to_string());
    let letter = |truth: &str| Letter::new(Bitmap::new(16, 8, vec![1.0; 128]), truth, "x");
    Report::new("Sample & <sample>")
        .with(plot)
        .with(
            Plot::new("No points")
                .x(XAxis::new("x", "x"))
                .y(YAxis::new("y", "y"))
                .series(Series::new("")),
        )
        .with(Plot::new("No axes"))
        .with((0..7).fold(Plot::xy("Seven", "x", "y"), |plot, run| {
            plot.series(Series::xy(format!("{run}"), [(1.0, 1.0), (2.0, f64::from(run))]))
        }))
        .with(
            Plot::xy("Off the scale", "x", "y")
                .series(Series::xy("near", [(1.0, 0.1), (2.0, 0.2)]))
                .series(Series::xy("far", [(1.0, 1e6), (2.0, 2e6)]).switched_off()),
        )
        .with(Heatmap::new(
            "Matrix",
            names(),
            names(),
            (0..676).map(|at| f64::from(at) - 300.0).collect(),
        ))
        .with(
            Heatmap::new("Links", ["one"], ["un", "deux"], vec![1.0, -0.5])
                .axes("a title that is longer than the matrix", "another such title")
                .meaning(1.0, "<right>")
                .meaning(-0.5, "missed"),
        )
        .with(Bars::new("Time").unit("s").bar(Bar::new("all").part("a", 3.0).part("b", 1.0)))
        .with(
            Table::new("Wide")
                .text_column("A long name of a column")
                .number_column("Another long name")
                .number_column("Anotherlongname")
                .row(["averyveryverylongname", "1,234,567,890", "1,234,567,890"]),
        )
        .with(
            Tiles::new("Tiles", Shade::Diverging)
                .tile(Tile::new("wide", Bitmap::new(4, 900, vec![0.5; 3600]))),
        )
        .with(
            Words::new("Words")
                .word(Word::new((0..14).map(|_| letter("m"))))
                .word(Word::new((0..40).map(|_| letter("m")))),
        )
        .with(
            Tagged::new("Sentences")
                .example(TaggedExample::new((0..30).map(|at| {
                    let label = format!("{}-K{}", ["B", "I"][at % 2], at / 2 % 10);
                    ("averyveryverylongtoken".repeat(1 + at % 3), label.clone(), label)
                })))
                .example(TaggedExample::new([("<b>", "O", "B-<i>")])),
        )
        .with(examined())
        .with(Confusions::new(
            "Confusions",
            ["cat", "dog", "</script>"],
            vec![6.0, 2.0, 0.0, 1.0, 9.0, 0.0, 1.0, 0.0, 1.0],
        ))
        .with(
            Table::new("By label")
                .label_column("Label")
                .share_column("F1")
                .number_column("Size")
                .row(["cat", "80.00", "9"])
                .row(["</script>", "–", "1,000"])
                .row(["dog", "90.00", "−1.5×10⁻⁷"]),
        )
        .with(
            Weights::new("Weights")
                .group("cat", [("whiskers".repeat(9), 2.0), ("barks".into(), -1.0)]),
        )
        .labels(["cat", "dog", "</script>"])
}

/// Eight sentences to page through, two to a page, the worst first.
fn examined() -> Browser {
    let letter = || Letter::new(Bitmap::new(2, 3, vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0]), "v", "v");
    let mut browser = Browser::new("Examples").per_page(2).with_legend();
    for at in 0..8 {
        let (truth, read) = match at {
            0 => ("cat", "dog"),
            1 => ("</script>", "cat"),
            _ => ("dog", "dog"),
        };
        let body = match at {
            7 => Body::Word(Word::new([letter(), letter()])),
            6 => Body::Links(Links::new(["averyveryverylongword"; 5], ["so"; 9]).link(0, 8, 0)),
            5 => Body::Answer(Answer::new(["dog"], ["dog"]).clue("nose".repeat(20), "wet")),
            _ => Body::Tokens(TaggedExample::new([(format!("word{at} <i>"), truth, read)])),
        };
        let wrong = f64::from(truth != read);
        let example = Example::new(format!("S{at}"), body).errors(wrong).place(7 - at, at % 2 == 0);
        browser = browser.example(example.cell(truth, read));
    }
    browser
}

/// Runs in the page after its own script; tells the frame around it what failed.
const CHECKS: &str = r#"
const failed = [];
const check = (name, fine) => fine || failed.push(name);
const one = (selector) => document.querySelector(selector);
const press = (key) => one(".canvas").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const images = [...document.images].map((image) => image.decode().catch(() => failed.push("an image is broken")));
check("no sideways scrolling: " + document.documentElement.scrollWidth + " in " + innerWidth,
  document.documentElement.scrollWidth <= innerWidth);
const tokens = [...document.querySelectorAll(".token")];
check("tokens are text", tokens.length === 31 && tokens[30].textContent === "<b>Opredicted B-<i>");
const edge = (token) => getComputedStyle(token).borderBottomColor;
check("chunks have one colour, others another", edge(tokens[0]) === edge(tokens[1]) && edge(tokens[0]) !== edge(tokens[2]));
check("what is wrong is marked", getComputedStyle(tokens[30], "::after").content.includes("✗"));
check("four plots are live", document.querySelectorAll(".plot.live").length === 4);
const seven = document.querySelectorAll(".plot.live")[2];
const named = (text) => [...seven.querySelectorAll("button")].find((button) => button.textContent === text);
named("Hide all").click();
check("all hidden", /Every line is switched off/.test(seven.textContent) && seven.querySelector("[aria-pressed=false]"));
named("Show all").click();
check("all shown", seven.querySelectorAll(".canvas .line").length === 7);
const scaled = document.querySelectorAll(".plot.live")[3], far = [...scaled.querySelectorAll(".legend button")][1];
const ticked = () => scaled.querySelectorAll(".canvas .tick[text-anchor=end]").length;
check("a line is off at first", scaled.querySelectorAll(".canvas .line").length === 1 && far.getAttribute("aria-pressed") === "false" && ticked() >= 3);
far.click();
check("and on when asked for", scaled.querySelectorAll(".canvas .line").length === 2 && ticked() >= 3);
far.click();
check("labels are text", !one("h2 b") && one("h2").textContent === "Many </scr" + "ipt><b>runs</b>");
const lines = () => document.querySelectorAll(".plot")[0].querySelectorAll(".canvas .line").length;
check("three lines", lines() === 3);
check("three bands", one(".plot").querySelectorAll(".canvas .band").length === 3);
const legend = one(".legend button");
check("legend is pressed", legend.getAttribute("aria-pressed") === "true");
legend.click();
check("legend switches off", lines() === 2 && legend.getAttribute("aria-pressed") === "false");
legend.click();
check("legend switches on", lines() === 3);
const [y, x] = document.querySelectorAll(".plot select");
y.value = "1"; y.dispatchEvent(new Event("change"));
check("six lines", lines() === 6);
x.value = "1"; x.dispatchEvent(new Event("change"));
const [logY, logX] = document.querySelectorAll(".plot .switch");
check("log x by itself", logX.getAttribute("aria-pressed") === "true");
check("points at zero are counted", /^6 points/.test(one(".dropped").textContent));
logX.click();
check("linear again", one(".dropped").hidden);
logY.click(); logY.click();
press("Home");
check("crosshair at the start", /^Calls 0:/.test(one(".readout").textContent) && one(".cross") && one(".spot"));
press("End");
check("crosshair at the end", /^Calls 2,503,374:/.test(one(".readout").textContent));
press("Escape");
check("no crosshair", !one(".cross"));
const views = [];
const look = (what) => {
  const labels = (anchor) => [...one(".plot .canvas").querySelectorAll(`.tick[text-anchor=${anchor}]`)].map((tick) => tick.textContent);
  for (const found of [labels("middle"), labels("end")]) {
    views.push(found.length);
    check(`ticks of ${what}: ${found}`, found.length >= 2 && found.length <= 14 && new Set(found).size === found.length);
  }
};
for (const up of [0, 1]) {
  for (const across of [0, 1]) {
    y.value = String(up); y.dispatchEvent(new Event("change"));
    x.value = String(across); x.dispatchEvent(new Event("change"));
    for (const turn of [logX, logY, logX, logY]) {
      turn.click();
      look(`view ${up} ${across}`);
      const buttons = () => [...document.querySelectorAll(".plot")[0].querySelectorAll(".legend button")].slice(0, 2);
      buttons().forEach((button) => button.click());
      look(`one line of view ${up} ${across}`);
      buttons().forEach((button) => button.click());
    }
  }
}
check("all views were looked at", views.length === 64);
const box = one(".canvas svg").getBoundingClientRect();
one(".canvas").dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + 50 }));
check("crosshair under the pointer", one(".cross"));
const nan = [...document.querySelectorAll("svg *")].some((node) => [...node.attributes].some((a) => /NaN|undefined|Infinity/.test(a.value)));
check("all coordinates are numbers", !nan);
one(".heat svg").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
check("matrix reads its cell", /a, a: −300/.test(one(".cell").textContent));
const links = document.querySelectorAll(".heat")[1];
links.querySelector("svg").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
check("meanings are read: " + links.querySelector(".cell").textContent, /un: <right>$/.test(links.querySelector(".cell").textContent));
const frame = links.querySelector("svg").getBoundingClientRect();
check("titles are within the picture", [...links.querySelectorAll("svg text")].every((text) => {
  const own = text.getBoundingClientRect();
  return own.right <= frame.right + 1 && own.bottom <= frame.bottom + 1;
}));
const examples = one(".browser"), shown = () => [...examples.querySelectorAll("ol > li .head b")].map((name) => name.textContent).join(" ");
const told = () => examples.querySelector(".told").textContent;
const click = (text) => [...examples.querySelectorAll("button")].find((button) => button.textContent.includes(text)).click();
check("the worst come first: " + shown(), shown() === "S0 S1" && told() === "1 to 2 of 8");
check("labels of examples are text", examples.querySelector("ol").textContent.includes("</scr" + "ipt>") && !examples.querySelector("li i i"));
click("Next"); click("Next"); click("Next");
check("pages are turned: " + shown(), shown() === "S6 S7" && told() === "7 to 8 of 8");
check("letters are drawn when they are shown", examples.querySelectorAll("svg.px path").length === 2 && examples.querySelector("svg.px path").getAttribute("d") === "M0 0h1M2 0h1M1 1h1");
const ask = (text) => { const box = examples.querySelector("input"); box.value = text; box.dispatchEvent(new Event("input")); };
ask("WORD3");
check("examples are found by their words: " + shown(), shown() === "S3");
ask("no such word");
check("nothing is found: " + told(), shown() === "" && told().startsWith("no such"));
ask("");
const inOrder = (order) => { const box = examples.querySelector("select"); box.value = order; box.dispatchEvent(new Event("change")); };
inOrder("all");
check("in the order of the file: " + shown(), shown() === "S7 S6");
inOrder("drawn");
check("those that were drawn: " + told(), shown() === "S6 S4" && told() === "1 to 2 of 4");
inOrder("wrong");
check("mistakes alone: " + shown(), shown() === "S1 S0");
const matrix = one(".confusions svg"), key = (name) => matrix.dispatchEvent(new KeyboardEvent("keydown", { key: name }));
key("ArrowRight"); key("ArrowRight"); key("Enter");
check("a cell shows its examples: " + shown(), shown() === "S0" && /cat taken for dog/.test(examples.querySelector(".picked").textContent));
check("a cell is read: " + one(".confusions .cell").textContent, /^cat taken for dog 2 of 8 times \(25 %\)$/.test(one(".confusions .cell").textContent));
key("ArrowRight"); key("Enter");
check("an empty cell shows nothing new", shown() === "S0");
click("✕");
check("all are shown again: " + told(), told() === "1 to 2 of 8");
const cornerOf = matrix.getBoundingClientRect(), [left, top, size] = matrix.dataset.grid.split(" ").map((x) => x * cornerOf.width / matrix.viewBox.baseVal.width);
matrix.dispatchEvent(new MouseEvent("click", { clientX: cornerOf.left + left + 0.5 * size, clientY: cornerOf.top + top + 2.5 * size, bubbles: true }));
check("a click shows examples: " + shown(), shown() === "S1");
const numbers = () => [...matrix.querySelectorAll(".n")].map((number) => number.textContent).join(" ");
check("shares of rows: " + numbers(), numbers() === "75 25 10 90 50 50");
[...document.querySelectorAll(".confusions .switch")][1].click();
check("counts: " + numbers(), numbers() === "6 2 1 9 1 1");
const table = one("table.sortable"), first = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent).join(" ");
const sort = (column) => table.tHead.querySelectorAll("button")[column].click();
sort(2);
check("the largest first: " + first(), first() === "</scr" + "ipt> cat dog" && table.querySelector("[aria-sort=descending]"));
sort(2);
check("the least first: " + first(), first() === "dog cat </scr" + "ipt>");
sort(1); sort(1);
check("what has no number comes last: " + first(), first() === "cat dog </scr" + "ipt>");
sort(0);
check("names from A to Z: " + first(), first().endsWith("cat dog"));
[...table.querySelectorAll("tbody button")].find((button) => button.textContent === "dog").click();
check("a label shows its mistakes: " + shown(), shown() === "S0");
const saved = [];
save = (name, kind, content) => saved.push([name, content]);
document.querySelectorAll(".plot .save button").forEach((button) => button.disabled || button.click());
check("a picture and a table for each plot with points", saved.length === 7);
// Pictures are drawn on other threads, for which the browser's virtual clock does not wait: let real work pass
// meanwhile.
const drawn = new Promise((done) => {
  let looks = 0;
  const look = () => {
    const pixels = saved.slice(7).filter(([name, blob]) => name.endsWith(".png") && blob.size > 5000);
    if (pixels.length < 3 && ++looks < 400) {
      for (let k = 0, work = 0; k < 1e7; k++) work += Math.sqrt(k);
      setTimeout(look, 20);
      return;
    }
    check("pictures in pixels: " + saved.length, pixels.length === 3);
    done();
  };
  look();
});
check("name of the file: " + saved[0][0], saved[0][0] === "many-script-b-runs-b.svg");
const picture = new DOMParser().parseFromString(saved[0][1], "image/svg+xml");
check("the picture is XML", !picture.querySelector("parsererror") && picture.querySelectorAll("path").length > 12);
const rows = saved[1][1].trim().split("\r\n");
check("the table has a head: " + rows[0], rows[0] === '"Series","Passes","Calls","Gap","Primal","Dual"');
check("the table has rows", rows.length > 1000 && rows[1].startsWith('"run <0>",0,0,1,'));
const cases = JSON.parse(document.getElementById("cases").textContent);
const near = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
cases.domains.forEach(([log, low, high, pad, from, to]) => {
  const d = domainAround(log, low, high, pad);
  check(`domain ${d.low} to ${d.high} not ${from} to ${to}`, near(d.low, from) && near(d.high, to));
});
cases.ladders.forEach(([log, low, high, ladder, labels]) => {
  const found = ticksOf({ log, low, high }, 6, ladder).map(([, label]) => label).join(" ");
  check(`ticks ${found} not ${labels}`, found === labels);
});
[[2503374, "2,503,374"], [-1.23456789, "−1.2346"], [0.1 + 0.2, "0.3"], [0, "0"]].forEach(([value, text]) =>
  check("number " + say(value), say(value) === text));
Promise.all([...images, drawn]).then(() => parent.postMessage(failed.join("; ") || "fine", "*"));
"#;

/// Says why the test does nothing, or fails where a browser is demanded (`MAXMARGIN_BROWSER=1`).
fn skip(reason: &str) {
    assert!(std::env::var_os("MAXMARGIN_BROWSER").is_none(), "{reason}");
    // Not eprintln!, which the test harness keeps to itself.
    writeln!(std::io::stderr(), "skipped: {reason}").ok();
}

#[test]
fn works_in_a_browser() {
    let Some(browser) = browser() else {
        return skip("there is no chromium on PATH");
    };
    let sizes = [1e-290, 3.7e-9, 0.00231, 0.02, 1.0, 17.3, 99.5, 4.4e5, 9.9e17];
    let mut domains = Vec::new();
    let mut ladders = Vec::new();
    for low in sizes {
        for ratio in [1.013, 1.7, 12.3, 1.1e4, 1e9] {
            for (log, low, high) in
                [(false, low, low * ratio), (false, -low, low * ratio), (true, low, low * ratio)]
            {
                let scale = if log { Scale::Log } else { Scale::Linear };
                for pad in [false, true] {
                    let domain = Domain::around(scale, low, high, pad);
                    domains.push((log, low, high, pad, domain.low, domain.high));
                }
                // The page picks the rung with about as many ticks as are wanted.
                let domain = Domain::around(scale, low, high, true);
                let ladder = domain.ladder();
                let off = |rung: &Vec<Tick>| (rung.len() as f64 / 6.0).ln().abs();
                let best = ladder.iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
                let labels: Vec<&str> = best.iter().map(|tick| tick.label.as_str()).collect();
                let written = |rung: &Vec<Tick>| -> Vec<(f64, String)> {
                    rung.iter().map(|tick| (tick.value, tick.label.clone())).collect()
                };
                let rungs: Vec<_> = ladder.iter().map(written).collect();
                ladders.push((log, domain.low, domain.high, rungs, labels.join(" ")));
            }
        }
    }
    let cases = serde_json::json!({ "domains": domains, "ladders": ladders });
    let page = sample().to_html().replace(
        "</body>",
        &format!(
            "<script type=\"application/json\" id=\"cases\">{cases}</script><script>{{{CHECKS}}}</script></body>"
        ),
    );
    let frame = "<!doctype html><pre id=\"said\"></pre><script>addEventListener('message', (event) => {\
                 said.textContent += '[' + event.data + ']' })</script>\
                 <iframe src=\"page.html\" style=\"border:0;width:360px;height:800px\"></iframe>\
                 <iframe src=\"page.html\" style=\"border:0;width:1000px;height:800px\"></iframe>";
    let folder = std::env::temp_dir().join(format!("maxmargin-report-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("page.html"), page).unwrap();
    std::fs::write(folder.join("frame.html"), frame).unwrap();
    let found = dump(&browser, &folder, &folder.join("frame.html"));
    std::fs::remove_dir_all(&folder).ok();
    let Some((dom, log)) = found else {
        return skip(&format!("{} does not run here", browser.display()));
    };
    if dom.trim().is_empty() {
        return skip(&format!("{} shows no page here: {log}", browser.display()));
    }
    let said = dom.split("<pre id=\"said\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let console: Vec<&str> = log.lines().filter(|line| line.contains(":CONSOLE")).collect();
    assert!(console.is_empty(), "{console:#?}");
    assert_eq!(said, Some("[fine][fine]"));
}
