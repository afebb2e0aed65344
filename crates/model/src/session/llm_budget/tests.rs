use super::{BudgetHolder, BudgetPeriod, LlmBudget};
use crate::api::LlmGateway;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use serde_json::{Value, json};

#[test]
fn periods_are_those_of_the_calendar() {
    // 2028-02-29T23:59:58Z, a leap day.
    let now = 1_835_481_598;
    let day_ends = now + 2;
    assert_eq!(BudgetPeriod::Minute.around(now), (day_ends, 60));
    assert_eq!(BudgetPeriod::Hour.around(now), (day_ends, 3_600));
    assert_eq!(BudgetPeriod::Day.around(now), (day_ends, 86_400));
    assert_eq!(BudgetPeriod::Month.around(now), (day_ends, 29 * 86_400));
    assert_eq!(BudgetPeriod::Month.around(day_ends), (day_ends + 31 * 86_400, 31 * 86_400));
    assert_eq!(BudgetPeriod::Minute.around(day_ends), (day_ends + 60, 60));
}

#[test]
fn budgets_that_cannot_be_are_found() {
    let cases = [
        (json!([{"name": "a", "max": 1.0}]), None),
        (json!([{"name": "a", "max": 0.5, "unit": "usd", "of": "key"}]), None),
        (json!([{"name": "a", "max": 0.5}]), Some("$.b[0].max")),
        (json!([{"name": "a"}]), Some("$.b[0].max")),
        (json!([{"name": "a b", "max": 1}]), Some("$.b[0].name")),
        (json!([{"max": 1}]), Some("$.b[0].name")),
        (json!([{"name": "a", "max": 1}, {"name": "a", "max": 2}]), Some("$.b[1].name")),
        (json!([{"name": "a", "max": 1, "of": "policy"}]), Some("$.b[0].of")),
        (json!([{"name": "a", "max": 1, "of": "claim:https://x.com/team"}]), None),
        (json!([{"name": "a", "max": 1, "of": "metadata:team"}]), None),
        (json!([{"name": "a", "max": 1, "of": "metadata:"}]), Some("$.b[0].of")),
        (json!([{"name": "a", "max": 1, "of": "claim:a b"}]), Some("$.b[0].of")),
    ];
    for (written, expected) in cases {
        let budgets: Vec<LlmBudget> = serde_json::from_value(written.clone()).unwrap();
        let mut findings = Findings::default();
        LlmBudget::check_all(&budgets, &JsonPath::of("b"), &[BudgetHolder::Api, BudgetHolder::Key], &mut findings);
        let problems = findings.conclude(Some(())).map_or_else(|problems| problems, |(_, problems)| problems);
        let found = problems.first().map(|problem| problem.to_string());
        assert_eq!(found.is_some(), expected.is_some(), "{written}: {found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{written}");
    }
}

#[test]
fn a_team_is_known_by_a_claim_or_metadata() {
    let team = |text: &str| BudgetHolder::try_from(text.to_owned()).unwrap();
    for (text, is_team) in
        [("claim:team", true), ("metadata:cost.center", true), ("claim:", false), ("metadata:a b", false), ("key", false)]
    {
        let mut findings = Findings::default();
        team(text).check_team(&JsonPath::of("team"), &mut findings);
        assert_eq!(findings.conclude(Some(())).is_ok(), is_team, "{text}");
    }
    let of_budgets = |team: Value, budgets: Value| {
        let llm: LlmGateway = serde_json::from_value(json!({"team": team, "budgets": budgets})).unwrap();
        llm.team_holder().cloned().map(String::from)
    };
    let budgets = json!([{"name": "a", "of": "key"}, {"name": "b", "of": "metadata:unit"}, {"name": "c", "of": "claim:team"}]);
    assert_eq!(of_budgets(Value::Null, budgets.clone()).as_deref(), Some("metadata:unit"), "the first one tells it");
    assert_eq!(of_budgets(json!("claim:group"), budgets).as_deref(), Some("claim:group"));
    assert_eq!(of_budgets(Value::Null, json!([{"name": "a", "of": "key"}])), None);
}

#[test]
fn holders_are_texts() {
    for text in ["api", "key", "policy", "claim:team", "metadata:cost.center"] {
        let holder: BudgetHolder = serde_json::from_value(json!(text)).unwrap();
        assert_eq!(serde_json::to_value(&holder).unwrap(), json!(text));
    }
    assert!(serde_json::from_value::<BudgetHolder>(json!("team")).is_err());
}
