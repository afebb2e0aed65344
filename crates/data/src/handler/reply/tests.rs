use super::*;
use crate::refusal::CATALOGUE;
use serde_json::Value;
use tollgate_model::config::GatewayConfig;

fn refused(settings: &Settings, refusal: &Refusal, xml: Option<&str>) -> (u16, String) {
    let mut outgoing = Outgoing::default();
    refuse(&mut outgoing, settings, refusal, ErrorAudience::new(xml, None));
    (outgoing.status, String::from_utf8(outgoing.body).unwrap())
}

#[test]
fn every_refusal_of_the_catalogue_is_a_problem_where_that_is_on() {
    let mut config = GatewayConfig::default();
    config.tollgate.problem_details = true;
    let settings = Settings::new(&config);
    for own in CATALOGUE {
        let (status, body) = refused(&settings, own, None);
        let problem: Value = serde_json::from_str(&body).unwrap_or_else(|fault| panic!("{own:?}: {fault}: {body}"));
        assert_eq!((status, &problem["status"]), (own.status, &own.status.into()), "{own:?}");
        assert!([&problem["title"], &problem["detail"]].contains(&&own.message.text().into()), "{own:?}: {body}");
        assert!(problem["type"].is_string() && problem["title"].is_string() && problem.get("error").is_none(), "{own:?}: {body}");
        assert!(refused(&settings, own, Some("text/xml")).1.starts_with("<?xml"), "{own:?}");
        let (_, usual) = refused(&Settings::new(&GatewayConfig::default()), own, None);
        // Tyk writes this one as plain text.
        let is_plain = own.cause == "all_hosts_down" && usual == "all hosts are down\n";
        assert!(is_plain || usual.starts_with("{\n    \"error\": \""), "{own:?}");
    }
}
