//! Shell completions and manual pages, judged by the programs that read them.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::harness::skip;

fn tollgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = tollgate(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that the program's own help lists.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let section = help.split("Commands:\n").nth(1).expect("a list of commands").split("\n\n").next().unwrap();
    let names = section.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

#[test]
fn bash_completes_commands_and_options() {
    let script = printed(&["completions", "bash"]);
    // Asks as the shell does: words, index of the word to complete, then the function registered for the program.
    let complete = |words: &str, index: usize| {
        let program = format!(
            "{script}\nCOMP_WORDS=({words})\nCOMP_CWORD={index}\n\
             _tollgate tollgate \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        // The script is longer than an argument may be.
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), program).unwrap();
        let output = Command::new("bash").arg("--norc").arg(file.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let offered = complete("tollgate ''", 1);
    assert!(commands().len() > 10, "{:?}", commands());
    for command in commands() {
        assert!(offered.contains(&command), "{command} is not offered: {offered:?}");
    }
    assert_eq!(complete("tollgate compl", 1), ["completions"]);
    assert!(complete("tollgate run --li", 2).contains(&"--listen-address".to_owned()));
    assert!(complete("tollgate nonsense --zz", 2).iter().all(String::is_empty));
}

#[test]
fn the_scripts_of_zsh_and_fish_name_every_command() {
    for (shell, first) in [("zsh", "#compdef tollgate"), ("fish", "")] {
        let script = printed(&["completions", shell]);
        assert!(script.starts_with(first), "{shell}");
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        let mut check = Command::new(shell);
        // Both shells read the script without running it.
        let Ok(mut child) = check.arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
            eprintln!("not checked by {shell}, which is not installed");
            continue;
        };
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
    assert!(!tollgate(&["completions", "cmd.exe"]).status.success());
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display().to_string();
    assert_eq!(printed(&["man", &path]), "");
    let page = printed(&["man"]);
    assert!(page.contains(".TH tollgate 1"), "{page}");
    for name in commands() {
        let page = fs::read_to_string(dir.path().join(format!("tollgate-{name}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "{name}");
    }
    assert!(fs::read_to_string(dir.path().join("tollgate-run.1")).unwrap().contains("\\-\\-listen\\-address"));
    let missing = tollgate(&["man", "/nowhere/at/all"]);
    let error = String::from_utf8_lossy(&missing.stderr);
    assert!(missing.status.code() == Some(1) && error.contains("/nowhere/at/all"), "{error}");
    // The formatter has no complaint.
    let Ok(output) = Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).arg(dir.path().join("tollgate-run.1")).output()
    else {
        return skip("there is no groff");
    };
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
