//! What is no attack works.

use super::*;

#[test]
fn ordinary_use_works() {
    let workspace = Workspace::new();
    let (domain, contents) = (&workspace.domain, &workspace.contents);
    let path = domain.resolve("src/deep/hello.rs").unwrap();
    let new = NewContent { path: path.clone(), before: None, after: Some(file("fn main() {}\n")) };
    stage(domain, contents, vec![new]).unwrap().apply(domain, contents).unwrap();
    let read = domain.read(&path, 100).unwrap();
    assert_eq!(read.bytes, b"fn main() {}\n");
    assert_eq!(domain.version(&path).unwrap(), Some(read.state.content.clone()));
    assert_eq!(domain.info(&path).unwrap().mode, 0o644);
    let absolute = workspace.root().join("src/deep/hello.rs");
    assert_eq!(domain.resolve(absolute.to_str().unwrap()).unwrap(), path);
    assert_eq!(domain.lines(&path, 1, 5, &Watch::ALWAYS).unwrap().lines[0].text, "fn main() {}");
    fs::set_permissions(&absolute, fs::Permissions::from_mode(0o755)).unwrap();
    let before = Some(domain.read(&path, 100).unwrap().state);
    let edit = NewContent { path: path.clone(), before, after: Some(file("fn other() {}\n")) };
    stage(domain, contents, vec![edit]).unwrap().apply(domain, contents).unwrap();
    assert_eq!(fs::read_to_string(&absolute).unwrap(), "fn other() {}\n");
    assert_eq!(fs::metadata(&absolute).unwrap().permissions().mode() & 0o7777, 0o755);
    let before = Some(domain.read(&path, 100).unwrap().state);
    let delete = NewContent { path: path.clone(), before, after: None };
    stage(domain, contents, vec![delete]).unwrap().apply(domain, contents).unwrap();
    assert_eq!(domain.version(&path).unwrap(), None);
    assert_eq!(domain.list(&LogicalPath::root()).unwrap(), []);
    assert!(ContentStore::open(workspace.data(), protocol::Durability::Process).is_ok());
}
