//! Rules of one's own: flow, variables, exclusions, budgets, and what is said of a match.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use tollgate_waf::{
    InspectedRequest, InspectedResponse, Inspection, InspectionBudget, InspectionReport, RuleExclusion, RuleFiles, RuleProfile,
    RuleSelection, Ruleset, TooMuchWork,
};

fn ruleset(rules: &str) -> Result<Ruleset, String> {
    let mut files = RuleFiles::default();
    files.add("test.conf", rules.to_owned());
    Ruleset::compile(&files).map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn inspected(rules: &str, profile: &RuleProfile, request: &InspectedRequest<'_>) -> Result<InspectionReport, TooMuchWork> {
    let rules = ruleset(rules).unwrap();
    Inspection::new(&rules, profile, InspectionBudget::new(50_000_000)).request(request, b"/path")
}

fn get(target: &str) -> InspectedRequest<'_> {
    InspectedRequest {
        method: b"GET",
        target: target.as_bytes(),
        protocol: "HTTP/1.1",
        headers: vec![(b"Host", b"a.test")],
        body: b"",
        client: [10, 0, 0, 1].into(),
        id: "1",
    }
}

fn post<'r>(content_type: &'r str, body: &'r str) -> InspectedRequest<'r> {
    let headers = vec![(&b"Host"[..], &b"a.test"[..]), (b"Content-Type", content_type.as_bytes())];
    InspectedRequest { method: b"POST", headers, body: body.as_bytes(), ..get("/path") }
}

/// The numbers of the rules that match.
fn matches(rules: &str, request: &InspectedRequest<'_>) -> Vec<u32> {
    inspected(rules, &RuleProfile::default(), request).unwrap().matches.iter().map(|found| found.id).collect()
}

#[test]
fn rules_run_phase_by_phase_in_their_order() {
    let rules = "SecAction \"id:1,phase:2,pass\"\nSecAction \"id:2,phase:1,pass\"\nSecAction \"id:3,phase:2,pass\"\nSecAction \"id:4,phase:3,pass\"";
    assert_eq!(matches(rules, &get("/")), [2, 1, 3]);
}

#[test]
fn a_chain_matches_if_all_of_its_links_do() {
    let rules = "SecRule ARGS:a \"@streq 1\" \"id:1,phase:2,pass,chain\"\nSecRule ARGS:b \"@streq 2\" \"setvar:tx.both=1\"\n\
                 SecRule TX:both \"@eq 1\" \"id:2,phase:2,pass\"";
    assert_eq!(matches(rules, &get("/?a=1&b=2")), [1, 2]);
    assert_eq!(matches(rules, &get("/?a=1&b=3")), [0; 0]);
    assert_eq!(matches(rules, &get("/?a=2&b=2")), [0; 0]);
}

#[test]
fn skips_end_at_markers_and_after_counts() {
    let all = "SecAction \"id:2,phase:1,pass\"\nSecAction \"id:3,phase:1,pass\"\nSecMarker END\nSecAction \"id:4,phase:1,pass\"\nSecAction \"id:5,phase:2,pass\"";
    let with = |first: &str, more: &str| matches(&format!("SecAction \"id:1,phase:1,pass,{first}\"\n{all}\n{more}"), &get("/"));
    assert_eq!(with("nolog,skipAfter:END", ""), [4, 5]);
    assert_eq!(with("nolog,skip:1", ""), [3, 4, 5]);
    // A rule that is gone does not move the marker.
    assert_eq!(with("nolog,skipAfter:END", "SecRuleRemoveById 2"), [4, 5]);
    assert_eq!(with("nolog", "SecRuleRemoveById 2-3 5"), [4]);
}

