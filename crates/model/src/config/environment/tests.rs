use super::*;

/// Names of Tyk's variables without `TYK_GW_`, with the path of the same setting in the file; read from the types of Tyk 5.14.0.
const TYKS: &str = include_str!("tyk_variables.txt");

#[test]
fn every_variable_of_tyk_sets_its_field_or_is_reported() {
    let settings = VariableSetting::all();
    let mut wrong = Vec::new();
    for line in TYKS.lines() {
        let (name, path) = line.split_once(' ').unwrap();
        let variable = format!("TYK_GW_{name}");
        let written = SettingName::Go(name.to_owned());
        match settings.iter().find(|setting| setting.is_called(&written)) {
            Some(setting) => {
                let ours = keys(&setting.path).collect::<Vec<_>>().join(".");
                if ours != path {
                    wrong.push(format!("{variable} sets {ours} in place of {path}"));
                }
            }
            None => match without_setting(&variable, "set", &written) {
                Some(problem) if problem.level == Level::Ignored => {}
                _ => wrong.push(format!("{variable} ({path}) is not known")),
            },
        }
    }
    assert!(TYKS.lines().count() > 450);
    assert_eq!(wrong, [""; 0]);
}
