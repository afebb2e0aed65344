use super::BuiltIn;

fn found(kinds: &[BuiltIn], text: &str) -> Vec<(String, String)> {
    let patterns = kinds.iter().map(|kind| kind.pattern().expect("it compiles"));
    let patterns: Vec<_> = patterns.collect();
    let ranges = patterns
        .iter()
        .flat_map(|pattern| pattern.find_from(text, 0).map(move |range| (pattern.label().to_owned(), text[range].to_owned())));
    ranges.collect()
}

#[test]
fn secrets_of_services_are_known() {
    let letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    let cases = [
        ("AWS_KEY", "AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("AWS_SECRET", format!("aws_secret_access_key = \"{letters}")),
        ("GITHUB_TOKEN", format!("ghp_{}", &letters[..36])),
        ("GITHUB_TOKEN", format!("github_pat_{letters}")),
        ("GITLAB_TOKEN", format!("glpat-{}", &letters[..20])),
        ("SLACK_TOKEN", "xoxb-123456789012-abcdef".to_owned()),
        ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N".to_owned()),
        ("API_KEY", format!("sk-proj-{letters}")),
        ("GOOGLE_KEY", format!("AIza{}", &letters[..35])),
        ("STRIPE_KEY", format!("sk_live_{}", &letters[..24])),
        ("NPM_TOKEN", format!("npm_{}", &letters[..36])),
        ("PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----".to_owned()),
        ("PRIVATE_KEY", "-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----".to_owned()),
        ("PRIVATE_KEY", "-----BEGIN OPENSSH PRIVATE KEY-----".to_owned()),
    ];
    for (label, secret) in cases {
        let text = format!("here: {secret} is it");
        assert_eq!(found(&BuiltIn::SECRETS, &text), [(label.to_owned(), secret)], "{text}");
    }
    for text in [
        "AKIA is a prefix",
        "sk-short",
        "eyJ.eyJ.x",
        "-----BEGIN CERTIFICATE-----",
        "the task-force",
        "risk-assessment-of-all-things",
    ] {
        assert_eq!(found(&BuiltIn::SECRETS, text), [], "{text}");
    }
}

#[test]
fn personal_data_are_known_by_their_checks() {
    for (label, data) in [
        ("EMAIL", "jane.doe+x@mail.example.co.uk"),
        ("CARD", "4111 1111 1111 1111"),
        ("CARD", "5500-0000-0000-0004"),
        ("CARD", "378282246310005"),
        ("IBAN", "DE89 3704 0044 0532 0130 00"),
        ("IBAN", "GB82WEST12345698765432"),
        ("PHONE", "+49 30 901820"),
        ("PHONE", "+1 (212) 555-0100"),
        ("PHONE", "212-555-0100"),
        ("IP", "192.168.0.1"),
        ("IP", "2001:db8:85a3::8a2e:370:7334"),
    ] {
        for text in [format!("it is {data}, OK"), data.to_owned(), format!("({data})")] {
            let found = found(&BuiltIn::PERSONAL_DATA, &text);
            assert!(found.contains(&(label.to_owned(), data.to_owned())), "{label} {text}: {found:?}");
        }
    }
    // A word in capitals behind an account number is none of it.
    assert_eq!(
        found(&BuiltIn::PERSONAL_DATA[1..2], "DE89 3704 0044 0532 0130 00 AND MORE"),
        [("IBAN".to_owned(), "DE89 3704 0044 0532 0130 00".to_owned())]
    );
    for text in [
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "GB82WEST12345698765433",
        "at 12:30:45",
        "version 1.2.3.400",
        "std::vector",
        "a @ b.c",
        "2025-11-27T18:39:29",
        "1234567",
    ] {
        assert_eq!(found(&BuiltIn::PERSONAL_DATA, text), [], "{text}");
    }
}
