use super::*;

#[test]
fn what_is_behind_the_listen_path_begins_with_a_slash() {
    for (path, listen_path, behind) in [
        ("/shop/a/b", "/shop/", "/a/b"),
        ("/shop/a/b", "/shop", "/a/b"),
        ("/shop/", "/shop/", "/"),
        ("/shop", "/shop", "/"),
        ("/shop//a", "/shop/", "/a"),
        ("/shopping", "/shop", "/ping"),
        ("/a", "", "/a"),
        ("/a", "/", "/a"),
        ("/sh%C3%B6p/a", "/sh\u{f6}p/", "/a"),
        ("/\u{f6}\u{f6}", "/\u{f6}", "/\u{f6}"),
    ] {
        let url = Url { path: Path::new(Cow::Borrowed(path)).unwrap(), listen_bytes: listen_path.len(), query: None };
        assert_eq!(url.path_behind_listen(), behind, "{path} behind {listen_path}");
    }
}