#[test]
fn a_verdict_ends_the_inspection() {
    let report = |first: &str| {
        let rules = format!("{first}\nSecAction \"id:2,phase:1,pass\"\nSecAction \"id:3,phase:2,deny\"");
        let report = inspected(&rules, &RuleProfile::default(), &get("/")).unwrap();
        (report.matches.iter().map(|found| found.id).collect::<Vec<_>>(), report.denied_by)
    };
    assert_eq!(report("SecAction \"id:1,phase:1,deny\""), (vec![1], Some(1)));
    assert_eq!(report("SecAction \"id:1,phase:1,pass\""), (vec![1, 2, 3], Some(3)));
    assert_eq!(report("SecAction \"id:1,phase:1,allow\""), (vec![1], None));
    assert_eq!(report("SecAction \"id:1,phase:1,allow:phase\""), (vec![1, 3], Some(3)));
    assert_eq!(report("SecDefaultAction \"phase:1,deny\"\nSecAction \"id:1,phase:1,block\""), (vec![1], Some(1)));
    assert_eq!(report("SecAction \"id:1,phase:1,block\""), (vec![1, 2, 3], Some(3)));
    assert_eq!(report("SecAction \"id:1,phase:1,pass,ctl:ruleEngine=DetectionOnly\""), (vec![1, 2, 3], None));
    assert_eq!(report("SecAction \"id:1,phase:1,pass,ctl:ruleEngine=Off\""), (vec![1], None));
}

#[test]
fn a_match_is_told_by_names_and_never_by_values() {
    let rules = "SecRule ARGS|REQUEST_HEADERS:Host \"@rx secret|test\" \"id:1,phase:2,pass,capture,severity:2,msg:'Found in %{MATCHED_VAR_NAME}'\"";
    let report = inspected(rules, &RuleProfile::default(), &get("/?pass=secret&other=1")).unwrap();
    let found = &report.matches[0];
    assert_eq!((found.id, found.severity.as_str()), (1, "CRITICAL"));
    assert_eq!(found.variables, ["ARGS:pass", "REQUEST_HEADERS:Host"]);
    assert_eq!(found.message, "Found in REQUEST_HEADERS:Host");
    assert!(!format!("{report:?}").contains("secret"), "{report:?}");
}

#[test]
fn scores_add_up_for_each_value() {
    let rules = "SecRule ARGS \"@rx x\" \"id:1,phase:2,pass,setvar:'tx.blocking_inbound_anomaly_score=+5'\"\n\
                 SecAction \"id:2,phase:2,pass,nolog,setvar:'tx.blocking_inbound_anomaly_score=-1'\"\n\
                 SecRule TX:BLOCKING_INBOUND_ANOMALY_SCORE \"@ge %{tx.threshold}\" \"id:3,phase:2,deny\"";
    let mut profile = RuleProfile::default();
    profile.pin("threshold", 9);
    let report = inspected(rules, &profile, &get("/?a=x&b=y&c=x")).unwrap();
    assert_eq!((report.inbound_score, report.denied_by), (9, Some(3)));
    let report = inspected(rules, &profile, &get("/?a=x&b=y")).unwrap();
    assert_eq!((report.inbound_score, report.denied_by), (4, None));
}

#[test]
fn what_an_api_pins_no_rule_changes() {
    let rules = "SecAction \"id:1,phase:1,pass,nolog,setvar:tx.level=4\"\nSecRule TX:LEVEL \"@eq 2\" \"id:2,phase:1,pass\"";
    let mut profile = RuleProfile::default();
    profile.pin("Level", 2);
    let report = inspected(rules, &profile, &get("/")).unwrap();
    assert_eq!(report.matches.len(), 1, "{report:?}");
}

