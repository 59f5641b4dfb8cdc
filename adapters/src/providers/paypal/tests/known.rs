//! Known transmissions: four of PayPal's sandbox, five of its public simulator, and what was made of them.

/// A transmission, and whether its signature is good.
pub struct Known {
    pub body: &'static [u8],
    pub webhook_id: &'static str,
    pub id: &'static str,
    pub time: &'static str,
    pub signature: &'static str,
    pub url: &'static str,
    pub certificate: &'static [u8],
}

const SANDBOX_URL: &str =
    "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77";
const SANDBOX: &[u8] = include_bytes!("../fixtures/sandbox-2015.pem");
const LIVE_URL: &str = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1a5f47cb";
const LIVE: &[u8] = include_bytes!("../fixtures/live-2024.pem");

pub const SALE_2015: Known = Known {
    body: include_bytes!("../fixtures/known/2015-05-18.json"),
    webhook_id: "4JH86294D6297924G",
    id: "dfb3be50-fd74-11e4-8bf3-77339302725b",
    time: "2015-05-18T15:45:13Z",
    signature: "thy4/U002quzxFavHPwbfJGcc46E8rc5jzgyeafWm5mICTBdY/8rl7WJpn8JA0GKA+oDTPsSruqusw+XXg5RLAP7ip53Euh9Xu3UbUhQFX7UgwzE2FeYoY6lyRMiiiQLzy9BvHfIzNIVhPad4KnC339dr6y2l+mN8ALgI4GCdIh3/SoJO5wE64Bh/ueWtt8EVuvsvXfda2Le5a2TrOI9vLEzsm9GS79hAR/5oLexNz8UiZr045Mr5ObroH4w4oNfmkTaDk9Rj0G19uvISs5QzgmBpauKr7Nw++JI0pr/v5mFctQkoWJSGfBGzPRXawrvIIVHQ9Wer48GR2g9ZiApWg==",
    url: SANDBOX_URL,
    certificate: SANDBOX,
};

pub const OTHER_SALE_2015: Known = Known {
    body: include_bytes!("../fixtures/known/2015-05-12.json"),
    webhook_id: "3RN13029J36659323",
    id: "b2384410-f8d2-11e4-8bf3-77339302725b",
    time: "2015-05-12T18:14:14Z",
    signature: "vSOIQFIZQHv8G2vpbOpD/4fSC4/MYhdHyv+AmgJyeJQq6q5avWyHIe/zL6qO5hle192HSqKbYveLoFXGJun2od2zXN3Q45VBXwdX3woXYGaNq532flAtiYin+tQ/0pNwRDsVIufCxa3a8HskaXy+YEfXNnwCSL287esD3HgOHmuAs0mYKQdbR4e8Evk8XOOQaZzGeV7GNXXz19gzzvyHbsbHmDz5VoRl9so5OoHqvnc5RtgjZfG8KA9lXh2MTPSbtdTLQb9ikKYnOGM+FasFMxk5stJisgmxaefpO9Q1qm3rCjaJ29aAOyDNr3Q7WkeN3w4bSXtFMwyRBOF28pJg9g==",
    url: SANDBOX_URL,
    certificate: SANDBOX,
};

pub const PLAN_2017: Known = Known {
    body: include_bytes!("../fixtures/known/2017.json"),
    webhook_id: "96605875FF6516633",
    id: "071f7d20-1584-11e7-abf0-6b62a8a99ac4",
    time: "2017-03-30T20:04:05Z",
    signature: "aBjgm5/xljRYu3G64Q0axISrP2xcy7WbW1u4UTCKnQvyprOZ1a1BBmqn2Jdr6ce8E76I3Ti/AL9y4VYSHyGSEaoE6dVQcCDebLbOXLH0fjTAbTc1/rmfdWmsk0DPltW84Y8W8jOHe3CLWDOwg5zmozyt+AceG2x5eOiw7mLSycaEoj/5RG+dOIWXnmWcLEArbG3VFshy0wuhZrKuGa9C/bD4Ku+Y9gK7Bv5I5IuGRVnTGpcFnVG0KxOyJxccLGyBVCIUMY5IZS7LkmJszQ3HZZFDTNihvgJHECSLwLhzUaysIye5G6CbbLdtAmeeb6wiDciEAvr2dFf+SplOR4Lrng==",
    url: "https://api.sandbox.paypal.com/v1/notifications/test",
    certificate: include_bytes!("../fixtures/sandbox-2017.pem"),
};

