//! Runs the pages of `docs/getting-started` and the README's first minute as a reader does: saves their files, types their commands, and
//! compares what the commands print with what the page shows.
//!
//! A page is run in an empty directory, in one shell:
//! - A block after a line that ends in "Save as `PATH`:" is a file.
//! - In a `console` block, a line that begins with `$ ` is a command, and the lines below it are its output. A command must succeed. In
//!   the output, `…` stands for any text in a line, and a line `...` for any lines.
//! - A command that ends in `&` runs in the background; the test waits until it has printed what the page shows.
//!
//! A command goes on in the next line where it ends in `\`. The ports of a page are replaced by free ones. All other blocks are illustrations and are not run.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::harness::PATIENCE;
use crate::servers::free_port;

/// The ports that pages may use. A command that listens on another one would disturb whatever runs on this machine.
const PORTS: [&str; 6] = ["8080", "8081", "8443", "9090", "9091", "6379"];

#[test]
fn the_minute_of_the_readme_runs() {
    // It starts the gateway without a configuration.
    run("README.md", &["TOLLGATE_LISTEN_PORT"]);
}

#[test]
fn the_example_of_two_nodes_with_a_cache_runs() {
    run("docs/caching.md", &[]);
}

#[test]
fn the_example_of_error_responses_runs() {
    run("docs/errors.md", &[]);
}

#[test]
fn the_example_of_batches_runs() {
    run("docs/batches.md", &[]);
}

#[test]
fn the_example_of_graphql_runs() {
    run_beside("examples/graphql/README.md", &["server.py", "tyk.conf", "apps/library.json"], &[]);
}

#[test]
fn the_example_of_data_graphs_runs() {
    let files = ["services.py", "tyk.conf", "apps/shop.json", "apps/users.json"];
    // graphql-core is not part of every Python.
    if crate::jwt_issuers::python("import graphql\nprint('true')").is_some() {
        run_beside("examples/data-graph/README.md", &files, &[]);
    }
}

macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        $(#[test]
        fn $test() {
            run(concat!("docs/getting-started/", $page), &[]);
        })*

        #[test]
        fn every_page_for_newcomers_is_run() {
            let mut there: Vec<String> = fs::read_dir(root().join("docs/getting-started"))
                .expect("the pages")
                .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
                .collect();
            there.sort();
            assert_eq!(there, [$($page),*]);
        }
    };
}

pages! {
    the_first_api_is_served: "1-first-api.md",
    the_first_key_opens_the_api: "2-first-key.md",
    the_first_limits_hold: "3-limits.md",
    tls_is_spoken: "4-tls.md",
    several_nodes_share_keys_and_limits: "5-several-nodes.md",
    a_gateway_in_production_is_watched: "6-production.md",
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a reader does, in order. `line` is where the page says so.
#[derive(Debug, PartialEq)]
enum Step {
    Save { path: String, text: String },
    Type { line: usize, command: String, shown: String },
}

/// Runs a page. `default_port` are the environment variables that stand in for port 8080, where the page relies on the default.
fn run(page: &str, default_port: &[&str]) {
    run_beside(page, &[], default_port);
}

/// The same with these files from beside the page.
fn run_beside(page: &str, files: &[&str], default_port: &[&str]) {
    let mut text = fs::read_to_string(root().join(page)).unwrap_or_else(|fault| panic!("{page}: {fault}"));
    let mut ports = Vec::new();
    for port in PORTS {
        let free = free_port().to_string();
        text = replace_number(&text, port, &free);
        ports.push((port, free));
    }
    let steps = steps(&text);
    assert!(steps.iter().any(|step| matches!(step, Step::Type { .. })), "{page} has no command to run");
    let mut shell = Shell::start(default_port.iter().map(|name| (*name, ports[0].1.as_str())));
    for file in files {
        let text = fs::read_to_string(root().join(page).with_file_name("").join(file)).expect("a file of the example");
        let text = ports.iter().fold(text, |text, (port, free)| replace_number(&text, port, free));
        let path = shell.dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for step in steps {
        match step {
            Step::Save { path, text } => {
                fs::write(shell.dir.path().join(&path), text).unwrap_or_else(|fault| panic!("{page} saves {path}: {fault}"));
            }
            Step::Type { line, command, shown } => {
                if let Err(wrong) = shell.run(&command, &shown) {
                    panic!("{page}:{line}: {command}\n{wrong}\n--- ports: {ports:?}\n{}", shell.logs());
                }
            }
        }
    }
}

/// The files and commands of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut prose = "";
    let mut lines = page.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            if !line.trim().is_empty() {
                prose = line;
            }
            continue;
        };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        if language == "console" {
            type_commands(&block, &mut steps);
        } else if let Some(path) = file_name(std::mem::take(&mut prose)) {
            let text = block.iter().fold(String::new(), |text, (_, line)| text + line + "\n");
            steps.push(Step::Save { path: path.to_owned(), text });
        }
    }
    steps
}