#[test]
fn exclusions_of_rules_and_of_profiles_hide_values() {
    let rule = "SecRule ARGS|!ARGS:free \"@rx x\" \"id:1,phase:2,pass,tag:'t'\"";
    for (more, target, expected) in [
        ("", "/?a=x", vec![1]),
        ("", "/?free=x", vec![]),
        ("SecRuleUpdateTargetById 1 \"!ARGS:/^a/\"", "/?ab=x", vec![]),
        ("SecRuleUpdateTargetByTag t \"!ARGS:a,REQUEST_HEADERS:Host\"", "/?a=x", vec![]),
        ("SecRuleRemoveByTag t", "/?a=x", vec![]),
    ] {
        assert_eq!(matches(&format!("{rule}\n{more}"), &get(target)), expected, "{more} {target}");
    }
    for (control, expected) in [
        ("ctl:ruleRemoveById=1", vec![]),
        ("ctl:ruleRemoveByTag=t", vec![]),
        ("ctl:ruleRemoveTargetById=1;ARGS:a", vec![]),
        ("ctl:ruleRemoveTargetByTag=t;ARGS:b", vec![1]),
    ] {
        let rules = format!("SecAction \"id:9,phase:1,pass,nolog,{control}\"\n{rule}");
        assert_eq!(matches(&rules, &get("/?a=x")), expected, "{control}");
    }
    let excluding = |paths: &[&str], rules: Vec<RuleSelection>, targets: &[&str]| {
        let mut profile = RuleProfile::default();
        let (paths, targets): (Vec<String>, Vec<String>) =
            (paths.iter().map(ToString::to_string).collect(), targets.iter().map(ToString::to_string).collect());
        profile.exclude(RuleExclusion::new(paths, rules, &targets).unwrap());
        inspected(rule, &profile, &get("/?a=x")).unwrap().matches.len()
    };
    assert_eq!(excluding(&["/pa"], vec![], &[]), 0);
    assert_eq!(excluding(&["/other"], vec![], &[]), 1);
    assert_eq!(excluding(&[], vec![RuleSelection::ids("1-5").unwrap()], &[]), 0);
    assert_eq!(excluding(&[], vec![RuleSelection::ids("2").unwrap()], &[]), 1);
    assert_eq!(excluding(&[], vec![RuleSelection::Tag("t".to_owned())], &["ARGS:a"]), 0);
    assert_eq!(excluding(&[], vec![RuleSelection::Tag("t".to_owned())], &["ARGS:b"]), 1);
}

#[test]
fn bodies_are_read_by_their_type_or_as_a_rule_says() {
    let shown = "SecRule ARGS \"@rx needle\" \"id:1,phase:2,pass\"\nSecRule REQUEST_BODY \"@rx needle\" \"id:2,phase:2,pass\"\nSecRule XML:/* \"@rx needle\" \"id:3,phase:2,pass\"\n\
                 SecRule REQBODY_ERROR \"@eq 1\" \"id:4,phase:2,pass\"";
    for (content_type, body, expected) in [
        ("application/x-www-form-urlencoded; charset=utf-8", "a=needle", vec![1, 2]),
        ("application/json", "{\"a\": {\"b\": [1, \"needle\"]}}", vec![1]),
        ("application/problem+json", "[\"needle\"]", vec![1]),
        ("application/xml", "<a>needle</a>", vec![3]),
        ("application/soap+xml", "<a><!-- needle --></a>", vec![3]),
        ("text/plain", "needle", vec![]),
        ("application/json", "needle", vec![4]),
        ("application/json", "{\"a\": \"needle\"", vec![1, 4]),
    ] {
        assert_eq!(matches(shown, &post(content_type, body)), expected, "{content_type} {body}");
    }
    let forced = format!("SecAction \"id:9,phase:1,pass,nolog,ctl:forceRequestBodyVariable=On\"\n{shown}");
    assert_eq!(matches(&forced, &post("text/plain", "needle")), [2]);
    let as_form = format!("SecAction \"id:9,phase:1,pass,nolog,ctl:requestBodyProcessor=URLENCODED\"\n{shown}");
    assert_eq!(matches(&as_form, &post("text/plain", "a=needle")), [1, 2]);
}

