//! `payonce token`

use adapters::inbound::ops::access::{NewToken, Scope, TokenName};
use secrecy::ExposeSecret;

#[derive(Debug, clap::Args)]
pub(super) struct TokenArgs {
    /// Whose it is: what they do is written down under this name (letters, digits, ".", "_", "@" and "-")
    #[arg(value_parser = name)]
    name: TokenName,
    /// What they may do: read, or operate
    #[arg(long, value_name = "SCOPE", default_value = "operate", value_parser = scope)]
    scope: Scope,
}

fn name(text: &str) -> Result<TokenName, String> {
    TokenName::parse(text)
        .ok_or_else(|| "a name has 1 to 64 letters, digits, \".\", \"_\", \"@\" and \"-\"".to_owned())
}

fn scope(text: &str) -> Result<Scope, String> {
    Scope::from_name(text).ok_or_else(|| "a scope is read or operate".to_owned())
}

/// A new token and its line. Nothing of it is kept.
pub(super) fn text(args: &TokenArgs) -> String {
    let new = NewToken::generate(&args.name, args.scope);
    format!(
        "The token, which is not shown again:\n  {}\n\nThe line for ops.tokens_file:\n  {}\n",
        new.token.expose_secret(),
        new.line
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_and_its_line_are_shown_and_no_two_are_alike() {
        let args = TokenArgs { name: name("ann").unwrap(), scope: scope("read").unwrap() };
        let (one, two) = (text(&args), text(&args));
        assert!(one.contains("  payonce_") && one.contains("  ann read sha256:"), "{one}");
        assert_ne!(one, two);
    }

    #[test]
    fn what_is_no_name_or_no_scope_is_refused() {
        assert!(name("ann b").is_err() && name("").is_err());
        assert!(scope("admin").is_err());
    }
}
