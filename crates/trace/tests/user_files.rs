//! The owner of source files, by the table that the agent's tests read too.

use serde::Deserialize;
use trace::source_file::is_user_file;

#[derive(Deserialize)]
struct Case {
    file: String,
    #[serde(default)]
    script_dir: String,
    user: bool,
}

#[test]
fn files_of_the_user_are_told_from_those_of_libraries() -> Result<(), serde_json::Error> {
    let cases: Vec<Case> = serde_json::from_str(include_str!("user_files.json"))?;
    for Case { file, script_dir, user } in cases {
        assert_eq!(is_user_file(&file, &script_dir), user, "{file} for a script in {script_dir:?}");
    }
    Ok(())
}