#[test]
fn entities_of_xml_neither_grow_nor_read_files() {
    let bomb = format!(
        "<!DOCTYPE a [<!ENTITY b \"{}\"><!ENTITY c \"&b;&b;&b;&b;\"><!ENTITY d SYSTEM \"file:///etc/passwd\">]><a>{}&d;</a>",
        "x".repeat(1000),
        "&c;".repeat(1000)
    );
    let rules = "SecRule XML:/* \"@rx root:|xxx\" \"id:1,phase:2,pass\"\nSecRule XML:/* \"@rx &d;\" \"id:2,phase:2,pass\"";
    assert_eq!(matches(rules, &post("application/xml", &bomb)), [2]);
}

#[test]
fn names_in_lists_are_looked_at_once_and_values_always() {
    let rules = "SecRule ARGS_NAMES \"@unconditionalMatch\" \"id:1,phase:2,pass,nolog,setvar:tx.blocking_inbound_anomaly_score=+1\"\n\
                 SecRule &ARGS \"@eq 7\" \"id:2,phase:2,pass\"\nSecRule ARGS \"@eq 3\" \"id:3,phase:2,pass\"\n\
                 SecRule ARGS:json.2 \"@streq 3\" \"id:4,phase:2,pass\"\nSecRule ARGS_NAMES \"@rx select\" \"id:5,phase:2,pass\"";
    let report = |body| inspected(rules, &RuleProfile::default(), &post("application/json", body)).unwrap();
    let ids = |body| report(body).matches.iter().map(|found| found.id).collect::<Vec<_>>();
    assert_eq!((ids("[1, 2, 3, 4, 5, 6, 7]"), report("[1, 2, 3, 4, 5, 6, 7]").inbound_score), (vec![2, 3, 4], 1));
    assert_eq!((ids("{\"a\": 1, \"b\": 2}"), report("{\"a\": 1, \"b\": 2}").inbound_score), (vec![], 2));
    // Every name of its own, and every one that is there twice.
    assert_eq!(ids("[{\"a\": 1}, {\"a\": 1, \"select\": 1}]"), [5]);
    assert_eq!(report("[{\"a\": 1}, {\"a\": 1}, {\"a\": 1, \"a\": 2}, {\"b\": 1}]").inbound_score, 3);
}

#[test]
fn bodies_that_multiply_end_the_inspection() {
    // A long name above many values: each has the whole path as its name.
    let json = format!("{{\"{}\": [{}1]}}", "n".repeat(60_000), "1,".repeat(30_000));
    let rules = "SecRule ARGS \"@rx x\" \"id:1,phase:2,pass\"";
    let profile = RuleProfile::default();
    assert_eq!(inspected(rules, &profile, &post("application/json", &json)), Err(TooMuchWork));
    let deep = "[".repeat(100_000);
    let report = inspected(rules, &profile, &post("application/json", &deep)).unwrap();
    assert!(report.body_fault.unwrap().contains("recursion"), "too deep");
    // Variables that rules make of names.
    let counting = "SecRule ARGS_NAMES \"@unconditionalMatch\" \"id:1,phase:2,pass,nolog,setvar:'tx.n_%{MATCHED_VAR_NAME}=%{MATCHED_VAR}%{MATCHED_VAR}'\"\n\
                    SecRule TX:/^n_/ \"@rx x\" \"id:2,phase:2,pass,nolog\"";
    let names = (0..30_000).map(|number| format!("name{number}=")).collect::<Vec<_>>().join("&");
    assert!(inspected(counting, &profile, &post("application/x-www-form-urlencoded", &names)).is_ok());
    let long = (0..100).map(|number| format!("{}{number}=", "n".repeat(100_000))).collect::<Vec<_>>().join("&");
    assert_eq!(inspected(counting, &profile, &post("application/x-www-form-urlencoded", &long)), Err(TooMuchWork));
}

