use std::time::{Duration, UNIX_EPOCH};

use super::{WrittenExpiry, expiry};

#[test]
fn dates_are_moments_in_utc() {
    for (text, seconds) in [
        ("1970-01-01 00:00", 0),
        ("2000-02-29 12:30", 951_827_400),
        ("2024-12-31 23:59", 1_735_689_540),
        ("2024-12-31 9:05", 1_735_635_900),
        ("3000-01-02 15:04", 32_503_820_640),
        ("1900-01-01 00:00", 0),
        ("9999-12-31 23:59", 253_402_300_740),
    ] {
        let moment = UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(expiry(text), WrittenExpiry::At(moment), "{text}");
    }
}

#[test]
fn empty_and_minus_one_never_expire() {
    assert_eq!(expiry(""), WrittenExpiry::Never);
    assert_eq!(expiry("-1"), WrittenExpiry::Never);
}

#[test]
fn other_texts_are_not_dates() {
    for text in [
        "never",
        "2024-02-30 00:00",
        "2023-02-29 00:00",
        "2024-13-01 00:00",
        "2024-00-01 00:00",
        "2024-01-01",
        "2024-01-01 24:00",
        "2024-01-01 00:60",
        "2024-01-01 00:00:00",
        "2024-01-01T00:00",
        "24-01-01 00:00",
        "2024-01-01 :00",
        "2024-01-01 +1:00",
    ] {
        assert_eq!(expiry(text), WrittenExpiry::Unparsable, "{text}");
    }
}
