use super::http_date;

#[test]
fn a_date_is_read_in_its_three_forms_in_any_letter_case_and_on_any_weekday() {
    const MOMENT: u64 = 2_544_400_878;
    for text in [
        "Thu, 18 Aug 2050 02:01:18 GMT",
        "THU, 18 Aug 2050 02:01:18 GMT",
        "thu, 18 aUG 2050 02:01:18 gMT",
        "Mon, 18 Aug 2050 02:01:18 GMT",
        "Thu Aug 18 02:01:18 2050",
        "tHU AUG 18 02:01:18 2050",
        "Tue Aug 18 02:01:18 2050",
    ] {
        assert_eq!(http_date(text.as_bytes()), Some(MOMENT), "{text}");
    }
    assert_eq!(http_date(b"Sunday, 06-Nov-94 08:49:37 GMT"), Some(784_111_777));
    assert_eq!(http_date(b"SUNDAY, 06-NOV-94 08:49:37 gmt"), Some(784_111_777));
    for text in [
        "",
        "Thu",
        "Thx, 18 Aug 2050 02:01:18 GMT",
        "Thu, 18 Aug 2050 02:01:18 UTC",
        "Thu, 18 Aug 2050 02:01:18 EST",
        "Thu, 18 Aug 2050 02:01 GMT",
        "Thu, 32 Aug 2050 02:01:18 GMT",
        "Thu, 31 Feb 2050 02:01:18 GMT",
        "Thu, 18 Aug 2050 25:01:18 GMT",
        "18 Aug 2050 02:01:18 GMT",
        "Thu, 18 Aug 2050 02:01:18 GMT and more",
        "0",
    ] {
        assert_eq!(http_date(text.as_bytes()), None, "{text}");
    }
}