/// What is said of the response behind a request; nothing if a rule has ended all inspection.
fn answered(rules: &str, profile: &RuleProfile, request: &InspectedRequest<'_>, body: Option<&str>) -> Option<InspectionReport> {
    let rules = ruleset(rules).unwrap();
    let mut inspection = Inspection::new(&rules, profile, InspectionBudget::new(50_000_000));
    inspection.request(request, b"/path").unwrap();
    let headers = vec![(&b"Content-Type"[..], &b"text/html"[..]), (b"X-Powered-By", b"PHP/8")];
    let response = InspectedResponse { status: 500, protocol: "HTTP/1.1", headers, body: body.map(str::as_bytes) };
    let budget = InspectionBudget::new(50_000_000);
    Some(Inspection::go_on(&rules, profile, budget, inspection.into_memory()?).response(&response).unwrap())
}

#[test]
fn rules_about_responses_see_head_and_body_and_what_the_request_has_left() {
    let ids = |rules: &str, body| -> Vec<u32> {
        let report = answered(rules, &RuleProfile::default(), &post("application/x-www-form-urlencoded", "q=1"), body).unwrap();
        report.matches.iter().map(|found| found.id).collect()
    };
    for (rule, body, matches) in [
        ("SecRule RESPONSE_STATUS \"@rx ^5\" \"id:1,phase:3,pass\"", None, true),
        ("SecRule RESPONSE_HEADERS:x-powered-by \"@rx PHP\" \"id:1,phase:3,pass\"", None, true),
        ("SecRule RESPONSE_CONTENT_TYPE \"@streq text/html\" \"id:1,phase:4,pass\"", None, true),
        ("SecRule RESPONSE_BODY \"@rx leak\" \"id:1,phase:4,pass\"", Some("a leak"), true),
        // A body that nobody looks at is not an empty one.
        ("SecRule RESPONSE_BODY \"!@rx leak\" \"id:1,phase:4,pass\"", None, false),
        ("SecRule RESPONSE_BODY \"!@rx leak\" \"id:1,phase:4,pass\"", Some(""), true),
        ("SecRule REQUEST_METHOD \"@streq POST\" \"id:1,phase:4,pass\"", None, true),
        ("SecRule REQUEST_HEADERS:Host \"@streq a.test\" \"id:1,phase:4,pass\"", None, true),
        ("SecAction \"id:2,phase:2,pass,setvar:tx.a=1\"\nSecRule TX:a \"@eq 1\" \"id:1,phase:4,pass\"", None, true),
        // What a client could make large is forgotten.
        ("SecRule ARGS:q \"@eq 1\" \"id:1,phase:4,pass\"", None, false),
        (
            "SecRule ARGS_NAMES \"@rx q\" \"id:2,phase:2,pass,setvar:tx.%{MATCHED_VAR}=1\"\nSecRule TX:q \"@eq 1\" \"id:1,phase:4,pass\"",
            None,
            false,
        ),
        ("SecAction \"id:1,phase:5,pass\"", None, true),
        ("SecAction \"id:2,phase:2,pass,ctl:ruleRemoveById=1\"\nSecAction \"id:1,phase:4,pass\"", None, false),
    ] {
        assert_eq!(ids(rule, body), if matches { vec![1] } else { vec![] }, "{rule} {body:?}");
    }
}