pub const SALE_2016: Known = Known {
    body: include_bytes!("../fixtures/known/2016.json"),
    webhook_id: "3TR748995U920805P",
    id: "103e3700-8b0c-11e6-8695-6b62a8a99ac4",
    time: "2016-10-05T14:57:40Z",
    signature: "t8hlRk64rpEImZMKqgtp5dlWaT1W8ed/mf8Msos341QInVn3BMQubjAhM/cKiSJtW07VwJvSX7X4+YUmHBrm5BQ+CEkClke4Yf4ouhCK6GWsfs0J8cKkmjI0XxfJpPLgjROEWY3MXorwCtbvrEo5vrRI2+TyLkquBKAlM95LbNWG43lxMu0LHzsSRUBDdt5IP1b2CKqbcEJKGrC78iw+fJEQGagkJAiv3Qvpw8F/8q7FCQAZ3c81mzTvP4ZH3Xk2/nNznEA7eMi3u1EjSpTmLfAb423ytX37Ts0QpmPNgxJe8wnMB/+fvt4xjYH6KNe+bIcYU30hUIe9O8c9UFwKuQ==",
    url: SANDBOX_URL,
    certificate: SANDBOX,
};

/// A body with another amount and the CRC-32 of the genuine one: the signature is good, for it binds no more.
pub const FORGED_2015: Known =
    Known { body: include_bytes!("../fixtures/known/crc32-collision.json"), ..SALE_2015 };

pub const SIM_2024_PENDING: Known = Known {
    body: include_bytes!("../fixtures/known/sim-2024-pending.json"),
    webhook_id: "WEBHOOK_ID",
    id: "4cce5920-5106-11ef-84e2-f38df3f70683",
    time: "2024-08-02T19:34:57Z",
    signature: "Kg+nPYIGXGAVA5sELwiLBTVZwzwssEAt/DI3/xDsjzwd1OMvddW2tFSpx4twvxEZS32fGVxZ4XRMWaMXYSBlFC09RpYNbA16r/WP8YV3KjaSzAc+btQyfUSRypr1mUsuWRL0DJnkLoC/KhCa4m3ZKFD4bFo5ZlWzdG2u5QgzL+YC/YmAhJGtcv6CIEN1rWB5OWuupVLhb+qYjhUH+99xsc5U2CihB65HFbtQqagX7YNFtOxEF5ckqSdgAYoMPECBCX8zOrDMy2UUaIvQpyhm0G3MF/IG3IPnRgP+ycN+AOjdsBGAWWwtZoXTPQ0mKH7oop4OrMNy4BPfE/8agUDxkw==",
    url: LIVE_URL,
    certificate: LIVE,
};

pub const SIM_2024_COMPLETED: Known = Known {
    body: include_bytes!("../fixtures/known/sim-2024-completed.json"),
    webhook_id: "WEBHOOK_ID",
    id: "1c6772d0-5106-11ef-9b66-89f3f924d48a",
    time: "2024-08-02T19:33:35Z",
    signature: "KY8qkrrIcGAyKS4VNgYlgP0iWIgeFEa3Y4q14d7mStEdJQbiEMhyB9/2cR85tjTlAmJ4NFxBW3BFdrFn7EukmdSw2RFkaCfSmzZoq8Uzjp1y6h9Uo307qte0hkuDHLLW07EvflOfS0Q2mNd+WPsmCilVYRAw9Acv6O8qVHAdVjINRoSeS5vISIDN7vaj0rBValwU8GE36rfFpUz1BvJqY2JaZc7wL0UYYB+xLneQWdOy4woa8MWUGVqFkJ9h/RLZsAIoMlOikAljETFIdGKiNr23GILoa1yM8/y+Oi1KM2DOJlEeywiR0BU5bhPjIsy8gsdwTyadbF1BCkFJcyGIlg==",
    url: LIVE_URL,
    certificate: LIVE,
};

