//! What templates say, which limits hold, and that no template can do more work than they allow.

use super::*;

fn variables() -> Vec<(&'static str, Variable)> {
    let list = |entries: &[&str]| Variable::List(entries.iter().map(|entry| (*entry).to_owned()).collect());
    vec![
        ("name", Variable::Text("tiny Agent".to_owned())),
        ("empty", Variable::Text(String::new())),
        ("tools", list(&["a", "b-c", "d"])),
        ("none_of_them", list(&[])),
    ]
}

fn kinds() -> Vec<(&'static str, Kinds)> {
    vec![("name", Kinds::TEXT), ("empty", Kinds::TEXT), ("tools", Kinds::LIST), ("none_of_them", Kinds::LIST)]
}

fn rendered(template: &str) -> Result<Rendered, Problem> {
    parse(template)?.render(&variables())
}

fn text(template: &str) -> String {
    rendered(template).unwrap_or_else(|problem| panic!("{template}: {problem:?}")).text
}

fn fails(template: &str) -> Problem {
    match rendered(template) {
        Err(problem) => problem,
        Ok(rendered) => panic!("{template}: {}", rendered.text),
    }
}

fn checked(template: &str) -> Vec<String> {
    parse(template).unwrap().problems(&kinds()).into_iter().map(|problem| problem.what).collect()
}

#[test]
fn the_language_in_examples() {
    for (template, expected) in [
        ("a {{ name }} b", "a tiny Agent b"),
        ("{{ name|upper|lower|title }} {{ '  x '|trim }} {{ 'xxaxx'|trim('x') }}", "Tiny Agent x a"),
        ("{{ name|length }} {{ tools|length }} {{ tools|join('+') }} {{ tools|join }}", "10 3 a+b-c+d ab-cd"),
        ("{{ empty|default('x') }}|{{ empty|default('x', true) }}|{{ tools[7]|default('none') }}", "|x|none"),
        ("{{ tools[0] }}{{ tools[-1] }}{{ tools.1 }}", "adb-c"),
        ("{% if empty %}1{% elif name == 'x' %}2{% else %}3{% endif %}", "3"),
        (
            "{% for t in tools %}{{ loop.index }}{{ t }}{% if not loop.last %}, {% endif %}{% endfor %}",
            "1a, 2b-c, 3d",
        ),
        ("{% for t in tools if t != 'a' %}{{ loop.index0 }}/{{ loop.length }} {% endfor %}", "0/2 1/2 "),
        ("{% for t in none_of_them %}x{% else %}nothing{% endfor %}", "nothing"),
        ("{% set x = name|lower %}{{ x }}", "tiny agent"),
        ("{% set x = 0 %}{% for t in tools %}{{ x }}{% set x = 1 %}{{ x }}{% endfor %}{{ x }}", "0101010"),
        ("{{ name or 'x' }}{{ empty or 'y' }}{{ name and 'z' }}", "tiny Agentyz"),
        (
            "{{ 'a' in tools }} {{ 'tiny' in name }} {{ 'q' not in tools }} {{ not empty }}",
            "True True True True",
        ),
        ("{{ 1 < 2 }} {{ 'b' >= 'c' }} {{ tools|length == 3 }}", "True False True"),
        ("{{ 'x' if empty else 'y' }}{{ 'z' if empty }}", "y"),
        ("{{ tools[9] is defined }} {{ name is not defined }}", "False False"),
        ("{{ '{{' }} {% raw %}{{ name }}{% endraw %}{# no #}", "{{ {{ name }}"),
        ("a\n {%- if name -%} \n b {{- ' c' -}} \n{% endif %}\n", "ab c"),
        ("{{ \"it's\\n\\u00e9\" }}", "it's\né"),
        ("{}} %} #} { % {", "{}} %} #} { % {"),
    ] {
        assert_eq!(text(template), expected, "{template}");
    }
    assert_eq!(text("{{ tools }} {{ [1, \"it's\", true] }}"), "['a', 'b-c', 'd'] [1, \"it's\", True]");
}

