//! Folders are listed and files are shown or saved, of the caller's own workspace only, and never as a page of this server.

use serde_json::{Value, json};
use testkit::{Caller, TestApp, protocol::ErrorCode};

use crate::{start, write};

async fn app() -> TestApp {
    let app = start(Vec::new()).await;
    write(&app, "src/main.rs", "fn main() {}\n");
    write(&app, "README.md", "Grüße\n");
    write(&app, "page.html", "<script>alert(1)</script>");
    write(&app, "pixel.gif", "GIF89a...");
    write(&app, "data.bin", "a\0b");
    write(&app, ".gitignore", "*.log\n");
    write(&app, "x.log", "log");
    app
}

fn names(list: &Value) -> Vec<String> {
    let entries = list["entries"].as_array().unwrap();
    let show = |entry: &Value| {
        let ignored = if entry["ignored"] == true { " ignored" } else { "" };
        format!("{} {}{ignored}", entry["name"].as_str().unwrap(), entry["kind"].as_str().unwrap())
    };
    entries.iter().map(show).collect()
}

#[tokio::test]
async fn a_folder_is_listed_with_its_folders_first() {
    let app = app().await;
    let list = app.get("/api/files").await.json();
    assert_eq!(list["path"], "");
    assert_eq!(
        names(&list),
        [
            "src directory",
            ".gitignore file",
            "README.md file",
            "data.bin file",
            "page.html file",
            "pixel.gif file",
            "x.log file ignored"
        ]
    );
    let readme = &list["entries"][2];
    assert_eq!(readme["bytes"], 8);
    assert!(readme["modifiedAt"].as_i64().unwrap() > 0);
    for path in ["src", "/workspace/src", "src/"] {
        let list = app.get(&format!("/api/files?path={path}")).await.json();
        assert_eq!((list["path"].as_str(), names(&list)), (Some("src"), vec!["main.rs file".to_owned()]));
    }
}

#[tokio::test]
async fn a_long_folder_is_cut() {
    let app = start(Vec::new()).await;
    for number in 0..2_001 {
        write(&app, &format!("many/{number}"), "");
    }
    let list = app.get("/api/files?path=many").await.json();
    assert_eq!((list["entries"].as_array().unwrap().len(), &list["cut"]), (2_000, &json!(true)));
}

#[tokio::test]
async fn a_file_is_shown_with_a_safe_type_or_saved() {
    let app = app().await;
    for (name, kind, how) in [
        ("README.md", "text/plain; charset=utf-8", "inline"),
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("src/main.rs", "text/plain; charset=utf-8", "inline"),
        ("pixel.gif", "image/gif", "inline"),
        ("data.bin", "application/octet-stream", "attachment"),
    ] {
        let shown = app.get(&format!("/api/files/content?path={name}")).await;
        assert_eq!((shown.status, shown.header("content-type")), (200, kind), "{name}");
        assert!(shown.header("content-disposition").starts_with(&format!("{how}; filename=")), "{name}");
        assert_eq!(shown.header("x-content-type-options"), "nosniff");
        assert_eq!(shown.header("content-security-policy"), "default-src 'none'; sandbox");
        let saved = app.get(&format!("/api/files/content?path={name}&download=1")).await;
        assert!(saved.header("content-disposition").starts_with("attachment; filename="), "{name}");
        assert_eq!(saved.body, shown.body);
    }
    let part =
        app.caller.request("GET", "/api/files/content?path=README.md", &[("range", "bytes=0-1")], "").await;
    assert_eq!((part.status, part.body.as_str(), part.header("content-range")), (206, "Gr", "bytes 0-1/8"));
}

#[tokio::test]
async fn a_large_file_is_saved_and_not_shown() {
    let app = start(Vec::new()).await;
    write(&app, "large", "x".repeat((10 << 20) + 1));
    let shown = app.get("/api/files/content?path=large").await;
    shown.assert_problem(ErrorCode::FileTooLarge);
    let saved = app.get("/api/files/content?path=large&download=1").await;
    assert_eq!((saved.status, saved.body.len()), (200, (10 << 20) + 1));
}

#[tokio::test]
async fn what_is_not_a_file_of_the_workspace_is_refused_with_a_code() {
    let app = app().await;
    write(&app, "../secret", "secret");
    std::os::unix::fs::symlink(app.data_dir().join("secret"), app.workdir().join("link")).unwrap();
    std::fs::hard_link(app.data_dir().join("secret"), app.workdir().join("hard")).unwrap();
    let refused: &[(&str, &[ErrorCode])] = &[
        ("content?path=none", &[ErrorCode::FileNotFound]),
        ("content?path=src", &[ErrorCode::InvalidPath]),
        ("content?path=..%2Fsecret", &[ErrorCode::InvalidPath, ErrorCode::AccessDenied]),
        ("content?path=%2Fetc%2Fpasswd", &[ErrorCode::InvalidPath, ErrorCode::AccessDenied]),
        ("content?path=a%00b", &[ErrorCode::InvalidPath]),
        ("content?path=link", &[ErrorCode::AccessDenied, ErrorCode::InvalidPath]),
        ("content?path=hard", &[ErrorCode::AccessDenied]),
        ("content", &[ErrorCode::InvalidMessage]),
        ("content?path=README.md&download=yes", &[ErrorCode::InvalidMessage]),
    ];
    for (query, codes) in refused {
        let response = app.get(&format!("/api/files/{query}")).await;
        let code = codes.iter().find(|code| response.header("x-error-code") == code.as_str());
        response.assert_problem(*code.unwrap_or_else(|| panic!("{query}: {response:?}")));
        assert!(!response.body.contains("secret\"") && !response.body.contains("root:"), "{response:?}");
    }
    app.get("/api/files?path=none").await.assert_problem(ErrorCode::FileNotFound);
    app.get("/api/files?path=README.md").await.assert_problem(ErrorCode::InvalidPath);
    app.caller.post_json("/api/files", &json!({})).await.assert_problem(ErrorCode::MethodNotAllowed);
    app.stranger().get("/api/files").await.assert_problem(ErrorCode::Unauthorized);
}

#[tokio::test]
async fn each_workspace_has_its_own_files() {
    let app = app().await;
    let other: Caller = app.caller_of("Other team").await;
    assert_eq!(other.get("/api/files").await.json(), json!({ "path": "", "entries": [] }));
    std::fs::write(app.data_dir().join("workspaces/_4fther_20team/own.txt"), "own").unwrap();
    assert_eq!(names(&other.get("/api/files").await.json()), ["own.txt file"]);
    other.get("/api/files/content?path=README.md").await.assert_problem(ErrorCode::FileNotFound);
    for path in ["../../work/README.md", "/workspace/../../work/README.md"] {
        let response = other.get(&format!("/api/files/content?path={path}")).await;
        assert!(response.status == 400 || response.status == 403, "{response:?}");
    }
}
