use super::*;

#[test]
fn amounts_are_exact() {
    for (text, shown) in [
        ("0", Some("0.00")),
        ("49", Some("49.00")),
        ("49.9", Some("49.90")),
        ("0.002", Some("0.002")),
        ("0.000000001", Some("0.000000001")),
        ("007.10", Some("7.10")),
        ("999999999.999999999", Some("999999999.999999999")),
        ("1000000000", None),
        ("0.0000000001", None),
        ("", None),
        (".5", None),
        ("5.", None),
        ("1.2.3", None),
        ("-1", None),
        ("+1", None),
        ("1e3", None),
        ("1,5", None),
        (" 1", None),
        ("١", None),
    ] {
        assert_eq!(Amount::parse(text).map(|amount| amount.to_string()).as_deref(), shown, "{text:?}");
    }
}

#[test]
fn calls_beyond_the_free_ones_have_a_price() {
    let price = |per_call: &str, free_calls| PlanPrice { per_call: per_call.to_owned(), free_calls, ..PlanPrice::default() };
    for (per_call, free, calls, expected) in [
        ("0.1", 0, 3, "0.30"),
        ("0.002", 1_000, 999, "0.00"),
        ("0.002", 1_000, 1_000, "0.00"),
        ("0.002", 1_000, 1_001, "0.002"),
        ("", 0, 5, "0.00"),
        ("999999999.999999999", 0, u64::MAX, "18446744073709551596553255926.290448385"),
    ] {
        assert_eq!(price(per_call, free).of_calls(calls).to_string(), expected);
    }
}

#[test]
fn a_price_says_what_is_wrong_with_it() {
    let price = |currency: &str, per_month: &str, per_call: &str| PlanPrice {
        currency: currency.to_owned(),
        per_month: per_month.to_owned(),
        per_call: per_call.to_owned(),
        free_calls: 0,
    };
    for (price, member) in [
        (price("EUR", "49.00", "0.002"), None),
        (price("EUR", "", ""), None),
        (price("", "1", ""), Some("currency")),
        (price("eur", "1", ""), Some("currency")),
        (price("EURO", "1", ""), Some("currency")),
        (price("E=1", "1", ""), Some("currency")),
        (price("EUR", "1,00", ""), Some("per_month")),
        (price("EUR", "1", "-1"), Some("per_call")),
    ] {
        let problem = price.check().err();
        assert_eq!(problem.as_deref().and_then(|problem| problem.split(':').next()), member, "{price:?}");
    }
}
