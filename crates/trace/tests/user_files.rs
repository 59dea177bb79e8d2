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

/// Tracebacks of Windows. The agent runs on Linux alone.
const OF_WINDOWS: [(&str, &str, bool); 12] = [
    (r"C:\Users\ann\train.py", "", true),
    (r"C:\Users\ann\lib\model.py", "", true),
    (r"D:/ai/ComfyUI/execution.py", "", true),
    (r"D:\ai\ComfyUI\python_embeded\Lib\site-packages\torch\nn\functional.py", "", false),
    (r"C:\Users\ann\AppData\Local\Programs\Python\Python310\lib\runpy.py", "", false),
    (r"C:\Python311\Lib\threading.py", "", false),
    (r"C:\Users\ann\miniconda3\lib\contextlib.py", "", false),
    (r"C:\ProgramData\Anaconda3\envs\ldm\lib\runpy.py", "", false),
    (r"C:\src\pytorch\torch\nn\modules\module.py", "", false),
    (r"C:\Python311\Lib\site-packages\tool\train.py", r"C:\Python311\Lib\site-packages\tool", true),
    (r"C:\venv\Lib\site-packages\tool\train.py", "", false),
    ("/home/ann/a\\b.py", "", true),
];

#[test]
fn files_of_windows_are_told_apart() {
    for (file, script_dir, user) in OF_WINDOWS {
        assert_eq!(is_user_file(file, script_dir), user, "{file} for a script in {script_dir:?}");
    }
}

#[test]
fn files_of_the_user_are_told_from_those_of_libraries() -> Result<(), serde_json::Error> {
    let cases: Vec<Case> = serde_json::from_str(include_str!("user_files.json"))?;
    for Case { file, script_dir, user } in cases {
        assert_eq!(is_user_file(&file, &script_dir), user, "{file} for a script in {script_dir:?}");
    }
    Ok(())
}
