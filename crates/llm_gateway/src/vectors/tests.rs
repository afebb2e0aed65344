use super::{KeptVector, SmallVector, VectorGroup};

fn vector(numbers: &[f64]) -> SmallVector {
    SmallVector::of(numbers).expect("it is one")
}

fn kept(numbers: &[f64], key: &str, expires_s: u64) -> KeptVector {
    KeptVector { vector: vector(numbers), key: key.to_owned(), expires_s, shown: None }
}

#[test]
fn small_vectors_are_as_near_as_those_that_they_were_made_of() {
    let numbers = |seed: u64| -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
        };
        (0..1_536).map(|_| next()).collect()
    };
    let (one, other) = (numbers(1), numbers(2));
    for share in [0.0, 0.05, 0.1, 0.3, 1.0] {
        let mixed: Vec<f64> = one.iter().zip(&other).map(|(one, other)| one * (1.0 - share) + other * share).collect();
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let exact = sum(&one, &mixed) / (sum(&one, &one) * sum(&mixed, &mixed)).sqrt();
        let small = vector(&one).similarity(&vector(&mixed));
        assert!((exact - small).abs() < 0.001, "{exact} {small}");
    }
    assert_eq!(vector(&[1.0]).similarity(&vector(&[1.0, 2.0])), 0.0);
    for none in [&[][..], &[0.0, 0.0], &[f64::NAN], &[f64::INFINITY, 1.0], &[1.0; 10_000]] {
        assert_eq!(SmallVector::of(none), None, "{} numbers", none.len());
    }
}

#[test]
fn a_group_has_a_bound_and_forgets_what_is_over() {
    let mut group = VectorGroup::default();
    for number in 0..10 {
        group.add(kept(&[1.0, f64::from(number)], &number.to_string(), 100), 4, 0);
    }
    let keys = |group: &VectorGroup| group.0.iter().map(|kept| kept.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&group), ["6", "7", "8", "9"]);
    group.add(kept(&[0.0, 1.0], "7", 100), 4, 0);
    assert_eq!(keys(&group), ["6", "8", "9", "7"]);
    let near = group.near(&vector(&[0.0, 2.0]), 0.99, 50);
    assert_eq!((near.first().map(|(_, kept)| kept.key.as_str()), near.len()), (Some("7"), 3));
    assert!(group.near(&vector(&[1.0, 0.0]), 0.99, 50).is_empty());
    assert!(group.near(&vector(&[0.0, 2.0]), 0.99, 100).is_empty());
    let bytes = group.write(usize::MAX);
    assert_eq!(keys(&VectorGroup::read(&bytes)), keys(&group));
    let less = group.write(bytes.len() - 1);
    assert_eq!(keys(&VectorGroup::read(&less)), ["9", "7"]);
    assert!(VectorGroup::read(b"nonsense").0.is_empty());
}
