//! Program texts of `sed` and `awk` that can only print.

/// More files that a text names are not examined; it asks in any case.
pub(super) const MAX_WRITTEN: usize = 50;

/// Whether an `awk` program can neither start programs nor read or write other files.
pub(super) fn awk_only_prints(program: &str) -> bool {
    let words = ["system", "getline", "ARGV", "ARGC", "close", "fflush", "ENVIRON", "extension", "PROCINFO"];
    if words.iter().any(|word| program.contains(word)) || program.contains('@') {
        return false;
    }
    if program.replace("||", "").contains('|') {
        return false;
    }
    // Without an action `>` compares; inside an action it may write a file.
    !program.contains('>') || !program.contains('{') || awk_compares(program) == Some(true)
}

/// Whether every `>` of an `awk` program is in front of an action, where it compares. `None` when that is not certain: a slash
/// may start a regular expression, which may contain braces.
fn awk_compares(program: &str) -> Option<bool> {
    let mut depth = 0_u32;
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => drop(chars.next()?),
                    '\n' => return None,
                    _ => {}
                }
            },
            '/' | '#' | '\\' | '\'' | '`' => return None,
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            '>' if depth > 0 => return Some(false),
            _ => {}
        }
    }
    (depth == 0).then_some(true)
}

/// The files that an `awk` program names behind `>`.
pub(super) fn awk_writes(program: &str) -> Vec<String> {
    let behind = program.split('>').skip(1).map(|text| text.trim_start_matches([' ', '\t', '(']));
    let named = behind.filter_map(|text| text.strip_prefix('"')?.split('"').next());
    named.filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// The files that a `sed` script names behind `w` or `W`, and some texts that only look like it.
pub(super) fn sed_writes(script: &str) -> Vec<String> {
    let mut written = Vec::new();
    for line in script.lines() {
        for (at, _) in line.match_indices(['w', 'W']) {
            let (before, path) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
            let path = path.trim();
            let is_command =
                before.chars().next_back().is_none_or(|c| !c.is_alphabetic() || "gpiIeMm".contains(c));
            if is_command && !path.is_empty() {
                written.push(path.to_owned());
            }
        }
    }
    written
}

/// Whether a `sed` script consists only of addresses, `p`, `d`, `q`, `n`, `=`, `l`, `s` and `y` without flags that write or execute.
pub(super) fn sed_only_prints(script: &str) -> bool {
    let mut chars = Chars { text: script.chars().collect(), at: 0 };
    loop {
        chars.skip_any(" \t\n;{}");
        if chars.peek().is_none() {
            return true;
        }
        if !command(&mut chars).unwrap_or(false) {
            return false;
        }
    }
}

struct Chars {
    text: Vec<char>,
    at: usize,
}

impl Chars {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn skip_any(&mut self, set: &str) {
        while self.peek().is_some_and(|c| set.contains(c)) {
            self.at += 1;
        }
    }

    /// Skips a pattern up to an unescaped end sign. `None` when there is none, or when brackets hold a sign that programs
    /// read in different ways.
    fn skip_to(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '\n' => return None,
                '[' => self.skip_brackets(end)?,
                c if c == end => return Some(()),
                _ => {}
            }
        }
    }

    fn skip_brackets(&mut self, end: char) -> Option<()> {
        self.skip_any("^");
        let mut first = true;
        loop {
            match self.next()? {
                '\\' | '\n' | '[' => return None,
                c if c == end => return None,
                ']' if !first => return Some(()),
                _ => first = false,
            }
        }
    }

    fn skip_to_in_replacement(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => {
                    self.next()?;
                }
                '\n' => return None,
                c if c == end => return Some(()),
                _ => {}
            }
        }
    }
}

fn command(chars: &mut Chars) -> Option<bool> {
    address(chars)?;
    chars.skip_any(" \t");
    if chars.peek() == Some(',') {
        chars.next();
        chars.skip_any(" \t+~");
        address(chars)?;
    }
    chars.skip_any(" \t!");
    match chars.next()? {
        'p' | 'd' | 'n' | 'N' | 'D' | 'P' | '=' | 'h' | 'H' | 'g' | 'G' | 'x' => {}
        'q' | 'Q' | 'l' => chars.skip_any(" 0123456789"),
        '{' => return Some(true),
        's' => {
            let end = chars.next().filter(|c| "/|,#:@!%_".contains(*c))?;
            chars.skip_to(end)?;
            chars.skip_to_in_replacement(end)?;
            chars.skip_any("gpiI0123456789");
        }
        'y' => {
            let end = chars.next().filter(|c| "/|,#:@!%_".contains(*c))?;
            chars.skip_to_in_replacement(end)?;
            chars.skip_to_in_replacement(end)?;
        }
        _ => return Some(false),
    }
    chars.skip_any(" \t");
    Some(matches!(chars.peek(), None | Some(';' | '\n' | '}')))
}

/// A line number, `$` or `/pattern/`; nothing is fine, too.
fn address(chars: &mut Chars) -> Option<()> {
    match chars.peek() {
        Some(c) if c.is_ascii_digit() => chars.skip_any("0123456789~"),
        Some('$') => {
            chars.next();
        }
        Some('/') => {
            chars.next();
            chars.skip_to('/')?;
            chars.skip_any("I");
        }
        _ => {}
    }
    Some(())
}
