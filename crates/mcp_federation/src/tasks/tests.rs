use super::{TaskIds, hide_support, offered};
use crate::session_marks::SessionMarks;
use serde_json::{Value, json};

fn ids(session: &str) -> TaskIds {
    TaskIds(SessionMarks::new(&[1; 32], session))
}

fn task(id: &str) -> Value {
    json!({"taskId": id, "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": null})
}

#[test]
fn a_task_has_one_id_for_its_session_wherever_a_message_names_it() {
    let (mine, yours) = (ids("mine"), ids("yours"));
    let related = json!({"io.modelcontextprotocol/related-task": {"taskId": "t:1"}});
    let places = [
        (json!({"id": 1, "result": {"task": task("t:1")}}), "/result/task/taskId"),
        (json!({"id": 1, "result": task("t:1")}), "/result/taskId"),
        (
            json!({"id": 1, "result": {"content": [], "_meta": related}}),
            "/result/_meta/io.modelcontextprotocol~1related-task/taskId",
        ),
        (
            json!({"id": 1, "method": "elicitation/create", "params": {"_meta": related}}),
            "/params/_meta/io.modelcontextprotocol~1related-task/taskId",
        ),
        (json!({"method": "notifications/tasks/status", "params": task("t:1")}), "/params/taskId"),
    ];
    let mut given = Vec::new();
    for (mut message, at) in places {
        mine.show("s", &mut message);
        given.push(message.pointer(at).unwrap().as_str().unwrap().to_owned());
    }
    given.dedup();
    assert_eq!(given.len(), 1, "{given:?}");
    assert_eq!((mine.read(&given[0]), yours.read(&given[0]), mine.read("s:t:1")), (Some(("s", "t:1")), None, None));
    // What only looks like a task is left as it is.
    for mut message in [
        json!({"id": 1, "result": {"taskId": "t:1", "content": []}}),
        json!({"id": 1, "result": {"task": "t:1"}}),
        json!({"id": 1, "method": "tasks/get", "params": {"taskId": "t:1"}}),
    ] {
        let before = message.clone();
        mine.show("s", &mut message);
        assert_eq!(message, before);
    }
}

#[test]
fn what_a_client_answers_names_the_task_as_its_server_does() {
    let mine = ids("mine");
    let answer = |id: &str| json!({"id": 1, "result": {"_meta": {"io.modelcontextprotocol/related-task": {"taskId": id}}}});
    let mut shown = answer("t");
    mine.show("s", &mut shown);
    let mut told = shown.clone();
    mine.tell("s", &mut told);
    assert_eq!(told, answer("t"));
    // A task of another server, of another session, or of the client's own.
    for (server, mut other) in [("other", shown.clone()), ("s", answer("own"))] {
        let before = other.clone();
        mine.tell(server, &mut other);
        assert_eq!(other, before);
    }
    let mut foreign = shown.clone();
    ids("yours").tell("s", &mut foreign);
    assert_eq!(foreign, shown);
}

#[test]
fn tasks_are_offered_as_far_as_all_servers_that_take_them_go() {
    let able = json!({"tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}});
    let uncancelled = json!({"tasks": {"requests": {"tools": {"call": {}}}}});
    let other = json!({"tools": {}, "tasks": {"list": {}}});
    let calls = json!({"tools": {"call": {}}});
    assert_eq!(offered(&[&other]), None);
    assert_eq!(offered(&[&other, &able]), Some(json!({"requests": calls, "cancel": {}})));
    assert_eq!(offered(&[&able, &uncancelled]), Some(json!({"requests": calls})));
    let tool = |name: &str, support: &str| json!({"name": name, "execution": {"taskSupport": support, "x": 1}});
    let mut page = json!({"tools": [tool("a", "required"), tool("b", "required"), {"name": "c", "execution": {}}, {"name": "d"}]});
    hide_support(&mut page, |name| name == "a");
    let expected = json!({"tools": [tool("a", "required"), tool("b", "forbidden"), {"name": "c", "execution": {}}, {"name": "d"}]});
    assert_eq!(page, expected);
}
