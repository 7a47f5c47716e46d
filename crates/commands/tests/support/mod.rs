//! A made-up work directory: answers questions about paths from tables.

use commands::{PathPlace, Surroundings};

/// The operating-system path of the work directory in the tests.
pub const WORKDIR: &str = "/home/dev/project";
pub const HOME: &str = "/home/dev";

/// A work directory with a repository, symbolic links and a few settings.
pub struct Project {
    pub files: Vec<(&'static str, String)>,
    /// Path in the work directory, and the absolute target.
    pub links: Vec<(&'static str, &'static str)>,
}

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

impl Default for Project {
    fn default() -> Self {
        let file = |path, text: &str| (path, text.to_owned());
        Self {
            files: vec![
                file(".git/HEAD", "ref: refs/heads/main\n"),
                file(".git/config", CONFIG),
                file("evil/.git/HEAD", "ref: refs/heads/main\n"),
                file("evil/.git/config", &format!("{CONFIG}[core]\n\tfsmonitor = ./run.sh\n")),
                file("pager/.git/HEAD", "x"),
                file("pager/.git/config", "[core]\n\tbare = false\n\tpager = sh -c id\n"),
                file("textconv/.git/HEAD", "x"),
                file(
                    "textconv/.git/config",
                    "[core]\n\tbare = false\n[diff \"img\"]\n\ttextconv = ./run.sh\n",
                ),
                file("attributes/.git/HEAD", "x"),
                file("attributes/.git/config", "[core]\n\tbare = false\n"),
                file("attributes/.gitattributes", "*.png diff=img filter=img\n"),
                file("include/.git/HEAD", "x"),
                file("include/.git/config", "[include]\n\tpath = ../more.config\n"),
                file("include/more.config", "[alias]\n\tst = !sh\n"),
                file("far/.git/HEAD", "x"),
                file("far/.git/config", "[include]\n\tpath = /home/dev/elsewhere\n"),
                file("bare/HEAD", "ref: refs/heads/main\n"),
                file("bare/config", "[core]\n\tbare = true\n\tfsmonitor = ./run.sh\n"),
                file("tree/.git", "gitdir: ../.git/worktrees/tree\n"),
                file(".git/worktrees/tree/commondir", "../..\n"),
                file(".git/worktrees/tree/HEAD", "x"),
                file("lost/.git", "gitdir: /home/dev/other/.git/worktrees/x\n"),
            ],
            links: vec![
                ("out", "/home/dev/private"),
                ("passwords", "/etc/shadow"),
                ("inside", "/home/dev/project/src"),
            ],
        }
    }
}

impl Project {
    /// An absolute path with links followed. Parts behind a link are taken as they are.
    fn resolved(&self, absolute: &str) -> String {
        let mut path = String::new();
        for part in absolute.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                path.truncate(path.rfind('/').unwrap_or(0));
                continue;
            }
            path.push('/');
            path.push_str(part);
            let inside = path.strip_prefix(WORKDIR).and_then(|rest| rest.strip_prefix('/'));
            if let Some((_, target)) = self.links.iter().find(|(link, _)| Some(*link) == inside) {
                path = (*target).to_owned();
            }
        }
        path
    }
}

impl Surroundings for Project {
    fn place(&self, cwd: &str, written: &str) -> PathPlace {
        let absolute =
            if written.starts_with('/') { written.to_owned() } else { format!("{WORKDIR}/{cwd}/{written}") };
        let path = self.resolved(&absolute);
        if path == WORKDIR {
            return PathPlace::Workspace(String::new());
        }
        if let Some(inside) = path.strip_prefix(WORKDIR).and_then(|rest| rest.strip_prefix('/')) {
            return PathPlace::Workspace(inside.to_owned());
        }
        match path.as_str() {
            "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" => PathPlace::Null,
            "/etc/hostname" | "/etc/os-release" | "/proc/cpuinfo" | "/proc/meminfo" => {
                PathPlace::PublicSystem
            }
            _ if path.starts_with("/usr/share/") || path.starts_with("/usr/include/") => {
                PathPlace::PublicSystem
            }
            _ => PathPlace::Outside,
        }
    }

    fn read_small(&self, path: &str) -> Option<String> {
        self.files.iter().find(|(known, _)| *known == path).map(|(_, text)| text.clone())
    }

    fn home(&self) -> Option<&str> {
        Some(HOME)
    }
}
