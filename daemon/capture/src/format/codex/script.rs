//! Finds the calls of tools in the scripts of Codex's code mode.
//!
//! In code mode, the model calls only the tool `exec`, whose input is JavaScript. The script calls
//! the other tools as members of `tools`, such as `tools.exec_command({cmd: "ls"})`. The scripts
//! are not run here: only arguments that are literals, or constants with literals, are known.
//!
//! A script may be damaged or hostile, so the depth of literals, the size of the values and the
//! number of characters that are read again are limited.

use serde_json::{Map, Value, json};

use super::script_tokens::ScriptReader;

/// Maximum number of calls that are read from a script.
const CALLS: usize = 64;
/// Maximum depth of nested literals that are read.
const DEPTH: usize = 32;

/// The call of a tool in a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NestedCall {
    pub(super) tool: String,
    /// The arguments. An argument that is not known is null. A text that is the only argument is in
    /// the member `input`.
    pub(super) input: Value,
}

/// Returns the calls in a script, in their order in the text. Calls in a loop are returned once.
pub(super) fn calls(script: &str) -> Vec<NestedCall> {
    let mut reader = ScriptReader::new(script);
    let mut calls = Vec::new();
    while calls.len() < CALLS && reader.at < script.len() {
        match reader.word() {
            Some("tools") if !reader.is_member() => calls.extend(reader.call()),
            Some("const") => reader.constant(),
            // The value of a variable can change.
            Some("let" | "var") => {
                let name = reader.word().unwrap_or_default();
                reader.constants.remove(name);
            }
            Some(_) => {}
            None => reader.skip_token(),
        }
    }
    calls
}

impl<'t> ScriptReader<'t> {
    /// Whether the word `tools` before the position is a member of another object.
    fn is_member(&self) -> bool {
        let before = self.text[..self.at - "tools".len()].trim_end();
        before.ends_with('.') && !before.ends_with("...")
    }

    /// Reads the name and the arguments after the word `tools`.
    fn call(&mut self) -> Option<NestedCall> {
        let tool = if self.eat("?.") || self.eat(".") {
            self.word()?.to_owned()
        } else if self.eat("[") {
            let name = self.value()?.as_str()?.to_owned();
            self.eat("]").then_some(name)?
        } else {
            return None;
        };
        if !(self.eat("?.(") || self.eat("(")) {
            return None;
        }
        let begin = self.at;
        let input = match self.value() {
            Some(Value::String(text)) => json!({ "input": text }),
            Some(value) => value,
            None => Value::Null,
        };
        // The arguments may contain other calls.
        self.return_to(begin);
        Some(NestedCall { tool, input })
    }

    /// Reads `name = literal` after `const`. A name that is declared again has its newest value.
    fn constant(&mut self) {
        let Some(name) = self.word() else { return };
        self.constants.remove(name);
        if !self.eat("=") {
            return;
        }
        let begin = self.at;
        self.has_unknown = false;
        let value = self.value().filter(|_| !self.has_unknown);
        if let Some(value) = value.filter(is_flat) {
            self.constants.insert(name, value);
        }
        // The value may contain calls.
        self.return_to(begin);
    }

    /// Reads a value whose content is known. Otherwise returns `None`, with an unspecified
    /// position.
    fn value(&mut self) -> Option<Value> {
        if self.depth == DEPTH {
            return None;
        }
        self.depth += 1;
        let value = self.sum();
        self.depth -= 1;
        value
    }

    fn sum(&mut self) -> Option<Value> {
        let mut value = self.operand()?;
        while self.eat("+") {
            let text = [text_of(&value)?, text_of(&self.operand()?)?].concat();
            self.charge(text.len());
            value = Value::String(text);
        }
        self.skip_space();
        match self.peek() {
            None | Some(b',' | b')' | b']' | b'}' | b';' | b':') => Some(value),
            // A statement may end with the line.
            _ if self.text[..self.at].trim_end_matches([' ', '\t']).ends_with('\n') => Some(value),
            _ => None,
        }
    }

    fn operand(&mut self) -> Option<Value> {
        self.skip_space();
        match self.peek()? {
            b'"' | b'\'' => self.quoted().map(Value::String),
            b'`' => self.template(false).map(Value::String),
            b'{' => self.object(),
            b'[' => self.array(),
            byte if byte == b'-' || byte.is_ascii_digit() => self.number(),
            _ => match self.word()? {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                "null" | "undefined" => Some(Value::Null),
                "String" if self.eat(".raw") => self.template(true).map(Value::String),
                name => self.known(name),
            },
        }
    }

