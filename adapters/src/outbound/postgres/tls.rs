//! TLS to the database, with the one crypto provider that the process has.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::settings::{PostgresSetupError, TlsTrust};

/// What makes TLS sessions that are judged by `trust`; `None` when there are to be none.
pub(super) fn connector(trust: &TlsTrust) -> Result<Option<MakeRustlsConnect>, PostgresSetupError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(PostgresSetupError::Tls)?;
    let config = match trust {
        TlsTrust::Disabled => return Ok(None),
        TlsTrust::Any => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate::of(&provider)))
            .with_no_client_auth(),
        TlsTrust::Platform => {
            builder.with_platform_verifier().map_err(PostgresSetupError::Tls)?.with_no_client_auth()
        }
        TlsTrust::Roots(file) => builder.with_root_certificates(roots(file)?).with_no_client_auth(),
    };
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn roots(file: &Path) -> Result<RootCertStore, PostgresSetupError> {
    let unusable = PostgresSetupError::RootCertificates;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unusable(error.into()))? {
        let certificate = certificate.map_err(|error| unusable(error.into()))?;
        roots.add(certificate).map_err(|error| unusable(error.into()))?;
    }
    if roots.is_empty() {
        return Err(unusable("there is no certificate in it".into()));
    }
    Ok(roots)
}

/// Takes any certificate, for [`TlsTrust::Any`].
#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl AnyCertificate {
    fn of(provider: &CryptoProvider) -> Self {
        Self(provider.signature_verification_algorithms)
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