/// The path in "Save as `PATH`:" at the end of a line.
fn file_name(prose: &str) -> Option<&str> {
    let (before, path) = prose.trim_end().strip_suffix("`:")?.rsplit_once('`')?;
    before.to_lowercase().ends_with("save as ").then_some(path)
}

fn type_commands(block: &[(usize, &str)], steps: &mut Vec<Step>) {
    for (at, text) in block {
        if let Some(typed) = text.strip_prefix("$ ") {
            steps.push(Step::Type { line: at + 1, command: typed.to_owned(), shown: String::new() });
            continue;
        }
        let Some(Step::Type { command, shown, .. }) = steps.last_mut() else { panic!("output without a command: {text}") };
        if command.ends_with('\\') && shown.is_empty() {
            let _ = write!(command, "\n{text}");
        } else {
            let _ = writeln!(shown, "{text}");
        }
    }
}

/// Replaces a number where it stands by itself.
fn replace_number(text: &str, number: &str, by: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(number) {
        let (before, after) = (&rest[..at], &rest[at + number.len()..]);
        let alone =
            !before.ends_with(|c: char| c.is_ascii_alphanumeric()) && !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        replaced += before;
        replaced += if alone { by } else { number };
        rest = after;
    }
    replaced + rest
}

/// A shell in an empty directory, and everything that it starts.
struct Shell {
    child: Child,
    commands: usize,
    dir: TempDir,
}

impl Shell {
    fn start<'a>(environment: impl Iterator<Item = (&'a str, &'a str)>) -> Shell {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let program = Path::new(env!("CARGO_BIN_EXE_tollgate"));
        let own = program.parent().unwrap();
        // Packages of Python that an example needs are where the tests' own are.
        let packages = own.with_file_name("test-venv").join("bin");
        let path = format!("{}:{}:{}", own.display(), packages.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TYK_") || name.starts_with("TOLLGATE_")) {
            command.env_remove(name);
        }
        command.envs(environment).env("PATH", path).env("HOME", dir.path()).current_dir(dir.path()).process_group(0);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("bash");
        Shell { child, commands: 0, dir }
    }

    /// Types one command and waits until it has ended, or until one in the background has printed what is shown.
    fn run(&mut self, command: &str, shown: &str) -> Result<(), String> {
        self.commands += 1;
        // Not in the page's directory, whose files a page may list.
        let own = |name: &str| std::env::temp_dir().join(format!("{}.{}.{name}", self.dir.path().display(), self.commands));
        let (output, status) = (own("out"), own("status"));
        let script = format!(
            "{{ {command}\n}} </dev/null >{output} 2>&1\necho $? >{status}.part; mv {status}.part {status}\n",
            output = output.display(),
            status = status.display(),
        );
        self.child.stdin.as_mut().unwrap().write_all(script.as_bytes()).map_err(|fault| fault.to_string())?;
        let background = command.ends_with('&');
        let deadline = Instant::now() + PATIENCE;
        loop {
            let printed = without_notices(&fs::read_to_string(&output).unwrap_or_default());
            let ended = fs::read_to_string(&status).ok();
            let matches = matches(shown, &printed);
            let right = ended.as_deref() == Some("0\n") && matches;
            if right || (ended.is_some() && !background) || Instant::now() > deadline {
                let _ = (fs::remove_file(&output), fs::remove_file(&status));
                let ended = ended.unwrap_or_else(|| "still running".to_owned());
                let report = || format!("exit code: {ended}\n--- printed:\n{printed}\n--- shown:\n{shown}");
                return right.then_some(()).ok_or_else(report);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The files that the page's programs log to.
    fn logs(&self) -> String {
        let entries = fs::read_dir(self.dir.path()).into_iter().flatten().flatten();
        let logs = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|extension| extension == "log"));
        logs.fold(String::new(), |text, path| {
            text + &format!("--- {}:\n{}", path.display(), fs::read_to_string(&path).unwrap_or_default())
        })
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
        assert!(thread::panicking() || !self.logs().contains("panicked at"), "{}", self.logs());
    }
}

