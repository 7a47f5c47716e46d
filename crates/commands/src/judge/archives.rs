//! `tar`: lists, creates or unpacks an archive.

use super::{At, Judge, Verdict, options::Scan};
use crate::{
    PathPlace,
    syntax::tree::{Value, Word},
};

/// The words of `tar`, sorted.
struct Parts<'w> {
    letters: String,
    archives: Vec<&'w Word>,
    folders: Vec<&'w Word>,
    members: Vec<&'w Word>,
}

impl<'w> Parts<'w> {
    fn of(scan: &'w Scan<'w>) -> Self {
        let mut operands = scan.operands.iter().copied();
        let short = scan.options.iter().filter(|option| !option.starts_with("--"));
        let mut letters: String = short.filter_map(|option| option.strip_prefix('-')).collect();
        let (mut archives, mut folders) = (Vec::new(), Vec::new());
        for (name, word) in &scan.values {
            if matches!(name.as_str(), "-f" | "--file") { archives.push(word) } else { folders.push(word) }
        }
        if !scan.leading_options {
            // `tar xfC archive folder`: the values follow in the order of the letters.
            let bundle = operands.next().and_then(Word::text).unwrap_or_default();
            for letter in bundle.chars() {
                match letter {
                    'f' => archives.extend(operands.next()),
                    'C' => folders.extend(operands.next()),
                    'b' | 'X' | 'T' | 'g' | 'K' | 'N' | 'V' | 'L' | 'F' | 'H' | 'I' => drop(operands.next()),
                    _ => {}
                }
            }
            letters.push_str(bundle);
        }
        Self { letters, archives, folders, members: operands.collect() }
    }
}

impl Judge<'_> {
    /// `tar tf archive`, and nothing else, only reads.
    pub(super) fn archive(&mut self, scan: &Scan<'_>, at: &At, verdict: &mut Verdict) {
        let parts = Parts::of(scan);
        let letters = &parts.letters;
        let long = scan.options.iter().any(|option| option.starts_with("--"));
        let lists = !long
            && letters.contains('t')
            && letters.contains('f')
            && letters.chars().all(|c| "tvfzjJa".contains(c));
        if !lists {
            verdict.ask("archives/tar", "It creates or unpacks an archive.");
            return self.changes_archive(scan, &parts, at, verdict);
        }
        for archive in &parts.archives {
            if archive.text().is_none_or(|text| text.contains(':')) {
                verdict.ask("archives/tar", "The archive may be on another machine.");
            }
            self.read(&archive.value, archive.spelling, at, verdict);
        }
    }

    /// Files that are written: the archive when it is created, folders and members when it is unpacked.
    fn changes_archive(&mut self, scan: &Scan<'_>, parts: &Parts<'_>, at: &At, verdict: &mut Verdict) {
        let has = |letter: char, names: [&str; 2]| {
            parts.letters.contains(letter)
                || scan
                    .options
                    .iter()
                    .any(|option| option.len() > 3 && names.iter().any(|name| name.starts_with(option)))
        };
        let creates = has('c', ["--create", "--concatenate"])
            || has('r', ["--append", "--catenate"])
            || has('u', ["--update", "--delete"])
            || has('A', ["--concatenate", "--catenate"]);
        let unpacks = has('x', ["--extract", "--get"]);
        for archive in &parts.archives {
            if creates {
                self.write(&archive.value, at, verdict, "archives/tar");
            } else {
                self.read(&archive.value, archive.spelling, at, verdict);
            }
        }
        if !unpacks {
            return;
        }
        let mut at = at.clone();
        for folder in &parts.folders {
            self.write(&folder.value, &at, verdict, "archives/tar");
            at.dir = match folder.text().and_then(|path| self.place(path, &at)) {
                Some(PathPlace::Workspace(dir)) => Some(dir),
                _ => None,
            };
        }
        for member in parts.members.iter().filter(|member| matches!(member.value, Value::Known(_))) {
            self.write(&member.value, &at, verdict, "archives/tar");
        }
    }
}
