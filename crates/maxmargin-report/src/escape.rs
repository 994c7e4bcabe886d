//! Text that is safe inside HTML, SVG and scripts.

/// Escapes text for element contents and for attributes in quotes. Control characters, which
/// neither HTML nor XML allows, are replaced.
pub(crate) fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(character),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ if character.is_control() => safe.push('\u{fffd}'),
            _ => safe.push(character),
        }
    }
    safe
}

/// JSON that is safe inside a `script` element: no end tag, no comment, no entity in it.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value)
        .unwrap_or_else(|_| "null".into())
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            super::text("<b a=\"1\" c='2'>&\u{0}\r\n"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\u{fffd}\u{fffd}\n"
        );
    }

    #[test]
    fn scripts_cannot_be_closed() {
        let safe = super::json(&"</script><!-- & \" \\");
        assert_eq!(safe, "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\\" \\\\\"");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!-- & \" \\");
    }
}
