//! Parses one JSON object from text that is almost JSON. It is our own instead of a library's, because it must never
//! guess (ADR 26).
//!
//! Accepted beyond JSON, because the meaning is clear: trailing commas, single and typographic quotes, bare keys,
//! `True`/`False`/`None`, line ends and unknown escapes in strings. Text that ends too early is always
//! [`RepairError::Incomplete`], because the rest cannot be guessed. The depth, and so the recursion, is bounded.

use serde_json::{Map, Number, Value};

/// The deepest nesting of arrays and objects.
pub(crate) const MAX_DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepairError {
    /// The text ends in a string, an array or the object.
    Incomplete,
    TooDeep,
    NotJson,
}

/// Parses the object at the start of the text; also returns the rest of the text.
pub(crate) fn object(text: &str) -> Result<(Value, &str), RepairError> {
    let mut reader = Reader { rest: text };
    match reader.rest.starts_with('{') {
        true => reader.value(1).map(|value| (value, reader.rest)),
        false => Err(RepairError::NotJson),
    }
}

/// Parses the string at the start of the text; also returns the rest of the text.
pub(crate) fn text(text: &str) -> Result<(String, &str), RepairError> {
    let mut reader = Reader { rest: text };
    reader.string().map(|text| (text, reader.rest))
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, RepairError> {
        match self.peek()? {
            '{' | '[' if depth > MAX_DEPTH => Err(RepairError::TooDeep),
            '{' => self.fields(depth).map(Value::Object),
            '[' => self.items(depth).map(Value::Array),
            '-' | '0'..='9' => self.number(),
            quote if closing(quote).is_some() => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn fields(&mut self, depth: usize) -> Result<Map<String, Value>, RepairError> {
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
                return Err(RepairError::NotJson);
            }
            fields.insert(key, self.value(depth + 1)?);
            if !self.found(',')? && self.peek()? != '}' {
                return Err(RepairError::NotJson);
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Value>, RepairError> {
        let mut items = Vec::new();
        self.skip('[');
        loop {
            if self.found(']')? {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            if !self.found(',')? && self.peek()? != ']' {
                return Err(RepairError::NotJson);
            }
        }
    }

    fn string(&mut self) -> Result<String, RepairError> {
        let open = self.next()?;
        let close = closing(open).ok_or(RepairError::NotJson)?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '\\' => self.escape(&mut text)?,
                end if end == close => return Ok(text),
                other => text.push(other),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), RepairError> {
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

    fn code_point(&mut self) -> Result<char, RepairError> {
        let high = self.hex()?;
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).ok_or(RepairError::NotJson);
        }
        if self.next()? != '\\' || self.next()? != 'u' {
            return Err(RepairError::NotJson);
        }
        let low = self.hex()?.checked_sub(0xDC00).filter(|low| *low < 0x400).ok_or(RepairError::NotJson)?;
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + low).ok_or(RepairError::NotJson)
    }

    fn hex(&mut self) -> Result<u32, RepairError> {
        let mut number = 0;
        for _ in 0..4 {
            number = number * 16 + self.next()?.to_digit(16).ok_or(RepairError::NotJson)?;
        }
        Ok(number)
    }

    fn number(&mut self) -> Result<Value, RepairError> {
        let digits = self.bare(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E'))?;
        digits.parse::<Number>().map(Value::Number).map_err(|_| RepairError::NotJson)
    }

    fn word(&mut self) -> Result<Value, RepairError> {
        match self.bare(char::is_alphanumeric)? {
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            "null" | "None" => Ok(Value::Null),
            _ => Err(RepairError::NotJson),
        }
    }

    /// The longest run of such characters. At the end of the text the object is incomplete.
    fn bare(&mut self, belongs: impl Fn(char) -> bool) -> Result<&'a str, RepairError> {
        let end = self.rest.find(|c| !belongs(c)).ok_or(RepairError::Incomplete)?;
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.is_empty() { Err(RepairError::NotJson) } else { Ok(word) }
    }

    fn next(&mut self) -> Result<char, RepairError> {
        let next = self.rest.chars().next().ok_or(RepairError::Incomplete)?;
        self.skip(next);
        Ok(next)
    }

    /// The next character that is not white space.
    fn peek(&mut self) -> Result<char, RepairError> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next().ok_or(RepairError::Incomplete)
    }

    fn found(&mut self, wanted: char) -> Result<bool, RepairError> {
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
