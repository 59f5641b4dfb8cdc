//! What the fuzz target `config` does with its input, behind the feature `fuzzing`.

use crate::config::Config;

/// Stands for every secret.
const SECRET: &str = "canary-5d1c";

/// A configuration file, then after a line `---` the environment, a line of `NAME=VALUE` for each variable. No secret
/// is ever told, whatever is wrong with the rest.
///
/// # Panics
/// Something does not hold, which is a finding.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A setting that names a file reads it; and whoever writes the secret himself may read it.
    if text.to_ascii_lowercase().contains("_file") || text.contains(SECRET) {
        return;
    }
    let (file, environment) = text.split_once("\n---\n").unwrap_or((text, ""));
    let variables = environment.lines().filter_map(|line| line.split_once('='));
    let own = [
        ("PAYONCE__SOURCES__PAYMENT__SECRETS", SECRET.to_owned()),
        ("DATABASE_URL", format!("postgres://user:{SECRET}@host/payonce")),
    ];
    let all = variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .chain(own.map(|(name, value)| (name.to_owned(), value)));
    let told = match Config::from_layers(Some(("payonce.toml", file)), all) {
        Ok(config) => format!("{config:?}"),
        Err(problems) => {
            assert!(!problems.0.is_empty(), "config: refused without a problem");
            problems.to_string()
        }
    };
    assert!(!told.contains(SECRET), "config: a secret is told");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DEFAULT_FILE;

    /// With `PAYONCE_WRITE_CORPUS=FOLDER` the inputs are written there, for the fuzzer to begin with.
    #[test]
    fn the_target_holds_over_configurations() {
        let stripe = "[sources.shop]\nprovider = \"stripe\"\nsecrets = [\"whsec_1\"]\nmode = \"live\"\n";
        let custom = "[sources.shop]\nprovider = \"custom\"\n[sources.shop.options]\nid = [\"/id\"]\nkind = \"/kind\"\n";
        let environment =
            "\n---\nPAYONCE__WORKER__BATCH_MAX=8\nPAYONCE__SOURCES__SHOP__OPTIONS__KINDS=paid=captured\n";
        let destination =
            "[destinations.crm]\nurl = \"https://example.com/hooks\"\nkinds = [\"payment.*\"]\n";
        let seeds = [
            DEFAULT_FILE.to_owned(),
            format!("{stripe}{environment}"),
            format!("{custom}{environment}"),
            format!("environment = \"production\"\n{destination}"),
            "[http]\nbind = 7\n\n---\nAMQP_URL=amqp://guest:guest@h/%2f\nPAYONCE__HTTP=x\n".to_owned(),
        ];
        let corpus = std::env::var_os("PAYONCE_WRITE_CORPUS");
        for (number, seed) in seeds.iter().enumerate() {
            // The default file names files only in its comments and as empty settings.
            let seed = seed.lines().filter(|line| !line.contains("_file")).collect::<Vec<_>>().join("\n");
            config(seed.as_bytes());
            if let Some(corpus) = &corpus {
                let folder = std::path::Path::new(corpus).join("config");
                std::fs::create_dir_all(&folder).expect("the folder can be made");
                std::fs::write(folder.join(format!("seed-{number}")), seed).expect("the seed can be written");
            }
        }
    }

    #[test]
    fn the_target_is_a_file_of_the_fuzzer() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/fuzz_targets/config.rs");
        assert!(std::fs::read_to_string(file).expect("it is there").contains("fuzzing::config"));
    }
}
