use super::EventTemplate;
use crate::events::{ChainPlace, EventFacts, GatewayEvent};
use tollgate_model::events::EventKind;

#[test]
fn templates_with_unknown_names_are_refused() {
    for (text, wanted) in [
        ("{{.Type}}: {{.Meta.Message}} at {{.TimeStamp}}", Ok(())),
        ("{{with .Meta}}{{.Key}}{{end}}", Ok(())),
        ("{{if eq .Type \"HostDown\"}}{{.Meta.HostInfo.MetaData.anything}}{{else}}{{.Meta.Path}}{{end}}", Ok(())),
        ("{{.Meta.EventMetaDefault.Message | jsonMarshal}}", Ok(())),
        ("{{.Typ}}", Err("\"Typ\" is not a name of any event")),
        ("{{if eq .Type \"HostDown\"}}{{.Meta.Pathh}}{{end}}", Err("\"Pathh\" is not a name of any event")),
        ("{{.Meta.Message | shout}}", Err("line 1")),
        ("{{if}}", Err("line 1")),
    ] {
        match (EventTemplate::parse(text).map(drop), wanted) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(wanted)) => assert!(error.contains(wanted), "{text}: {error}"),
            (result, wanted) => panic!("{text}: {result:?} instead of {wanted:?}"),
        }
    }
}

#[test]
fn templates_are_tried_with_the_events_that_they_are_for() {
    let host = EventTemplate::parse("\n{{.Meta.HostInfo.CheckURL}}").unwrap();
    assert_eq!(host.check(EventKind::HostUp), Ok(()));
    let error = host.check(EventKind::QuotaExceeded).unwrap_err();
    assert_eq!(error, "fails with QuotaExceeded events: line 2: can't evaluate field HostInfo in type gateway.EventKeyFailureMeta");
    let key = EventTemplate::parse("{{.Meta.Key}}").unwrap();
    assert!(key.check(EventKind::BreakerTripped).is_err());
}

#[test]
fn the_request_is_only_made_for_templates_that_use_it() {
    assert!(EventTemplate::parse("{{.Meta.OriginatingRequest}}").unwrap().uses_request());
    assert!(EventTemplate::parse("{{with .Meta}}{{.OriginatingRequest}}{{end}}").unwrap().uses_request());
    assert!(!EventTemplate::built_in().uses_request());
}

#[test]
fn the_built_in_template_says_what_an_operator_did() {
    let text = || "a\"b<c>".to_owned();
    let said = |place| {
        let mut event = GatewayEvent::sample(EventKind::OperatorChange);
        let (user, address, action, kind, target) = (text(), text(), text(), text(), text());
        event.facts = EventFacts::Operator { user, address, action, kind, target, status: 403, place };
        let body = EventTemplate::built_in().render(&event).expect("it renders");
        serde_json::from_str::<serde_json::Value>(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
    };
    let body = said(ChainPlace::default());
    assert_eq!(body.get("hash"), None, "there is no audit file");
    let placed = said(ChainPlace { number: 7, previous: "5f".to_owned(), hash: "9d".to_owned() });
    assert_eq!((&placed["seq"], &placed["prev"], &placed["hash"]), (&7.into(), &"5f".into(), &"9d".into()), "{placed}");
    assert!(["user", "address", "action", "kind", "target"].iter().all(|name| body[*name] == "a&#34;b&lt;c&gt;"), "{body}");
    assert_eq!(body["status"], 403);
}
