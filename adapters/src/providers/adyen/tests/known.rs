//! Items whose signatures are known.

use super::{KEY, OTHER_KEY};

/// Known answers: key, members, value, signature.
pub const KNOWN: [(&str, [&str; 7], &str, &str); 12] = [
    (
        KEY,
        [
            "pspReference",
            "originalReference",
            "merchantAccount",
            "reference",
            "EUR",
            "REPORT_AVAILABLE",
            "true",
        ],
        "1000",
        "ZNBPtI+oDyyRrLyD1XirkKnQgIAlFc07Vj27TeHsDRE=",
    ),
    (
        KEY,
        ["pspReference", "originalReference", "merchantAccount", "reference", "EUR", "EVENT", "true"],
        "1000",
        "ipnxGCaUZ4l8TUW75a71/ghd2Fe5ffvX0pV4TLTntIc=",
    ),
    (
        OTHER_KEY,
        ["7914073381342284", "", "TestMerchant", "TestPayment-1407325143704", "EUR", "AUTHORISATION", "true"],
        "1130",
        "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=",
    ),
    (
        KEY,
        ["7914073381342284", "", "TestMerchant", "TestPayment-1407325143704", "EUR", "AUTHORISATION", "true"],
        "1130",
        "Ny9gS2veKo5E4w8/OL6xz1/wvT/hYkAXy1xNc/QvO4I=",
    ),
    // A space is kept.
    (
        KEY,
        [
            "7914073381342284",
            "",
            "TestMerchant",
            " TestPayment-1407325143704",
            "EUR",
            "AUTHORISATION",
            "true",
        ],
        "1130",
        "kLZtgnXU86m/yjnpBD4aqESFgnoDcy1fGOP1Db/L3+4=",
    ),
    // Nothing is "0", not empty.
    (
        OTHER_KEY,
        ["7914073381342284", "", "TestMerchant", "TestPayment-1407325143704", "EUR", "REFUND", "true"],
        "0",
        "J7HhsgZo5KwqdB7LFZJV6rfQgp+RqC2kuYyw/3x3w+8=",
    ),
    // Neither `:` nor `\\` is escaped.
    (
        "C56F00E99723D90F65254B00746844BED11BCDD0DD42B26EC980DC1301C6CD20",
        ["TEST_CUSTOM_7914073381342284", "", "PHPApiLibrary", "auth:123", "EUR", "AUTHORISATION", "true"],
        "113000",
        "ovT21mqdbQToGbWssIhnBXAlnkhgKuehtGwvYFf5h2Q=",
    ),
    (
        SLASH_KEY,
        ["T7FD4VM4D3RZNN82", "", "AntoniStroinski", "\\\\slashes are fun", "EUR", "AUTHORISATION", "true"],
        "1000",
        "nIgT81gaB5oJpn2jPXupDq68iRo2wUlBsuYjtYfwKqo=",
    ),
    (
        SLASH_KEY,
        ["M8NB66SBZSGLNK82", "", "AntoniStroinski", ":slashes are fun", "EUR", "AUTHORISATION", "true"],
        "1000",
        "2EQYm7YJpKO4EtHSPu55SQTyWf8dkW5u2nD1tJFpViA=",
    ),
    (
        SLASH_KEY,
        ["ZVWN7D3WSMK2WN82", "", "AntoniStroinski", "\\:/\\/slashes are fun", "EUR", "AUTHORISATION", "true"],
        "1000",
        "CZErGCNQaSsxbaQfZaJlakqo7KPP+mIa8a+wx3yNs9A=",
    ),
    (
        SLASH_KEY,
        ["X3GWNS6KJ8NKGK82", "", "AntoniStroinski", "//slashes are fun", "EUR", "AUTHORISATION", "true"],
        "1000",
        "9Z0xdpG9Xi3zcmXv14t/BvMBut77O/Xq9D4CQXSDUi4=",
    ),
    // The value as text.
    (
        "9064450A8892A093D9E97EFCC9639DE31B74F3A7803135555A3C96F5A57915D6",
        ["test_REPORT_AVAILABLE", "", "Magento2Rik", "testMerchantRef1", "EUR", "REPORT_AVAILABLE", "true"],
        "\"0\"",
        "NuEkADFmlCC6VgX+wcoPAegIWxVPNBPCuKlM4Hzo5qc=",
    ),
];
const SLASH_KEY: &str = "74F490DD33F7327BAECC88B2947C011FC02D014A473AAA33A8EC93E4DC069174";
