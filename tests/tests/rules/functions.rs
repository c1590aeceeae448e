//! Checks the functions of the product: they stay short and have few parameters, and their
//! parameters have names instead of positions in a tuple.

use std::collections::BTreeMap;

use crate::names::{compare, product_code_files, product_lines};

/// Maximum number of lines of a function, with its signature.
const MAX_LINES: usize = 60;

/// Maximum number of parameters of a function, without `self`.
const MAX_PARAMETERS: usize = 5;

struct Function {
    name: String,
    lines: usize,
    /// The text between the parentheses.
    parameters: String,
}

#[test]
fn functions_stay_short() {
    let broken = compare(&count(|function| function.lines, MAX_LINES), &[], "function");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_function_has_no_tuple_as_a_parameter() {
    let tuples = count(|function| tuple_parameters(&function.parameters), 0);
    let broken = compare(&tuples, &[], "tuple parameters of");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn functions_have_few_parameters() {
    let many = count(|function| parameter_count(&function.parameters), MAX_PARAMETERS);
    let broken = compare(&many, &[], "parameters of");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn functions_are_read_with_their_length_and_parameters() {
    let text = "impl A {\n    pub(super) async fn long<F: Fn(u8) -> u8>(\n        &self,\n        (a, b): (u8, F),\n    ) {\n        pub(in crate::a) fn inner() {}\n    }\n\n    fn none(&self);\n}\n";
    let functions = functions(text);
    let found: Vec<(&str, usize, usize)> = functions
        .iter()
        .map(|one| (one.name.as_str(), one.lines, tuple_parameters(&one.parameters)))
        .collect();
    assert_eq!(found, [("long", 6, 1), ("inner", 1, 0), ("none", 1, 0)]);
}

#[test]
fn each_form_of_a_tuple_parameter_is_detected() {
    for parameters in
        ["a: (u8, u8)", "(a, b): &(u8, u8)", "a: &'a mut (u8, u8)", "&self, a: (A<B>, C),"]
    {
        assert_eq!(tuple_parameters(parameters), 1, "{parameters}");
    }
    for parameters in [
        "",
        "a: ()",
        "a: &(dyn Fn(u8, u8) + Send)",
        "a: impl Fn((u8, u8))",
        "a: &[(u8, u8)]",
        "a: fn(u8, u8)",
    ] {
        assert_eq!(tuple_parameters(parameters), 0, "{parameters}");
    }
}

#[test]
fn parameters_are_counted_without_self_and_nested_commas() {
    for (parameters, wanted) in [
        ("", 0),
        ("&mut self", 0),
        ("&'a self, b: u8", 1),
        ("a: A<B, C>, [b, c]: [u8; 2]", 2),
        ("\n    A { b, c }: &A,\n    call: impl Fn(u8, u8) -> A<B, C>,\n", 2),
    ] {
        assert_eq!(parameter_count(parameters), wanted, "{parameters}");
    }
}

/// Returns the value of `measure` for each function of the product, if the value exceeds `most`.
fn count(measure: impl Fn(&Function) -> usize, most: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for file in product_code_files() {
        for function in functions(&product_lines(&file)) {
            let value = measure(&function);
            if value > most {
                let largest: &mut usize =
                    counts.entry(format!("{}: {}", file.display(), function.name)).or_default();
                *largest = value.max(*largest);
            }
        }
    }
    counts
}

/// Returns the functions in a formatted text.
fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter_map(|(at, line)| Some((at, name(line)?)));
    starts
        .map(|(at, name)| {
            let indent = &lines[at][..lines[at].len() - lines[at].trim_start().len()];
            let is_end = |line: &&str| {
                line.strip_prefix(indent).is_some_and(|rest| {
                    rest == "}" || (rest.starts_with([')', 'w']) && rest.ends_with(';'))
                })
            };
            let is_one_line = lines[at].ends_with(['}', ';']);
            let more = if is_one_line { None } else { lines[at + 1..].iter().position(is_end) };
            let end = more.map_or(at, |more| at + 1 + more);
            Function {
                name: name.to_owned(),
                lines: end + 1 - at,
                parameters: parameters(&lines[at..=end].join("\n")),
            }
        })
        .collect()
}

/// Returns the name of the function that begins in this line.
fn name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_word = |word: &str| {
        word.starts_with("pub")
            || word.starts_with("crate::")
            || ["const", "async", "unsafe"].contains(&word)
    };
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (before.split_whitespace().all(is_word) && !name.is_empty()).then_some(name)
}

/// Returns the text between the parentheses of a function; they follow its generic parameters.
fn parameters(function: &str) -> String {
    let (_, function) = function.split_once("fn ").unwrap_or_default();
    let mut depth = 0;
    let mut previous = ' ';
    let start =
        function.char_indices().skip_while(|(_, c)| !matches!(c, '(' | '<')).find(|(_, c)| {
            match c {
                '<' => depth += 1,
                '>' if previous != '-' => depth -= 1,
                '(' if depth == 0 => return true,
                _ => {}
            }
            previous = *c;
            false
        });
    let Some((start, _)) = start else { return String::new() };
    inside(&function[start + 1..]).to_owned()
}

/// Returns the text up to the parenthesis that closes the parenthesis before `text`.
fn inside(text: &str) -> &str {
    let mut depth = 0;
    let end = text.find(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// Returns the number of parameters whose type is a tuple or a reference to a tuple.
fn tuple_parameters(parameters: &str) -> usize {
    let types = parameters.match_indices(": ").map(|(at, colon)| &parameters[at + colon.len()..]);
    let types = types.filter_map(|of| {
        let of = of.strip_prefix('&').unwrap_or(of);
        let lifetime = of.strip_prefix('\'').and_then(|of| of.split_once(' '));
        let of = lifetime.map_or(of, |(_, of)| of);
        of.strip_prefix("mut ").unwrap_or(of).strip_prefix('(').map(inside)
    });
    types.filter(|of| items(of).len() > 1).count()
}

/// Returns the number of parameters other than `self`.
fn parameter_count(parameters: &str) -> usize {
    let is_self = |one: &String| one.split(' ').next_back() == Some("self");
    items(parameters).iter().filter(|one| !is_self(one)).count()
}

/// Splits a list at its commas that are not within brackets.
fn items(list: &str) -> Vec<String> {
    let (mut depth, mut items) = (0, vec![String::new()]);
    for c in list.replace("->", "").chars() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items.iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}
