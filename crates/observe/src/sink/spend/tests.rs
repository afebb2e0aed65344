use super::*;
use tollgate_store::spend::{SpendBy, SpendQuestion};

#[test]
fn names_that_clients_invent_do_not_fill_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let usage = Usage::open(directory.path()).unwrap();
    usage.prepare_spend().unwrap();
    let (models, teams) = (ToldApart::default(), ToldApart::default());
    let mut table = SpendTable { usage: usage.clone(), days: 30, forgot: None, models, teams };
    let counts = SpendCounts { requests: 1, ..SpendCounts::default() };
    let row = |api: &str, team: usize| {
        let (api, team, model) = (api.to_owned(), format!("team-{team}"), format!("model-{team}"));
        (SpendKey { minute: 60, api, team, model, ..SpendKey::default() }, counts)
    };
    // Two batches: what is known of the first holds for the second.
    for _ in 0..2 {
        table.write((0..NAMES_MAX + 20).map(|team| row("a", team)).collect()).unwrap();
    }
    table.write(vec![row("b", 7)]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    for by in [SpendBy::Team, SpendBy::Model] {
        let question = SpendQuestion { from: 0, to: 120, only: Vec::new(), by, split: None, rows_max: usize::MAX };
        let rows = usage.spend(&question, deadline).unwrap().rows;
        let of = |name: &str| rows.iter().find(|row| row.value == name).map(|row| row.counts.requests);
        assert_eq!(rows.len(), NAMES_MAX + 1, "{by:?}");
        assert_eq!((of(OTHER), of(&format!("{}-7", by.name()))), (Some(40), Some(3)), "{by:?}");
    }
}