pub const SIM_2024_REFUNDED: Known = Known {
    body: include_bytes!("../fixtures/known/sim-2024-refunded.json"),
    webhook_id: "WEBHOOK_ID",
    id: "51730200-5106-11ef-9a30-157053fd3e43",
    time: "2024-08-02T19:35:04Z",
    signature: "ff31fhZxoix1VbYc2wPp991eiUBdhALb71NFSq8VOMkbaBdx3Gm4lFZmQDL/lUXl4rImLjUdDvBMp4DOCN7T5WmyY7G88yzMJJCngENSA7+r1NXweP+TLy5/jyGoNU2j3VEUSr9gwNF1tKrCpixnJbzwTA7tI8s4c53xfdtPuYKd4KNjH7jRQXt/YH+sR9hwNZTPWpIUm1LrdGFxCH1iHoM5/mO1E7EngRuTf8zYAFIJE/vBcY2dLoD2gTJPfLbo5D+KSSMqgrD+xuCPJtZnQjP9QbA0rUAenRYAbRxPh2u3dLTiAaRMP7mZBI4d9ecPkdk0HgtUAPVhJTTBmx+Lag==",
    url: LIVE_URL,
    certificate: LIVE,
};

pub const SIM_2024_REVERSED: Known = Known {
    body: include_bytes!("../fixtures/known/sim-2024-reversed.json"),
    webhook_id: "WEBHOOK_ID",
    id: "55266d10-5106-11ef-9a30-157053fd3e43",
    time: "2024-08-02T19:35:11Z",
    signature: "aViMsu1a/dLFH1RdcaSCsRchGLui3tLMvFwEx8W9D0FgG0hYt+yKUHjTjtLrHKXChwx5K0+Ad0gtMywRgW0DhEKcEwry34T9rrPDxsdYKT88g2MwnhEsAl7bDFwfiwbM9lg7YMJcGukXisZTNga5IJx/ywbmhgVXmdgUhjJQevDsStBL79ZpzLsdlMmfufIyddrDmpUvIXFH10vspzSiaIlQH2xg7K1FI5FDa+Y0eAjmD245YHIhob7kZUOK70EVZPtF9n6fYQ5wZwfg/H6nd1NVSGlBjiTqvSY9hV8d2xbTmFaSPKObHUwxAA+4lGtcrKnlXqG57+B2R+SS8vnYGA==",
    url: LIVE_URL,
    certificate: LIVE,
};

pub const SIM_2024_DECLINED: Known = Known {
    body: include_bytes!("../fixtures/known/sim-2024-declined.json"),
    webhook_id: "WEBHOOK_ID",
    id: "3ed00ad0-5106-11ef-811d-8beb274ff66b",
    time: "2024-08-02T19:34:33Z",
    signature: "O3XQypYDh/gSvvIE2Mj7H+hbcoD3T7OZwWYgiZ10DQxpyF3KK2DiiVJiNwagSC/ah5yYb8XkYMkFLLQxm/wzH7zJPP9HV7nfDyc5gDO2gINgu3hAnxyNDHJBvNWIyLTTsK3KDc7zi3E1KRv74XSbsfAYIaULntjGn2EMEjG+TCfHof7a/AUMX5I5KdLVK7QCt5OorvxGm0ermOXR778bN+/jyQ2R7EuNJuB0GDwsja3UHMI80v7OexDaHeRb4NAecvLP6xaFoKWErFUyGkcwkFoAwaGuM7sGByJuBPfqXgtLsBR8+4bWsNZJsQjZEwxMhLw3puw/M01vpGfpUvknAg==",
    url: LIVE_URL,
    certificate: LIVE,
};