#[test]
fn a_response_is_denied_by_its_head_or_by_its_body() {
    let rules = "SecRule RESPONSE_HEADERS:X-Powered-By \"@rx PHP\" \"id:1,phase:3,VERDICT,tag:'head'\"\nSecRule RESPONSE_BODY \"@rx leak\" \"id:2,phase:4,deny\"\n\
                 SecAction \"id:3,phase:5,deny\"";
    let report = |verdict: &str, body: &str, profile: &RuleProfile| {
        let report = answered(&rules.replace("VERDICT", verdict), profile, &get("/"), Some(body)).unwrap();
        (report.matches.iter().map(|found| found.id).collect::<Vec<_>>(), report.denied_by)
    };
    let profile = RuleProfile::default();
    assert_eq!(report("deny", "leak", &profile), (vec![1, 3], Some(1)));
    assert_eq!(report("pass", "leak", &profile), (vec![1, 2, 3], Some(2)));
    // Rules that sum up deny nothing.
    assert_eq!(report("pass", "fine", &profile), (vec![1, 3], None));
    let mut profile = RuleProfile::default();
    profile.exclude(RuleExclusion::new(vec!["/pa".to_owned()], vec![RuleSelection::Tag("head".to_owned())], &[]).unwrap());
    assert_eq!(report("deny", "fine", &profile), (vec![3], None));
    let ended = "SecAction \"id:1,phase:1,pass,ctl:ruleEngine=Off\"\nSecAction \"id:2,phase:4,deny\"";
    assert_eq!(answered(ended, &RuleProfile::default(), &get("/"), None), None);
}

#[test]
fn what_is_wrong_in_rules_is_told_with_its_line() {
    for (rules, problem) in [
        ("SecRule ARGS", "test.conf:1: SecRule: must have variables, an operator and actions"),
        ("\nSecRule ARGS \"@rx a\" \"phase:2\"", "test.conf:2: SecRule: the rule has no id"),
        ("SecRule ARGS \"@rx (\" \"id:1\"", "test.conf:1: SecRule: error parsing regexp"),
        ("SecRule WHAT \"@rx a\" \"id:1\"", "the variable WHAT is not supported"),
        ("SecRule ARGS \"@geoLookup\" \"id:1\"", "the operator @geoLookup is not supported"),
        ("SecRule ARGS \"a\" \"id:1,t:rot13\"", "t: rot13 is not supported"),
        ("SecRule ARGS \"a\" \"id:1,exec:/bin/sh\"", "exec: this action is not supported"),
        ("SecRule ARGS \"a\" \"id:1,setvar:ip.a=1\"", "only variables of TX can be set"),
        ("SecRule ARGS \"a\" \"id:1,phase:9\"", "\"9\" is not a phase"),
        ("SecAction \"id:1\"\nSecAction \"id:1\"", "test.conf:2: SecAction: the id 1 is that of another rule"),
        // What would let everything pass, or never refuse anything.
        ("SecAction \"id:1,skipAfter:END\"", "test.conf:1: skipAfter: there is no SecMarker END"),
        ("SecRule ARGS \"a\" \"id:1,deny,chain\"", "test.conf:1: the chain of the last rule has no further link"),
        (
            "SecAction \"id:1\"\nSecRule ARGS \"a\" \"id:2,deny,chain\"\nSecMarker A",
            "the chain of the last rule has no further link",
        ),
        ("Include /etc/passwd", "test.conf:1: Include: this directive is not supported"),
        ("SecRemoteRules key https://a.test/", "SecRemoteRules: this directive is not supported"),
    ] {
        let problems = ruleset(rules).err().unwrap_or_default();
        assert!(problems.contains(problem), "{rules}: {problems}");
    }
}

#[test]
fn directives_that_do_nothing_are_named() {
    let names = ["SecRuleEngine", "SECAUDITLOG", "secCollectionTimeout", "SecTmpDir"];
    let text: String = names.iter().map(|name| format!("\n{name} x\n")).collect();
    let rules = ruleset(&format!("\u{feff}SecAction \"id:1,pass\"{text}")).unwrap();
    let told: Vec<String> = rules.without_effect().iter().map(ToString::to_string).collect();
    assert_eq!((rules.len(), told.len()), (1, names.len()));
    for (index, name) in names.iter().enumerate() {
        assert!(told[index].contains(&format!(":{}: {name} has no effect: ", 2 * index + 2)), "{told:?}");
    }
    assert!(ruleset("SecNothing x").unwrap_err().contains("SecNothing: this directive is not supported"));
}
