//! Rules of one's own: flow, variables, exclusions, budgets, and what is said of a match.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use tollgate_waf::{
    InspectedRequest, Inspection, InspectionBudget, InspectionReport, RuleExclusion, RuleFiles, RuleProfile, RuleSelection,
    Ruleset, TooMuchWork,
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
    assert_eq!(with("nolog,skipAfter:NOWHERE", ""), [5]);
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
        ("Include /etc/passwd", "test.conf:1: Include: this directive is not supported"),
        ("SecRemoteRules key https://a.test/", "SecRemoteRules: this directive is not supported"),
    ] {
        let problems = ruleset(rules).err().unwrap_or_default();
        assert!(problems.contains(problem), "{rules}: {problems}");
    }
}
