//! Reads one JSON object from text that is not quite JSON.
//!
//! Accepted beyond JSON, because the meaning is plain: trailing commas, single and typographic quotes, bare keys,
//! `True`/`False`/`None`, line ends and unknown escapes inside strings. Text that ends too early is always
//! [`Fault::Cut`]: what is missing cannot be guessed. Depth is bounded, so is the recursion.

use serde_json::{Map, Number, Value};

/// How deep arrays and objects may lie in each other.
pub(crate) const DEEPEST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text ends inside a string, an array or the object.
    Cut,
    TooDeep,
    NotJson,
}

/// The object that begins the text, and the rest behind it.
pub(crate) fn object(text: &str) -> Result<(Value, &str), Fault> {
    let mut reader = Reader { rest: text };
    match reader.rest.starts_with('{') {
        true => reader.value(1).map(|value| (value, reader.rest)),
        false => Err(Fault::NotJson),
    }
}

/// The quoted text that begins the text, and the rest behind it.
pub(crate) fn text(text: &str) -> Result<(String, &str), Fault> {
    let mut reader = Reader { rest: text };
    reader.string().map(|text| (text, reader.rest))
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        match self.peek()? {
            '{' | '[' if depth > DEEPEST => Err(Fault::TooDeep),
            '{' => self.fields(depth).map(Value::Object),
            '[' => self.items(depth).map(Value::Array),
            '-' | '0'..='9' => self.number(),
            quote if closing(quote).is_some() => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn fields(&mut self, depth: usize) -> Result<Map<String, Value>, Fault> {
        let mut fields = Map::new();
        self.skip('{');
        loop {
            if self.found('}')? {
                return Ok(fields);
            }
            let key = match closing(self.peek()?) {
                Some(_) => self.string()?,
                None => self.bare(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))?.to_owned(),
            };
            if !self.found(':')? {
                return Err(Fault::NotJson);
            }
            fields.insert(key, self.value(depth + 1)?);
            if !self.found(',')? && self.peek()? != '}' {
                return Err(Fault::NotJson);
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>, Fault> {
        let mut items = Vec::new();
        self.skip('[');
        loop {
            if self.found(']')? {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            if !self.found(',')? && self.peek()? != ']' {
                return Err(Fault::NotJson);
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let open = self.next()?;
        let close = closing(open).ok_or(Fault::NotJson)?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '\\' => self.escape(&mut text)?,
                end if end == close => return Ok(text),
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let plain = match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.code_point()?,
            known if matches!(known, '\\' | '/') || is_quote(known) => known,
            unknown => {
                text.push('\\');
                unknown
            }
        };
        text.push(plain);
        Ok(())
    }

    fn code_point(&mut self) -> Result<char, Fault> {
        let high = self.hex()?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).ok_or(Fault::NotJson);
        }
        if self.next()? != '\\' || self.next()? != 'u' {
            return Err(Fault::NotJson);
        }
        let low = self.hex()?.checked_sub(0xDC00).filter(|low| *low < 0x400).ok_or(Fault::NotJson)?;
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + low).ok_or(Fault::NotJson)
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut number = 0;
        for _ in 0..4 {
            number = number * 16 + self.next()?.to_digit(16).ok_or(Fault::NotJson)?;
        }
        Ok(number)
    }

    fn number(&mut self) -> Result<Value, Fault> {
        let digits = self.bare(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'))?;
        digits.parse::<Number>().map(Value::Number).map_err(|_| Fault::NotJson)
    }

    fn word(&mut self) -> Result<Value, Fault> {
        match self.bare(char::is_alphanumeric)? {
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            "null" | "None" => Ok(Value::Null),
            _ => Err(Fault::NotJson),
        }
    }

    /// The longest run of such characters. Reaching the end of the text means that it was cut: the object is open.
    fn bare(&mut self, belongs: impl Fn(char) -> bool) -> Result<&'a str, Fault> {
        let end = self.rest.find(|c| !belongs(c)).ok_or(Fault::Cut)?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.is_empty() { Err(Fault::NotJson) } else { Ok(word) }
    }

    fn next(&mut self) -> Result<char, Fault> {
        let next = self.rest.chars().next().ok_or(Fault::Cut)?;
        self.skip(next);
        Ok(next)
    }

    /// The next character that is not blank.
    fn peek(&mut self) -> Result<char, Fault> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next().ok_or(Fault::Cut)
    }

    fn found(&mut self, wanted: char) -> Result<bool, Fault> {
        let found = self.peek()? == wanted;
        if found {
            self.skip(wanted);
        }
        Ok(found)
    }

    fn skip(&mut self, next: char) {
        self.rest = self.rest.strip_prefix(next).unwrap_or(self.rest);
    }
}

fn closing(quote: char) -> Option<char> {
    match quote {
        '"' => Some('"'),
        '\'' => Some('\''),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

fn is_quote(c: char) -> bool {
    closing(c).is_some() || matches!(c, '”' | '’')
}
