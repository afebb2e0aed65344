use super::EventKind;
use crate::api::ApiDefinition;
use serde_json::json;

#[test]
fn every_event_has_one_name() {
    for kind in EventKind::ALL {
        assert_eq!(EventKind::from_name(kind.name()), Some(kind));
        assert_eq!(EventKind::ALL.iter().filter(|other| other.name() == kind.name()).count(), 1);
    }
    assert_eq!(EventKind::from_name("RateLimitExceeded"), Some(EventKind::RateLimitExceeded));
    assert_eq!(EventKind::from_name("Quota"), None);
}

#[test]
fn handlers_that_do_not_do_what_they_say_are_reported() {
    let webhook = |meta: serde_json::Value| json!({"handler_name": "eh_web_hook_handler", "handler_meta": meta});
    let good = json!({"method": "POST", "target_path": "http://hooks.test/", "header_map": {"X-Key": "1"}, "event_timeout": 10});
    for (event, handler, wanted) in [
        ("QuotaExceeded", webhook(good.clone()), ""),
        ("QuotaExceeded", json!({"handler_name": "eh_log_handler", "handler_meta": {"prefix": "x"}}), ""),
        ("QuotaExceeded", json!({"handler_name": "eh_log_handler", "handler_meta": null}), ""),
        ("QuotaGone", webhook(good.clone()), "$.event_handlers.events.QuotaGone: \"QuotaGone\" is no event"),
        ("CertificateExpired", webhook(good.clone()), ""),
        ("TriggerExceeded", webhook(good.clone()), "$.event_handlers.events.TriggerExceeded: is sent to monitor.configuration"),
        ("TokenCreated", webhook(good), "$.event_handlers.events.TokenCreated: belongs to the gateway"),
        ("HostDown", json!({"handler_name": "eh_mail"}), "events.HostDown[0].handler_name: must be eh_web_hook_handler or"),
        ("HostDown", json!({"handler_name": "cp_dynamic_handler"}), "events.HostDown[0].handler_meta.name: must not be empty"),
        ("HostDown", json!({"handler_name": "cp_dynamic_handler", "handler_meta": {"name": "f"}}), ""),
        ("HostDown", json!({"handler_name": "eh_dynamic_handler"}), "events.HostDown[0].handler_meta.path: must not be empty"),
        ("HostDown", json!({"handler_name": "eh_dynamic_handler", "handler_meta": {"name": "f", "path": "f.js"}}), ""),
        ("HostDown", webhook(json!({})), "handler_meta.target_path: must be an absolute http or https URL"),
        ("HostDown", webhook(json!({"disabled": true})), ""),
        ("HostDown", webhook(json!({"target_path": "/hook"})), "handler_meta.target_path: must be an absolute"),
        ("HostDown", webhook(json!({"target_path": "ftp://hooks.test/"})), "handler_meta.target_path: must be an absolute"),
        ("HostDown", webhook(json!({"target_path": "http://h.test/", "method": "HEAD"})), "handler_meta.method: must be GET"),
        ("HostDown", webhook(json!({"target_path": "http://h.test/", "event_timeout": -1})), "event_timeout: must not be"),
        (
            "HostDown",
            webhook(json!({"target_path": "http://h.test/", "header_map": {"X": "a\nb"}})),
            "handler_meta.header_map.X: is not a valid header line",
        ),
    ] {
        let text = json!({
            "api_id": "a",
            "proxy": {"listen_path": "/a/", "target_url": "http://a.test/"},
            "version_data": {"not_versioned": true, "versions": {"Default": {"name": "Default"}}},
            "event_handlers": {"events": {event: [handler]}},
        });
        // An event protects nothing: the API is served whatever its handlers are.
        let (api, problems) = ApiDefinition::parse(text.to_string().as_bytes(), None).expect("a usable definition");
        let is_named = problems.iter().any(|problem| problem.message.ends_with("the handler is never called"));
        let handlers: Vec<_> = api.event_handlers.events.values().flatten().collect();
        let is_switched_off = handlers.iter().any(|handler| handler.handler_meta.disabled);
        assert!(is_switched_off || handlers.iter().all(|handler| handler.is_usable() != is_named), "{handler}: {problems:?}");
        let problems: Vec<String> = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
        match wanted {
            "" => assert!(problems.is_empty(), "{handler}: {problems:?}"),
            wanted => assert!(problems.iter().any(|problem| problem.contains(wanted)), "{handler}: {problems:?}"),
        }
    }
}