#[test]
fn what_is_not_in_the_language_is_named() {
    for (template, what) in [
        ("{{ name * 3 }}", "templates cannot calculate: * is not part of the language"),
        ("{{ name ~ name }}", "templates cannot calculate: ~ is not part of the language"),
        ("{{ - name }}", "templates cannot calculate: - is not part of the language"),
        ("{{ name() }}", "something is called"),
        ("{{ name[0:1] }}", "templates cannot take a part of a text or list"),
        ("{{ name.x }}", "a value has no part named x"),
        ("{{ loop.index }}", "loop is used outside of a for"),
        ("{{ 1 < 2 < 3 }}", "two comparisons stand in a row"),
        ("{{ {'a': 1} }}", "{ stands where a value is expected"),
        ("{{ }}", "the tag ends where a value is expected"),
        ("{{ name|trim('a', 'b') }}", "the filter trim has 2 arguments and takes at most 1"),
        ("{{ name is odd }}", "there is no test named odd"),
        ("{% macro a() %}", "macro is not a tag of templates"),
        ("{% set loop = 1 %}", "loop has a meaning of its own and cannot be the name of a variable"),
        ("{% if name %}", "if begins and endif does not follow"),
        ("{% endif %}", "endif has no beginning"),
        ("{% for a in tools %}{% endif %}", "endif stands where endfor is expected"),
        ("{{ 'a }}", "a text in quotes begins and does not end"),
        ("{{ 1.5 }}", "a number has no entries with numbers"),
        ("{{ 99999999999999999999 }}", "a number cannot be read"),
        ("{{ name ", "{{ begins and }} does not follow"),
        ("{# name", "a comment begins and does not end"),
        ("{% raw %}", "raw text begins and does not end"),
        ("{{ § }}", "the character '§' has no meaning between two marks"),
    ] {
        let problem = fails(template);
        assert_eq!(problem.fault, Fault::Wrong, "{template}");
        assert_eq!(problem.what, what, "{template}");
        assert!(problem.fix.ends_with('.'), "{template}: {}", problem.fix);
    }
    assert_eq!(fails("a\nb\n{{ name\n * 2 }}").line, 4);
}

#[test]
fn the_check_looks_at_every_branch() {
    for (template, what) in [
        ("{% if empty %}{{ nobody }}{% endif %}", "the variable nobody does not exist"),
        ("{% if name %}{% else %}{{ 3|length }}{% endif %}", "the filter length is applied to a number"),
        ("{% for t in none_of_them %}{{ t|join }}{% endfor %}", "the filter join is applied to a text"),
        ("{{ empty and tools|lower }}", "the filter lower is applied to a list"),
        ("{{ 'x' if name else name|join }}", "the filter join is applied to a text"),
        ("{% for t in name %}{% endfor %}", "for goes through a text, which is not a list"),
        ("{{ tools|join(3) }}", "the argument of join is a number"),
        ("{{ name < 3 }}", "a text and a number cannot be compared so"),
        ("{{ 'a' in 3 }}", "a text and a number cannot be compared so"),
        ("{{ [tools] }}", "a list contains a list"),
        ("{{ name[0] }}", "an entry is taken of a text by a number"),
        ("{% for t in tools %}{% set x = 1 %}{% endfor %}{{ x }}", "the variable x does not exist"),
    ] {
        assert_eq!(checked(template), [what], "{template}");
    }
    for template in [
        "{% if name %}{% set x = 1 %}{% else %}{% set x = 'a' %}{% endif %}{{ x|length }}",
        "{% if empty %}{% set x = tools %}{% endif %}{% if x is defined %}{{ x|join }}{% endif %}",
        "{% for t in tools %}{{ loop.index }}{{ t|upper }}{% endfor %}{{ tools[1]|default(3) }}",
    ] {
        assert_eq!(checked(template), [""; 0], "{template}");
    }
    let many: String = (0..100).map(|number| format!("{{{{ unknown{number} }}}}")).collect();
    assert_eq!(checked(&many).len(), 20);
}

/// The largest template that still is read, and the smallest that is not.
fn limit(fits: &str, exceeds: &str, what: &str) {
    if let Err(problem) = rendered(fits) {
        panic!("{what}: {problem:?}");
    }
    let problem = fails(exceeds);
    assert_eq!((problem.fault, problem.what.as_str()), (Fault::Limit, what));
    assert!(problem.fix.ends_with('.'), "{}", problem.fix);
}

