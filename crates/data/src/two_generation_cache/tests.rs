use super::*;

fn digest(number: u64) -> Digest {
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&number.to_le_bytes());
    digest
}

#[test]
fn never_more_than_two_halves_are_kept() {
    let recent = TwoGenerationCache::new(10);
    for number in 0..1000 {
        recent.put(digest(number), Arc::new(number));
    }
    let kept = (0..1000).filter(|number| recent.get(&digest(*number)).is_some()).count();
    assert!((10..=20).contains(&kept), "{kept}");
    assert_eq!(recent.get(&digest(999)).as_deref(), Some(&999));
}

#[test]
fn what_is_used_stays() {
    let recent = TwoGenerationCache::new(4);
    recent.put(digest(7), Arc::new("used"));
    for number in 100..200 {
        recent.put(digest(number), Arc::new("other"));
        assert_eq!(recent.get(&digest(7)).as_deref(), Some(&"used"), "after {number}");
    }
}

#[test]
fn what_is_removed_is_gone_from_both_halves() {
    let recent = TwoGenerationCache::new(1);
    recent.put(digest(1), Arc::new(()));
    recent.put(digest(2), Arc::new(()));
    recent.remove(&digest(1));
    recent.remove(&digest(2));
    assert!(recent.get(&digest(1)).is_none() && recent.get(&digest(2)).is_none());
}
