//! Names with `*` for any text.

/// A pattern for names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<String>);

impl Glob {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Self {
        Glob(pattern.split('*').map(str::to_owned).collect())
    }

    /// Whether it matches the whole name. Takes time in proportion to the product of both lengths at most.
    pub fn is_match(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_first() else { return name.is_empty() };
        let Some((last, middle)) = rest.split_last() else { return name == first };
        let Some(mut left) = name.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            let Some((_, behind)) = left.split_once(part.as_str()) else { return false };
            left = behind;
        }
        left.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn stars_stand_for_any_text() {
        let cases = [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("ab*b", "ab", false),
            ("*", "", true),
            ("", "", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Glob::new(pattern).is_match(name), expected, "{pattern} {name}");
        }
    }
}
