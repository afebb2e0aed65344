use super::*;
use crate::data::refusal::RefusalText;
use serde_json::Value;
use tollgate_model::config::GatewayConfig;

/// Every refusal of the catalogue, read from its source: status, cause and message.
fn catalogue() -> Vec<(u16, &'static str, &'static str)> {
    let declared = include_str!("../../refusal.rs").split("pub const ").filter(|text| text.contains(": Refusal ="));
    let read = |text: &'static str| {
        let mut parts = text.split_once("refusal!(")?.1.split('"');
        let status = parts.next()?.trim().trim_end_matches(',').parse().ok()?;
        Some((status, parts.next()?, parts.nth(1)?))
    };
    declared.map(|text| read(text).unwrap_or_else(|| panic!("not understood: {text}"))).collect()
}

fn refused(settings: &Settings, (status, cause, message): (u16, &'static str, &str), xml: Option<&str>) -> (u16, String) {
    let refusal = RefusalText { status, cause, message: message.to_owned().into(), id: None }.into();
    let mut outgoing = Outgoing::default();
    refuse(&mut outgoing, settings, &refusal, xml, &[]);
    (outgoing.status, String::from_utf8(outgoing.body).unwrap())
}

#[test]
fn every_refusal_of_the_catalogue_is_a_problem_where_that_is_on() {
    let mut config = GatewayConfig::default();
    config.tollgate.problem_details = true;
    let settings = Settings::new(&config);
    let catalogue = catalogue();
    assert!(catalogue.len() > 50, "{}", catalogue.len());
    for own in catalogue {
        let (status, body) = refused(&settings, own, None);
        let problem: Value = serde_json::from_str(&body).unwrap_or_else(|fault| panic!("{own:?}: {fault}: {body}"));
        assert_eq!((status, &problem["status"]), (own.0, &own.0.into()), "{own:?}");
        assert!([&problem["title"], &problem["detail"]].contains(&&own.2.into()), "{own:?}: {body}");
        assert!(problem["type"].is_string() && problem["title"].is_string() && problem.get("error").is_none(), "{own:?}: {body}");
        assert!(refused(&settings, own, Some("text/xml")).1.starts_with("<?xml"), "{own:?}");
        assert!(refused(&Settings::new(&GatewayConfig::default()), own, None).1.starts_with("{\n    \"error\": \""), "{own:?}");
    }
}
