//! Whether a certificate is PayPal's, and its key.

use std::time::Duration;

use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use domain::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage, anchor_from_trusted_cert};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry::OID_PKCS1_RSAENCRYPTION;
use x509_parser::prelude::FromDer;

use crate::providers::settings::SetupError;

/// How many certificates of one answer are read.
const CHAIN_MAX: usize = 8;

/// `DigiCert` High Assurance EV Root CA. PayPal's certificates came from it until it left the list of public
/// roots for web servers; it is trusted here for PayPal's name alone, as PayPal's own libraries do.
const OLDER_ROOT: &[u8] = include_bytes!("certificates/digicert-high-assurance-ev-root.pem");

/// PayPal serves its certificate without those between it and a root, so these are known here: the issuers
/// under the older root and under `DigiCert` Global Root G2.
const INTERMEDIATES: [&[u8]; 2] = [
    include_bytes!("certificates/digicert-sha2-ev-server-ca.pem"),
    include_bytes!("certificates/digicert-ev-rsa-ca-g2.pem"),
];

/// Who may have issued a certificate.
pub struct TrustedIssuers {
    roots: Vec<TrustAnchor<'static>>,
    intermediates: Vec<CertificateDer<'static>>,
}

/// Why a certificate is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Useless {
    /// It is no certificate at all: perhaps the page of a proxy that is out of order.
    Unreadable,
    /// It is a certificate, and not PayPal's, or not valid now.
    Untrusted,
}

/// The key of a certificate that was found to be PayPal's.
#[derive(Debug, Clone)]
pub struct TrustedKey {
    key: UnparsedPublicKey<Vec<u8>>,
    /// The certificate's time, in seconds since the epoch, both ends inside.
    valid: (i64, i64),
}

impl TrustedIssuers {
    /// The public roots for web servers and the older one; the intermediates that are known here and those of
    /// `further`, in PEM.
    ///
    /// # Errors
    /// What is in `further` is not a list of certificates.
    pub fn public(further: &str) -> Result<Self, SetupError> {
        let mut intermediates = Vec::new();
        for pem in INTERMEDIATES.into_iter().chain([further.as_bytes()]) {
            intermediates.extend(certificates(pem).ok_or_else(unusable)?);
        }
        if !further.trim().is_empty() && intermediates.len() == INTERMEDIATES.len() {
            return Err(unusable());
        }
        Self::of(webpki_roots::TLS_SERVER_ROOTS.to_vec(), OLDER_ROOT, intermediates)
    }

    /// These roots and that of `root`, in PEM, and these intermediates.
    fn of(
        mut roots: Vec<TrustAnchor<'static>>,
        root: &[u8],
        intermediates: Vec<CertificateDer<'static>>,
    ) -> Result<Self, SetupError> {
        for certificate in certificates(root).ok_or_else(unusable)? {
            let anchor = anchor_from_trusted_cert(&certificate).map_err(|_| unusable())?;
            roots.push(anchor.to_owned());
        }
        Ok(Self { roots, intermediates })
    }

    /// The key of the first certificate of `pem`, when it names `name`, is valid at `now` and was issued, by way
    /// of the others in `pem` and the known intermediates, by a root.
    ///
    /// # Errors
    /// It is of no use.
    pub fn judge(&self, pem: &[u8], name: &str, now: Timestamp) -> Result<TrustedKey, Useless> {
        let mut chain = certificates(pem).ok_or(Useless::Unreadable)?.into_iter();
        let leaf = chain.next().ok_or(Useless::Unreadable)?;
        let intermediates: Vec<CertificateDer<'_>> =
            chain.chain(self.intermediates.iter().cloned()).collect();
        let end = EndEntityCert::try_from(&leaf).map_err(|_| Useless::Unreadable)?;
        let seconds = u64::try_from(now.as_secs()).map_err(|_| Useless::Untrusted)?;
        end.verify_for_usage(
            ALL_VERIFICATION_ALGS,
            &self.roots,
            &intermediates,
            UnixTime::since_unix_epoch(Duration::from_secs(seconds)),
            KeyUsage::server_auth(),
            None,
            None,
        )
        .map_err(|_| Useless::Untrusted)?;
        TrustedKey::of(&leaf, name)
    }
}

impl TrustedKey {
    fn of(certificate: &CertificateDer<'_>, name: &str) -> Result<Self, Useless> {
        let (_, certificate) = X509Certificate::from_der(certificate).map_err(|_| Useless::Unreadable)?;
        let names = certificate.subject_alternative_name().map_err(|_| Useless::Unreadable)?;
        // To the letter: a certificate for all of PayPal's hosts is a web server's, not this one.
        let is_paypal =
            names.is_some_and(|names| names.value.general_names.contains(&GeneralName::DNSName(name)));
        let key = certificate.public_key();
        if !is_paypal || key.algorithm.algorithm != OID_PKCS1_RSAENCRYPTION {
            return Err(Useless::Untrusted);
        }
        let validity = certificate.validity();
        Ok(Self {
            key: UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.subject_public_key.data.to_vec()),
            valid: (validity.not_before.timestamp(), validity.not_after.timestamp()),
        })
    }

    /// Whether the certificate is valid at that moment.
    pub fn is_valid(&self, at: Timestamp) -> bool {
        (self.valid.0..=self.valid.1).contains(&at.as_secs())
    }

    /// Whether `signature` is one of `message`, by RSA PKCS#1 v1.5 with SHA-256.
    pub fn signs(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify(message, signature).is_ok()
    }
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem).take(CHAIN_MAX).collect::<Result<_, _>>().ok()
}

fn unusable() -> SetupError {
    SetupError::BadOption("intermediates is not a list of certificates in PEM".to_owned())
}

#[cfg(test)]
mod tests;