    /// Returns the value of a constant.
    fn known(&mut self, name: &str) -> Option<Value> {
        let value = self.constants.get(name).cloned()?;
        let size = |value: &Value| value.as_str().map_or(1, str::len);
        self.charge(match &value {
            Value::Array(items) => items.iter().map(size).sum(),
            value => size(value),
        });
        (self.remaining > 0).then_some(value)
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.' | '_'));
        let text = &rest[..end.unwrap_or(rest.len())];
        self.at += text.len();
        serde_json::from_str(&text.replace('_', "")).ok()
    }

    fn array(&mut self) -> Option<Value> {
        self.eat("[");
        let mut items = Vec::new();
        while !self.eat("]") {
            items.push(self.member());
            if !self.eat(",") && !self.rest().starts_with(']') {
                return None;
            }
        }
        if !self.eat(".join(") {
            return Some(Value::Array(items));
        }
        let separator = self.value()?;
        let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
        let joined = texts?.join(separator.as_str()?);
        self.charge(joined.len());
        self.eat(")").then_some(Value::String(joined))
    }

    fn object(&mut self) -> Option<Value> {
        self.eat("{");
        let mut members = Map::new();
        while !self.eat("}") {
            self.skip_space();
            let key = match self.peek()? {
                b'"' | b'\'' => self.quoted()?,
                b'.' => {
                    self.skip_expression();
                    String::new()
                }
                _ => self.word()?.to_owned(),
            };
            if self.eat(":") {
                let value = self.member();
                members.insert(key, value);
            } else if let Some(value) = self.known(&key) {
                members.insert(key, value);
            } else {
                self.has_unknown = true;
            }
            if !self.eat(",") && !self.rest().starts_with('}') {
                return None;
            }
        }
        Some(Value::Object(members))
    }

    /// Reads a member of an object or array; null if the member is not known.
    fn member(&mut self) -> Value {
        let begin = self.at;
        match self.value() {
            Some(value) if matches!(self.peek(), Some(b',' | b']' | b'}')) => value,
            _ => {
                self.has_unknown = true;
                self.return_to(begin);
                self.skip_expression();
                Value::Null
            }
        }
    }

    /// Reads a text in backticks. Unknown values in it stay as they are written.
    fn template(&mut self, raw: bool) -> Option<String> {
        if !self.eat("`") {
            return None;
        }
        let mut text = String::new();
        loop {
            if self.rest().starts_with("${") {
                let begin = self.at;
                self.at += 2;
                let known = self.value().and_then(|value| text_of(&value));
                if let Some(known) = known.filter(|_| self.peek() == Some(b'}')) {
                    self.charge(known.len());
                    text.push_str(&known);
                } else {
                    self.return_to(begin + 2);
                    self.skip_expression();
                    text.push_str(&self.text[begin..self.at]);
                    text.push('}');
                }
                self.at += usize::from(self.peek() == Some(b'}'));
                continue;
            }
            let next = self.rest().chars().next()?;
            self.at += next.len_utf8();
            match next {
                '`' => return Some(text),
                '\\' if raw => {
                    text.push('\\');
                    let escaped = self.rest().chars().next()?;
                    self.at += escaped.len_utf8();
                    text.push(escaped);
                }
                '\\' => self.escape(&mut text)?,
                _ => text.push(next),
            }
        }
    }
}