#[test]
fn each_limit_holds_exactly() {
    let blocks = |depth: usize| "{% if name %}".repeat(depth) + &"{% endif %}".repeat(depth);
    limit(&blocks(DEEPEST_BLOCK), &blocks(DEEPEST_BLOCK + 1), "if and for are nested more than 16 deep");
    // The tag's own expression is the first level.
    let nested = |depth: usize| format!("{{{{ {}1{} }}}}", "(".repeat(depth - 1), ")".repeat(depth - 1));
    limit(
        &nested(DEEPEST_EXPRESSION),
        &nested(DEEPEST_EXPRESSION + 1),
        "an expression is nested more than 16 deep",
    );
    let long = |words: usize| format!("{{{{ name{} }}}}", "|trim".repeat((words - 1) / 2));
    limit(
        &long(LARGEST_EXPRESSION - 1),
        &long(LARGEST_EXPRESSION + 1),
        "there are more than 400 words and signs between two marks",
    );
    let named = |length: usize| format!("{{% set {} = 1 %}}", "a".repeat(length));
    limit(&named(LONGEST_NAME), &named(LONGEST_NAME + 1), "a name has 65 characters, more than 64");
    let sized = |bytes: usize| format!("{{# #}}{}", "a".repeat(bytes - 5));
    limit(
        &sized(LONGEST_TEMPLATE),
        &sized(LONGEST_TEMPLATE + 1),
        "the template has 65537 bytes, more than 65536",
    );
    let list = |entries: usize| format!("{{% for a in [{}] %}}", vec!["0"; entries].join(","));
    // 40 rounds of the outer loop, 40 times 99 of the inner one.
    let rounds = list(40) + &list(99) + "{% endfor %}{% endfor %}";
    let one_more = format!("{rounds}{}{{% endfor %}}", list(1));
    assert_eq!(40 + 40 * 99, MOST_ROUNDS);
    limit(&rounds, &one_more, "loops go round more than 4000 times");
    let output = |bytes: usize| {
        format!("{}{}{{% endfor %}}{}", list(4), "x".repeat(32_000), "y".repeat(bytes - 128_000))
    };
    limit(&output(LONGEST_OUTPUT), &output(LONGEST_OUTPUT + 1), "the text becomes longer than 131072 bytes");
    let steps = |tags: usize| list(100) + &"{% set x = 1 %}".repeat(tags) + "{% endfor %}";
    // 101 for the list; each round is one step, and so is each tag in it.
    limit(&steps(197), &steps(198), "rendering takes more than 20000 steps");
}

/// Templates that do as much as they can. Each ends within the steps that are allowed, whatever it says.
#[test]
fn the_worst_templates_end_within_the_steps_that_are_allowed() {
    let many = ["name"; 190].join(",");
    let over_all = format!("{{% for a in [{many}] %}}");
    let worst = [
        format!(
            "{over_all}{over_all}{}{{% endfor %}}{{% endfor %}}",
            "{% if name in tools %}{% endif %}".repeat(1000)
        ),
        format!("{{% set x = [{many}] %}}") + &"{% if x == x %}{% endif %}".repeat(2000),
        format!("{{% set x = [{many}]|join(name) %}}")
            + &"{% set y = x|upper|lower|title|trim %}".repeat(1000),
        format!("{{% set x = [{many}]|join(name) %}}") + &"{% set y = x|trim(x) %}".repeat(1000),
        "{% set x = name %}".to_owned() + &"{% set x = [x, x, x, x, x, x, x, x]|join(x) %}".repeat(100),
        (0..2500).map(|number| format!("{{% set v{number} = name %}}")).collect::<String>()
            + &"{{ v1 }}".repeat(1000),
        format!("{{{{ [{many}] }}}}").repeat(60),
        "{{ name if name else (name if name else name) }}".repeat(1300),
    ];
    for template in &worst {
        match parse(template).unwrap().render(&variables()) {
            Ok(rendered) => assert!(rendered.steps <= MOST_STEPS && rendered.text.len() <= LONGEST_OUTPUT),
            Err(problem) => assert_eq!(problem.fault, Fault::Limit, "{problem:?}"),
        }
    }
}
