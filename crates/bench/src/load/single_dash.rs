//! Accepts Go's spelling of flags, which hey uses: `-host x`, `-host=x` and `--n 5` mean `--host x`, `--host=x` and `-n 5`.
//! Rewrites the arguments of `load` before clap parses them; values of options are not changed.

use clap::{ArgAction, Command};
use std::ffi::OsString;

/// Adds the second dash to each single-dash long flag of `load`, and removes one from each double-dash short flag.
pub(crate) fn normalise(cli: &Command, args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args.into_iter();
    let mut normal: Vec<OsString> = args.by_ref().take(2).collect();
    let Some(load) = cli.find_subcommand("load").filter(|_| normal.get(1).is_some_and(|name| name == "load")) else {
        normal.extend(args);
        return normal;
    };
    let mut value_follows = false;
    for arg in args.by_ref() {
        if value_follows || arg == "--" {
            let rest_is_plain = !value_follows;
            value_follows = false;
            normal.push(arg);
            if rest_is_plain {
                break;
            }
            continue;
        }
        let (arg, takes_value) = match arg.to_str().and_then(|arg| respelled(load, arg)) {
            Some(found) => found,
            None => (arg, false),
        };
        value_follows = takes_value;
        normal.push(arg);
    }
    normal.extend(args);
    normal
}

/// The normal spelling of `arg`, and whether the next argument is its value; `None` if it is not an option of `load`.
fn respelled(load: &Command, arg: &str) -> Option<(OsString, bool)> {
    let typed = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')).filter(|name| !name.is_empty())?;
    let (name, value) = typed.split_once('=').map_or((typed, None), |(name, value)| (name, Some(value)));
    let mut letters = name.chars();
    let letter = letters.next().filter(|_| letters.next().is_none());
    let option = load.get_arguments().find(|option| {
        let long = option.get_long() == Some(name) || option.get_all_aliases().is_some_and(|all| all.contains(&name));
        long || letter.is_some() && option.get_short() == letter
    })?;
    let dashes = if letter.is_some() && option.get_short() == letter { "-" } else { "--" };
    let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    match value {
        // Go allows explicit boolean values.
        Some("true") if !takes_value => Some((format!("{dashes}{name}").into(), false)),
        Some(value) => Some((format!("{dashes}{name}={value}").into(), false)),
        None => Some((format!("{dashes}{name}").into(), takes_value)),
    }
}

#[cfg(test)]
mod tests;
