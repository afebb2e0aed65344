//! In place of the live view, in a program that is built without it.

use super::TopAsked;
use super::client::TopClient;
use std::error::Error;
use std::time::Duration;

pub(super) fn run(_: &TopClient, _: Duration, _: TopAsked) -> Result<(), Box<dyn Error>> {
    Err(refusal())
}

/// Why there is no live view.
fn refusal() -> Box<dyn Error> {
    "this program was built without `top`: it has no live view; use --once or --json".into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_program_without_a_live_view_names_the_feature() {
        let refusal = super::refusal().to_string();
        assert!(refusal.contains("built without `top`"), "{refusal}");
    }
}
