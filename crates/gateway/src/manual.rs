//! `tollgate completions` and `tollgate man`: generated from the declaration of the command line, so that they are never out of date.

use crate::cli::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// Writes a shell's completion script to standard output.
pub(crate) fn print_completions(shell: Shell) -> Result<(), Box<dyn Error>> {
    // The generator panics if it cannot write; memory never refuses.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Cli as CommandFactory>::command(), "tollgate", &mut script);
    print(&script)
}

/// Prints the page of tollgate, or writes the pages of all commands to a directory: `tollgate.1`, `tollgate-run.1` and so on.
pub(crate) fn manual(directory: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let command = <Cli as CommandFactory>::command();
    if let Some(directory) = directory {
        return clap_mangen::generate_to(command, directory).map_err(|error| format!("{}: {error}", directory.display()).into());
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print(&page)
}

fn print(text: &[u8]) -> Result<(), Box<dyn Error>> {
    std::io::stdout().lock().write_all(text).map_err(|error| format!("standard output: {error}").into())
}
