//! Where the database is, and how long anything may take there.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::config::{Config, SslMode};

/// The settings of [`super::PostgresPool`].
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// `postgres://`, with its password. The parameters are those of `tokio_postgres`, and `sslmode` and
    /// `sslrootcert` as `psql` knows them.
    pub url: SecretString,
    /// How many sessions there may be.
    pub pool_max: usize,
    /// How long to wait for a session that others use.
    pub acquire_timeout: Duration,
    /// How long a new session may take.
    pub connect_timeout: Duration,
    /// How long a statement may run.
    pub statement_timeout: Duration,
    /// How long a statement may wait for one lock.
    pub lock_timeout: Duration,
    /// How long a transaction may do nothing before the server ends its session.
    pub idle_in_transaction_timeout: Duration,
}

/// Why the settings cannot be used. Never holds the URL, which has a password in it.
#[derive(Debug, thiserror::Error)]
pub enum PostgresSetupError {
    /// The URL is not one of PostgreSQL.
    #[error("is not a usable postgres:// URL")]
    Url,
    /// No such `sslmode`.
    #[error("has an sslmode other than disable, prefer, require, verify-ca and verify-full")]
    SslMode,
    /// The certificates of `sslrootcert` cannot be read.
    #[error("names an sslrootcert that cannot be used")]
    RootCertificates(#[source] application::ports::BoxError),
    /// TLS cannot be set up.
    #[error("asks for TLS, which cannot be set up")]
    Tls(#[source] rustls::Error),
    /// The pool cannot be built.
    #[error("the connection pool cannot be built: {0}")]
    Pool(String),
}

/// How the server's certificate is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TlsTrust {
    /// TLS is never used.
    Disabled,
    /// TLS is used where the server has it, with any certificate: an attacker who can show a false one can
    /// as well say that there is no TLS. Keeps out those who only listen.
    Any,
    /// The certificate is valid for the host by the roots of the platform.
    Platform,
    /// The certificate is valid for the host by the roots in this file.
    Roots(PathBuf),
}

impl PostgresSettings {
    /// The target, and how to judge its certificate. `require` is stricter than with `psql`, which takes any
    /// certificate then: whoever asks for TLS is given a server that is known to be the right one.
    pub(super) fn target(&self) -> Result<(Config, TlsTrust), PostgresSetupError> {
        let url = self.url.expose_secret();
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        if !base.starts_with("postgres://") && !base.starts_with("postgresql://") {
            return Err(PostgresSetupError::Url);
        }
        let mut mode = None;
        let mut roots = None;
        let mut others = url::form_urlencoded::Serializer::new(String::new());
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match key.as_ref() {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => roots = Some(PathBuf::from(value.as_ref())),
                _ => {
                    others.append_pair(&key, &value);
                }
            }
        }
        // A space is `%20` to tokio_postgres; `+` is a plus sign.
        let others = others.finish().replace('+', "%20");
        let mut config: Config = format!("{base}?{others}").parse().map_err(|_| PostgresSetupError::Url)?;
        let verified = roots.map_or(TlsTrust::Platform, TlsTrust::Roots);
        let (mode, trust) = match mode.as_deref() {
            Some("disable") => (SslMode::Disable, TlsTrust::Disabled),
            None | Some("prefer") => (SslMode::Prefer, TlsTrust::Any),
            Some("require" | "verify-ca" | "verify-full") => (SslMode::Require, verified),
            Some(_) => return Err(PostgresSetupError::SslMode),
        };
        config.ssl_mode(mode).connect_timeout(self.connect_timeout);
        if config.get_application_name().is_none() {
            config.application_name("payonce");
        }
        Ok((config, trust))
    }

    /// How long an answer is waited for. The server gives up a statement first; when even that is not heard
    /// of, nobody is there any more.
    pub(super) fn answer_timeout(&self) -> Duration {
        self.statement_timeout + Duration::from_secs(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Result<(Config, TlsTrust), PostgresSetupError> {
        let second = Duration::from_secs(1);
        let settings = PostgresSettings {
            url: SecretString::from(url),
            pool_max: 1,
            acquire_timeout: second,
            connect_timeout: second,
            statement_timeout: second,
            lock_timeout: second,
            idle_in_transaction_timeout: second,
        };
        settings.target()
    }

    #[test]
    fn tls_is_used_where_there_is_some_by_default() {
        let (config, trust) = target("postgres://u@h/db").unwrap();
        assert_eq!((config.get_ssl_mode(), trust), (SslMode::Prefer, TlsTrust::Any));
    }

    #[test]
    fn required_tls_is_verified() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let (config, trust) = target(&format!("postgres://u@h/db?sslmode={mode}")).unwrap();
            assert_eq!((config.get_ssl_mode(), trust), (SslMode::Require, TlsTrust::Platform), "{mode}");
        }
        let (_, trust) = target("postgres://h/db?sslrootcert=%2Fca.pem&sslmode=verify-full").unwrap();
        assert_eq!(trust, TlsTrust::Roots(PathBuf::from("/ca.pem")));
    }

    #[test]
    fn other_parameters_are_kept() {
        let (config, _) = target("postgres://h/db?options=-c%20geqo%3Doff&sslmode=disable").unwrap();
        assert_eq!(config.get_options(), Some("-c geqo=off"));
        let (config, _) = target("postgres://h/db?application_name=mine").unwrap();
        assert_eq!(config.get_application_name(), Some("mine"));
    }

    #[test]
    fn what_is_wrong_is_told_without_the_url() {
        for url in [
            "",
            "mysql://u:hunter2@h/db",
            "postgres://u:hunter2?x@h/db",
            "postgres://u:hunter2@h:port/db",
            "postgres://u:hunter2@h/db?sslmode=hunter2",
        ] {
            let error = target(url).unwrap_err();
            let told = format!("{error} {error:?}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }
}
