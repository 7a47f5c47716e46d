//! Devices, FIFOs and sockets.

use super::*;

#[test]
fn devices_fifos_and_sockets_are_refused_without_waiting() {
    let workspace = Workspace::new();
    let root = workspace.root();
    let mknod = |name: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("mknod");
        command.arg(root.join(name)).args(arguments).status().is_ok_and(|status| status.success())
    };
    assert!(mknod("fifo", &["p"]));
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let mut names = vec!["fifo", "socket"];
    // Only the administrator can make devices.
    for (name, arguments) in [("zero", ["c", "1", "5"]), ("tty", ["c", "5", "0"]), ("disk", ["b", "7", "0"])]
    {
        if mknod(name, &arguments) {
            names.push(name);
        }
    }
    symlink("fifo", root.join("to-fifo")).unwrap();
    names.push("to-fifo");
    let begin = Instant::now();
    for name in names {
        assert_refused(&workspace, name, &[AccessDenied, InvalidArgument]);
    }
    let found = workspace.domain.grep(&grep(&LogicalPath::root()), &Watch::ALWAYS).unwrap();
    assert_eq!((found.files, found.searched), (vec![], 0));
    assert!(begin.elapsed() < Duration::from_secs(10));
}