/// Whether a value is a text, a number or a list of them.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.iter().any(|item| item.is_array() || item.is_object()),
        value => !value.is_object(),
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str) -> Vec<(String, Value)> {
        calls(script).into_iter().map(|call| (call.tool, call.input)).collect()
    }

    #[test]
    fn calls_with_literals_are_found_in_every_form() {
        let run = |cmd: &str| ("exec_command".to_owned(), json!({ "cmd": cmd }));
        for script in [
            r#"const r = await tools.exec_command({cmd:"ls -a"}); text(r.output);"#,
            r#"text(await tools.exec_command({ "cmd": 'ls -a' }))"#,
            "await tools.exec_command({cmd: `ls -a`})",
            "await tools?.exec_command({cmd: 'ls ' + '-a',})",
            "await tools['exec_command']({cmd: [\"ls\", '-a'].join(' ')})",
            "const cmd = 'ls -a'\nawait tools.exec_command({cmd})",
            "const cmd = 'ls -a';\nconst r = await tools.exec_command({cmd: cmd});",
            "const flag = '-a'; await tools.exec_command({cmd: `ls ${flag}`});",
            "// tools.exec_command({cmd: 'rm'})\n/* tools.exec_command() */ \
             tools.exec_command({cmd: 'ls -a'})",
            "text('tools.exec_command({})'); tools.exec_command({cmd: 'ls -a'})",
            "other.tools.exec_command({cmd: 'rm'}); tools.exec_command({cmd: 'ls -a'})",
        ] {
            assert_eq!(found(script), [run("ls -a")], "{script}");
        }
        let parallel = "const r = await Promise.all([\n tools.exec_command({cmd:\"a\"}),\n \
                        tools.exec_command({cmd:\"b\"})\n]);\nfor (const x of r) text(x.output);";
        assert_eq!(found(parallel), [run("a"), run("b")]);
    }

    #[test]
    fn escapes_and_patches_are_read() {
        let quoted = r#"tools.exec_command({cmd: "printf '\"\u0041\x42\u{43}\\n' \
&& ls", n: -1.5, deep: [{a: true}], ...rest})"#;
        let wanted =
            json!({ "cmd": "printf '\"ABC\\n' && ls", "n": -1.5, "deep": [{ "a": true }] });
        assert_eq!(found(quoted), [("exec_command".to_owned(), wanted)]);
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-\\d\n+`${x}`\n*** End Patch";
        let raw = "const patch = String.raw`*** Begin Patch\n*** Update File: a.rs\n@@\n-\\d\n\
                   +`; await tools.apply_patch(patch);";
        let cut = "*** Begin Patch\n*** Update File: a.rs\n@@\n-\\d\n+";
        assert_eq!(found(raw), [("apply_patch".to_owned(), json!({ "input": cut }))]);
        let quoted = format!("text(await tools.apply_patch({}))", json!(patch));
        assert_eq!(found(&quoted), [("apply_patch".to_owned(), json!({ "input": patch }))]);
    }

    #[test]
    fn values_that_change_are_not_known() {
        for script in [
            "let cmd = 'a'; cmd += ' b'; tools.exec_command({cmd})",
            "const cmd = 'a'; for (const cmd of all) tools.exec_command({cmd})",
            "const cmd = 'a'; const cmd = make(); tools.exec_command({cmd})",
        ] {
            assert_eq!(found(script), [("exec_command".to_owned(), json!({}))], "{script}");
        }
    }

    #[test]
    fn calls_within_values_and_behind_regular_expressions_are_found() {
        let run = |cmd: &str| ("exec_command".to_owned(), json!({ "cmd": cmd }));
        for script in [
            "const jobs = [tools.exec_command({cmd: 'a'}), tools.exec_command({cmd: 'b'})];",
            "const r = {a: await tools.exec_command({cmd: 'a'}), b: await tools.exec_command({cmd: 'b'})};",
            "const r = await tools.exec_command({cmd: 'a'}); if (/it's|[\"'/]/.test(r.output)) \
             await tools.exec_command({cmd: 'b'});",
            "await tools.exec_command({cmd: 'a'}); // don't\nawait tools.exec_command({cmd: 'b'});",
        ] {
            assert_eq!(found(script), [run("a"), run("b")], "{script}");
        }
    }

    #[test]
    fn unknown_arguments_are_null() {
        for (script, wanted) in [
            (
                "tools.exec_command({cmd: make(1, [2]), workdir: '/a'})",
                json!({ "cmd": null, "workdir": "/a" }),
            ),
            ("tools.exec_command({cmd: `cat ${f.path}`})", json!({ "cmd": "cat ${f.path}" })),
            ("tools.exec_command(options)", Value::Null),
            ("tools.exec_command({cmd})", json!({})),
        ] {
            assert_eq!(found(script), [("exec_command".to_owned(), wanted)], "{script}");
        }
    }

    #[test]
    fn broken_scripts_end() {
        for script in [
            "tools",
            "tools.",
            "tools.a(",
            "tools['a",
            "tools.a({",
            "tools.a({b:",
            "tools.a({b: `${",
            "tools.a(\"\\",
            "tools.a('\\u12",
            "const",
            "const a =",
            "`${`${`",
            "é tools.a(é",
            "/*",
            "//",
            "tools.a([1 2",
            "tools.a({..., b})",
            "}])",
        ] {
            let _ = calls(script);
        }
        let deep = format!("tools.a({}", "[".repeat(100_000));
        assert_eq!(found(&deep), [("a".to_owned(), Value::Null)]);
        for nested in ["`${", "tools.a(`${", "{a:[", "const a = `${", "/[", "\"\\", "\"\\u{"] {
            let _ = calls(&nested.repeat(50_000));
        }
        let doubled = format!("let a='aa';const b='bb';{}tools.a(b);", "const b=b+b;".repeat(60));
        let nested = format!("const b='bb';{}tools.a(b);", "const b=[[[[b]]]];".repeat(5_000));
        for script in [doubled, nested, "const a=[".repeat(20_000), "tools.a(".repeat(20_000)] {
            let _ = calls(&script);
        }
        assert_eq!(calls(&"tools.a();".repeat(1_000)).len(), CALLS);
    }
}
