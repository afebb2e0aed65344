use super::*;

fn tally(status: u16, method: &str) -> Tally {
    let (total_ns, upstream_ns) = (3_000_000, Some(2_000_000));
    Tally { status, method: method_number(method), total_ns, upstream_ns, request_bytes: 10, response_bytes: 20 }
}

#[test]
fn cores_are_added_up() {
    let meters = Meters::new(3, 10);
    let meter = meters.get("a");
    assert!(meter.sum().is_none());
    for core in 0..3 {
        let cells = meter.core(core).unwrap();
        cells.begin();
        cells.begin();
        cells.end(&tally(200, "GET"));
        cells.count(&tally(503, "BREW"));
        cells.refused("why");
    }
    assert!(meter.core(3).is_none());
    let sum = meter.sum().unwrap();
    assert_eq!(sum.requests[0][2], 3);
    assert_eq!(sum.requests[METHODS.len() - 1][5], 3);
    assert_eq!((sum.in_flight, sum.request_bytes, sum.response_bytes), (3, 60, 120));
    assert_eq!(sum.refusals, BTreeMap::from([("why", 3)]));
    assert_eq!(sum.own_time.count(), 6);
    assert_eq!(sum.own_time.sum_ns, 6_000_000);
}

#[test]
fn a_status_that_is_none_has_its_class() {
    let meter = Meter::new("a", 1);
    meter.core(0).unwrap().count(&tally(0, "GET"));
    meter.core(0).unwrap().count(&tally(999, "GET"));
    let requests = meter.sum().unwrap().requests;
    assert_eq!((requests[0][0], requests[0][5]), (1, 1));
}

#[test]
fn apis_beyond_the_bound_share_one_meter() {
    let meters = Meters::new(1, 2);
    let held: Vec<_> = ["a", "b", "c", "d"].map(|api| meters.get(api)).into();
    assert_eq!(held[2].api, OTHER);
    assert!(Arc::ptr_eq(&held[2], &held[3]));
    assert!(Arc::ptr_eq(&held[0], &meters.get("a")));
    let names: Vec<_> = meters.all().iter().map(|meter| meter.api.clone()).collect();
    assert_eq!(names, ["a", "b", OTHER]);
    drop(held);
    assert_eq!(meters.get("e").api, "e", "an API that is gone leaves its place");
}
