//! Changing what git executes later, outside of the sandbox.

use process::{Access, SandboxLevel};

use crate::{
    Attack, By, compare, program, script,
    support::{Place, exists},
};

const SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n";

fn with_repository() -> Place {
    let place = Place::new(SandboxLevel::Required);
    let git = place.root.join("work/.git");
    std::fs::create_dir_all(git.join("hooks")).unwrap();
    std::fs::write(git.join("config"), SETTINGS).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    place
}

fn untouched(place: &Place) {
    let git = place.root.join("work/.git");
    assert_eq!(std::fs::read_to_string(git.join("config")).unwrap(), SETTINGS);
    assert_eq!(std::fs::read_dir(git.join("hooks")).unwrap().count(), 0);
    assert!(!exists(&git.join("commondir")));
}

const ATTACKS: [Attack; 8] = [
    Attack {
        name: "git-hook",
        code: "open('.git/hooks/pre-commit', 'w')",
        with: ("EROFS", By::ReadOnly),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-settings",
        code: "open('.git/config', 'a')",
        with: ("EROFS", By::ReadOnly),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-other-settings",
        code: "open('.git/commondir', 'w')",
        with: ("EROFS", By::ReadOnly),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-mode",
        code: "os.chmod('.git/hooks', 0o755)",
        with: ("EROFS", By::ReadOnly),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-replaced-settings",
        code: "(open('mine', 'w').close(), os.rename('mine', '.git/config'))",
        with: ("EXDEV", By::ReadOnly),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-deleted",
        code: "os.unlink('.git/HEAD')",
        with: ("EROFS", By::ReadOnly),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-renamed",
        code: "os.rename('.git', 'old')",
        with: ("EBUSY", By::Mounts),
        without: ("REACHED", By::Nothing),
    },
    Attack {
        name: "git-unmounted",
        code: "call(166, b'.git', 2)",
        with: ("EPERM", By::Seccomp),
        without: ("EPERM", By::Seccomp),
    },
];

#[tokio::test]
async fn changing_the_repository() {
    crate::peer::show_in(&with_repository(), "", &ATTACKS, &[]);
    for namespaces in [true, false] {
        let place = with_repository();
        let place = if namespaces { place } else { place.without_namespaces() };
        let (output, exit) = place.run(script(&place, &program("", &ATTACKS), &[])).await;
        assert_eq!(exit.code, Some(0), "{output}");
        compare(&output, &ATTACKS, namespaces);
        // Without mounts a folder inside of a writable one cannot be protected; the report says so.
        let said = exit.report.weaker.iter().any(|line| line.contains("the repository's settings"));
        assert_eq!((exit.report.kept.is_empty(), said), (!namespaces, !namespaces), "{:?}", exit.report);
        if namespaces {
            assert!(exit.report.short().contains("read-only: .git"), "{}", exit.report.short());
            untouched(&place);
        }
    }
}

/// A line of git may change the repository, but not what it executes at every commit.
#[tokio::test]
async fn a_line_of_git_changes_no_hooks() {
    let place = with_repository();
    let line = "echo more >> .git/HEAD && echo written; echo x > .git/hooks/pre-commit; mv .git/hooks .git/old; mv .git old";
    let (output, exit) = place.run(place.line(Access::Repository, line)).await;
    assert!(output.starts_with("written\n"), "{output}");
    assert_eq!(exit.report.kept, [".git/hooks"]);
    untouched(&place);
}

/// `.git` of a linked work tree is a file that says where the repository is.
#[tokio::test]
async fn a_linked_work_tree_stays_linked() {
    let place = Place::new(SandboxLevel::Required);
    let link = place.root.join("work/.git");
    std::fs::write(&link, "gitdir: /somewhere\n").unwrap();
    let line = "echo 'gitdir: evil' > .git; rm -f .git; mv .git old; mv hello.txt .git; cat .git";
    let (output, _) = place.run_line(line).await;
    assert!(output.ends_with("gitdir: /somewhere\n"), "{output}");
    assert_eq!(std::fs::read_to_string(&link).unwrap(), "gitdir: /somewhere\n");
}

/// The operator can list the repository as writable, and readers and ordinary files are as before.
#[tokio::test]
async fn an_operator_allows_changes_of_the_repository() {
    let mut place = with_repository();
    place.sandbox.write = vec![place.root.join("work/.git")];
    let (output, exit) = place.run_line("echo x > .git/hooks/pre-commit && echo y > new && echo done").await;
    assert_eq!((output.as_str(), exit.report.kept.len()), ("done\n", 0));
}
