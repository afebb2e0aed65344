use super::*;
use crate::price::PlanPrice;
use crate::team_month::{MonthKey, MonthTerm};

fn price(per_month: &str, per_call: &str, free_calls: u64) -> Option<PlanPrice> {
    Some(PlanPrice { currency: "EUR".to_owned(), per_month: per_month.to_owned(), per_call: per_call.to_owned(), free_calls })
}

fn term(from_day: u8, plan: &str, price: Option<PlanPrice>) -> MonthTerm {
    MonthTerm { from_day, plan: plan.to_owned(), name: plan.to_uppercase(), price }
}

/// A month with one plan of an application, and two keys with calls by day.
fn invoice(terms: Vec<MonthTerm>, first: &[(u8, u64)], second: &[(u8, u64)]) -> Invoice {
    let mut found = TeamMonth::default();
    let (application, name, product) = ("id".to_owned(), "App".to_owned(), "Shop".to_owned());
    found.grants.insert("g".to_owned(), MonthGrant { application, name, product, terms });
    for (id, days) in [("1", first), ("2", second)] {
        let key = MonthKey { grant: "g".to_owned(), usage_id: id.to_owned(), days: days.iter().copied().collect() };
        found.keys.insert(id.to_owned(), key);
    }
    Invoice::of("2026-11".to_owned(), &found)
}

#[test]
fn a_month_is_summed_by_plan() {
    let (small, large) = (|| price("10", "0.01", 100), || price("50.00", "0.001", 0));
    for (terms, shown) in [
        (vec![term(1, "small", small())], vec!["SMALL 450 100 10.00 13.50"]),
        (vec![term(1, "small", small()), term(20, "large", large())], vec!["LARGE 300 0 50.00 50.30", "SMALL 150 100 0.00 0.50"]),
        (
            vec![term(1, "small", small()), term(10, "large", large()), term(20, "small", small())],
            vec!["LARGE 100 0 0.00 0.10", "SMALL 350 100 10.00 12.50"],
        ),
        (vec![term(1, "small", small()), term(20, "free", None)], vec!["SMALL 150 100 0.00 0.50"]),
        (vec![term(1, "free", None), term(20, "large", large())], vec!["LARGE 300 0 50.00 50.30"]),
        (vec![term(1, "free", None)], vec![]),
        (vec![], vec![]),
    ] {
        let found = invoice(terms, &[(1, 50), (10, 60), (19, 40)], &[(20, 250), (31, 50)]);
        let lines = found.lines.iter();
        let lines: Vec<String> =
            lines.map(|line| format!("{} {} {} {} {}", line.plan, line.calls, line.free_calls, line.per_month, line.sum)).collect();
        assert_eq!(lines, shown);
        let parts = found.lines.iter().filter_map(|line| Amount::parse(&line.sum));
        let sum = parts.fold(Amount::default(), Amount::plus).to_string();
        assert_eq!(found.sums.get("EUR").map_or("0.00", String::as_str), sum);
    }
}

#[test]
fn each_currency_has_a_sum() {
    let of = |id: &str, currency: &str| {
        let price = PlanPrice { currency: currency.to_owned(), per_month: "0.10".to_owned(), ..PlanPrice::default() };
        let grant = MonthGrant {
            application: id.to_owned(),
            name: id.to_owned(),
            product: "Shop".to_owned(),
            terms: vec![term(1, "p", Some(price))],
        };
        (id.to_owned(), grant)
    };
    let grants = [of("a", "EUR"), of("b", "USD"), of("c", "EUR"), of("d", "EUR")].into();
    let found = Invoice::of("2026-11".to_owned(), &TeamMonth { grants, ..TeamMonth::default() });
    let sums: Vec<(&str, &str)> = found.sums.iter().map(|(currency, sum)| (currency.as_str(), sum.as_str())).collect();
    assert_eq!(sums, [("EUR", "0.30"), ("USD", "0.10")], "a tenth three times is exact");
}

#[test]
fn no_name_becomes_a_formula() {
    let mut found = TeamMonth::default();
    let terms = vec![MonthTerm { name: "+1".to_owned(), ..term(1, "p", price("1", "", 0)) }];
    let (name, product) = ("=HYPERLINK(\"https://evil.example\")".to_owned(), "@shop, and more".to_owned());
    found.grants.insert("g".to_owned(), MonthGrant { application: String::new(), name, product, terms });
    let csv = Invoice::of("2026-11".to_owned(), &found).csv();
    let line = csv.split("\r\n").nth(1).unwrap();
    assert_eq!(line, "2026-11,\"'=HYPERLINK(\"\"https://evil.example\"\")\",\"'@shop, and more\",\"'+1\",0,0,0.00,1.00,1.00,EUR");
}
