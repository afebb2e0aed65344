use super::{CLASSES, ValueClass};
use crate::budget::InspectionBudget;
use crate::operator::RuleOperator;
use crate::text::TextVariables;
use crate::transformation::Transformation;
use crate::variable::RuleTarget;

struct NoVariables;

impl TextVariables for NoVariables {
    fn first_value(&self, _: &RuleTarget) -> Vec<u8> {
        Vec::new()
    }
}

/// Values of all classes but the last, from a sequence that is the same in each run.
fn values() -> Vec<Vec<u8>> {
    let mut state = 7_u64;
    let mut next = move |max: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % max
    };
    let words = [
        "select",
        "union",
        "or",
        "1e5",
        "0x41",
        "sleep",
        "onclick",
        "script",
        "javascript",
        "x",
        "null",
        "true",
        "sp_password",
        "waitfor",
        "0b1",
        "_",
        "NaN",
        "etc",
        "passwd",
        "htaccess",
        "env",
        "exe",
        "sysdate",
        "1x",
        "0x",
    ];
    let mut made: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    for _ in 0..20_000 {
        let number = match next(3) {
            0 => format!("{}", next(1 << 40) as i64 - (1 << 39)),
            1 => format!("-{}.{}", next(1000), next(100_000)),
            _ => format!("{}.{}", next(10), next(1 << 40)),
        };
        made.push(number.into_bytes());
        let word = |next: &mut dyn FnMut(u64) -> u64| words[next(words.len() as u64) as usize];
        let separator = ["", "_", ".", "-", "--", "..", "1"][next(7) as usize];
        made.push(format!("{}{separator}{}", word(&mut next), word(&mut next)).into_bytes());
        let alphabet = b"abcXYZ0189_.-";
        made.push((0..next(12)).map(|_| alphabet[next(alphabet.len() as u64) as usize]).collect());
    }
    made
}

#[test]
fn values_have_the_narrowest_class() {
    for (value, class) in [
        ("", ValueClass::Word),
        ("17", ValueClass::Number),
        ("-1.50", ValueClass::Number),
        ("1.", ValueClass::Plain),
        ("--1", ValueClass::Plain),
        ("1e5", ValueClass::Word),
        ("Item_5", ValueClass::Word),
        ("2024-05-01", ValueClass::Plain),
        ("a.b", ValueClass::Plain),
        ("a b", ValueClass::Other),
        ("+1", ValueClass::Other),
        ("\u{e9}", ValueClass::Other),
    ] {
        assert_eq!(ValueClass::of(value.as_bytes()), class, "{value}");
    }
}

/// What is left out because it can never match does not match.
#[test]
fn no_operator_matches_what_it_is_blind_to() {
    let operators = [
        ("rx", "(?i)union\\s+select"),
        ("rx", "[^0-9a-z]"),
        ("rx", "^(?:a|b-c)$"),
        ("rx", "\\.\\./"),
        ("rx", "(?:%|x{2,})?;"),
        ("rx", "\\d{3}"),
        ("rx", "^$"),
        ("rx", "(?i)\\bselect\\b"),
        ("rx", "."),
        ("rx", "\\xE9|a="),
        ("pm", "select( etc/passwd 0x"),
        ("pm", "../ $( ;"),
        ("pm", "1 ."),
        ("validateByteRange", "32-126"),
        ("validateByteRange", "48-57,65-90,97-122"),
        ("validateUrlEncoding", ""),
        ("validateUtf8Encoding", ""),
        ("detectSQLi", ""),
        ("detectXSS", ""),
        ("contains", "a"),
        ("gt", "5"),
    ];
    let (values, mut blind) = (values(), 0);
    for (name, argument) in operators {
        let operator = RuleOperator::compile(name, argument, &|_| None).unwrap();
        for class in CLASSES.into_iter().filter(|class| operator.never_fits(*class)) {
            blind += 1;
            for value in values.iter().filter(|value| ValueClass::of(value) == class) {
                let mut budget = InspectionBudget::new(1 << 20);
                let found = operator.fits(value, false, &NoVariables, &mut budget).unwrap();
                assert_eq!(found, None, "@{name} {argument}: {}", String::from_utf8_lossy(value));
            }
        }
    }
    assert_eq!(blind, 31, "operators that look at everything again cost more");
}

#[test]
fn transformations_keep_alphabets() {
    let values = values();
    for transformation in Transformation::all().filter(|transformation| transformation.keeps_alphabets()) {
        for value in &values {
            let class = ValueClass::of(value);
            let made = transformation.apply(value);
            let is_kept = made.iter().all(|byte| class.has(*byte));
            assert!(is_kept, "{transformation:?} of {}", String::from_utf8_lossy(value));
        }
    }
}