/// Without what the shell itself says of programs that were ended, sooner or later.
fn without_notices(printed: &str) -> String {
    let is_notice =
        |line: &&str| line.starts_with("bash: line ") && [" Killed ", " Terminated "].iter().any(|end| line.contains(end));
    printed.split_inclusive('\n').filter(|line| !is_notice(line)).collect()
}

/// Whether a program printed what a page shows: spaces count once, `…` is any text, a line `...` any lines.
fn matches(shown: &str, printed: &str) -> bool {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = |text: &str| text.lines().map(words).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    lines_match(&lines(shown), &lines(printed))
}

fn lines_match(shown: &[String], printed: &[String]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        ([any, shown @ ..], printed) if any == "..." => (0..=printed.len()).any(|skipped| lines_match(shown, &printed[skipped..])),
        ([first, shown @ ..], [line, printed @ ..]) => line_matches(first, line) && lines_match(shown, printed),
        (_, []) => false,
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return shown == line };
    let Some(rest) = line.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
}

#[test]
fn files_and_commands_are_found_in_a_page() {
    let page = "Text.\n\nIn `apps`, save as `apps/a.json`:\n\n```json\n{}\n```\n\n```console\n$ one \\\n  two\nout\n$ three &\n```\n\n```sh\nnot run\n```\n";
    let typed = |line, command: &str, shown: &str| Step::Type { line, command: command.to_owned(), shown: shown.to_owned() };
    assert_eq!(
        steps(page),
        [
            Step::Save { path: "apps/a.json".to_owned(), text: "{}\n".to_owned() },
            typed(10, "one \\\n  two", "out\n"),
            typed(13, "three &", ""),
        ]
    );
}

#[test]
fn what_is_shown_is_compared_with_what_is_printed() {
    for (shown, printed, equal) in [
        ("a  b\n", "a b", true),
        ("a\n", "a\nb\n", false),
        ("a\n", "", false),
        ("", "a\n", false),
        ("key …\n", "key 1f\n", true),
        ("a … c\n", "a b d\n", false),
        ("...\nb\n...\n", "a\nb\nc\n", true),
        ("...\nb\n", "a\nb\nc\n", false),
        ("a\n...\n", "a\n", true),
    ] {
        assert_eq!(matches(shown, printed), equal, "{shown:?} {printed:?}");
    }
}

#[test]
fn a_command_that_fails_or_prints_something_else_is_reported() {
    let mut shell = Shell::start(std::iter::empty());
    assert_eq!(shell.run("X=1; echo $X", "1\n"), Ok(()));
    assert_eq!(shell.run("echo $X && pwd", &format!("1\n{}\n", shell.dir.path().display())), Ok(()));
    assert!(shell.run("echo 2", "1\n").unwrap_err().contains("printed:\n2"));
    assert!(shell.run("echo 2; false", "2\n").unwrap_err().contains("exit code: 1"));
    assert_eq!(shell.run("(sleep 0.1; echo later) &", "later\n"), Ok(()));
}
