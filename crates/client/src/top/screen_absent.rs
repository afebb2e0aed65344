//! In place of the live view, in a program that is built without it.

use super::TopAsked;
use super::client::TopClient;
use std::error::Error;
use std::time::Duration;

/// Why there is no live view.
pub(super) fn run(_: &TopClient, _: Duration, _: TopAsked) -> Result<(), Box<dyn Error>> {
    Err("this program was built without `top`: it has no live view; use --once or --json".into())
}

#[cfg(test)]
mod tests {
    use super::super::{TopAsked, TopClient, TopField};
    use super::run;
    use std::time::Duration;

    #[test]
    fn a_program_without_a_live_view_names_the_feature() {
        let client = TopClient::new("http://127.0.0.1:1", String::new(), |_| Err("no TLS".into())).unwrap();
        let asked = TopAsked { nodes: "", by: TopField::Path, window_s: 60 };
        let refused = run(&client, Duration::from_secs(1), asked).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("built without `top`"), "{refused}");
    }
}
