use super::normalise;
use crate::load::LoadOptions;
use clap::{Args, Command};

fn check(typed: &str, expect: &str) {
    let cli = Command::new("tollgate-bench").subcommand(LoadOptions::augment_args(Command::new("load")));
    let args = typed.split(' ').map(Into::into);
    let normal: Vec<String> = normalise(&cli, args).into_iter().map(|arg| arg.into_string().unwrap()).collect();
    assert_eq!(normal.join(" "), expect);
}

#[test]
fn goes_spelling_of_flags_becomes_the_usual_one() {
    check("tollgate-bench load -host a.b -h2 u", "tollgate-bench load --host a.b --h2 u");
    check("tollgate-bench load -host=a.b -disable-keepalive u", "tollgate-bench load --host=a.b --disable-keepalive u");
    check("tollgate-bench load --n 5 --c=2 u", "tollgate-bench load -n 5 -c=2 u");
    check("tollgate-bench load -cpus 2 -disable-redirects=true u", "tollgate-bench load --cpus 2 --disable-redirects u");
}

#[test]
fn usual_spelling_stays() {
    let typed = "tollgate-bench load -n 5 -n5 -k --host a --json f -o csv u";
    check(typed, typed);
}

#[test]
fn values_and_other_commands_are_left_alone() {
    check("tollgate-bench load -d -host u", "tollgate-bench load -d -host u");
    check("tollgate-bench load -- -host", "tollgate-bench load -- -host");
    check("tollgate-bench merge -json f", "tollgate-bench merge -json f");
}
