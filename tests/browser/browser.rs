//! A browser that a test drives.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fantoccini::elements::Element;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use url::Url;

use super::chromedriver::{ChromeDriver, chromium};

/// How long the browser may take to show what a test waits for, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts without a word to anybody else. As root there is no sandbox.
const ARGUMENTS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--window-size=1280,900",
];

/// A browser with a profile of its own.
pub struct Browser {
    client: Client,
    profile: PathBuf,
    _driver: ChromeDriver,
}

/// A command that is not in the standard, and that `ChromeDriver` knows.
#[derive(Debug)]
struct Chrome {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Chrome {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    /// Starts one.
    pub async fn start() -> Self {
        let driver = ChromeDriver::start().await;
        let profile =
            std::env::temp_dir().join(format!("payonce-browser-{}-{:x}", std::process::id(), unique()));
        let is_root = std::fs::metadata("/proc/self").expect("a process has an entry").uid() == 0;
        let mut arguments: Vec<String> = ARGUMENTS.map(ToOwned::to_owned).into();
        arguments.retain(|argument| is_root || argument != "--no-sandbox");
        arguments.push(format!("--user-data-dir={}", profile.display()));
        let Value::Object(capabilities) = json!({
            "goog:chromeOptions": { "binary": chromium(), "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        }) else {
            unreachable!("an object")
        };
        let client = connect(&driver, capabilities).await;
        Self { client, profile, _driver: driver }
    }

    /// Goes to a URL.
    pub async fn goto(&self, url: &str) {
        self.client.goto(url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// The path and query of the page.
    pub async fn place(&self) -> String {
        let url = self.client.current_url().await.expect("a page");
        url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
    }

    /// Everything that can be read on the page; nothing while it gives way to another.
    pub async fn text(&self) -> String {
        let text = self.client.execute("return document.body.innerText", Vec::new()).await;
        text.ok().and_then(|text| text.as_str().map(ToOwned::to_owned)).unwrap_or_default()
    }

    /// The first element of that CSS selector, once it is there.
    pub async fn find(&self, css: &str) -> Element {
        let wait = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        match wait {
            Ok(element) => element,
            Err(error) => {
                panic!("no {css}: {error}; the page is\n{}", self.client.source().await.unwrap_or_default())
            }
        }
    }

    /// Whether there is an element of that CSS selector now.
    pub async fn has(&self, css: &str) -> bool {
        self.client.find(Locator::Css(css)).await.is_ok()
    }

    /// Clicks on the link or button that says `text`, and waits for the page that follows if it is another.
    pub async fn click(&self, text: &str) {
        let path = format!("//a[normalize-space()='{text}'] | //button[normalize-space()='{text}']");
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::XPath(&path)).await;
        let element = match found {
            Ok(element) => element,
            Err(error) => panic!("nothing says {text:?}: {error}; the page says\n{}", self.text().await),
        };
        element.click().await.unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    /// Ticks the box of that name and value, by the keyboard: the mouse may have something else in its way.
    pub async fn tick(&self, name: &str, value: &str) {
        let field = self.find(&format!("input[name='{name}'][value='{value}']")).await;
        field.send_keys(" ").await.expect("a box");
    }

    /// Types into the field of that name.
    pub async fn fill(&self, name: &str, value: &str) {
        let field = self.find(&format!("[name='{name}']:not([type='hidden'])")).await;
        field.clear().await.expect("a field");
        field.send_keys(value).await.expect("a field");
    }

    /// Presses keys where the focus is.
    pub async fn press(&self, keys: &str) {
        self.client.active_element().await.expect("a focus").send_keys(keys).await.expect("a focus");
    }

    /// Says yes to what the script asks.
    pub async fn say_yes(&self) {
        self.client.accept_alert().await.expect("a question");
    }

    /// Says no to it.
    pub async fn say_no(&self) {
        self.client.dismiss_alert().await.expect("a question");
    }

    /// Waits until the page says `text`.
    pub async fn wait_for(&self, text: &str) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !self.text().await.contains(text) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        let said = waited.await.is_ok();
        assert!(said, "it never says {text:?}; the page says\n{}", self.text().await);
    }

    /// The value of an expression on the page.
    pub async fn value(&self, expression: &str) -> Value {
        self.client.execute(&format!("return ({expression})"), Vec::new()).await.expect("an expression")
    }

    /// What the browser has complained of since it was asked last: errors of the script, refusals by the policy,
    /// answers that say no.
    pub async fn complaints(&self) -> Vec<String> {
        let entries = self.chrome("se/log", json!({ "type": "browser" })).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let serious =
            entries.iter().filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING");
        serious.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Looks at pages as a screen of that size does, in that colour scheme.
    pub async fn look_as(&self, width: u32, height: u32, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// The whole page as a picture in `file`.
    pub async fn picture(&self, file: &Path) {
        let taken = self.cdp("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await;
        let data = taken["data"].as_str().expect("a picture");
        std::fs::write(file, STANDARD.decode(data).expect("base64")).expect("the picture can be written");
    }

    /// Switches scripts off, or on again, for pages that are loaded from now on.
    pub async fn use_scripts(&self, on: bool) {
        self.cdp("Emulation.setScriptExecutionDisabled", json!({ "value": !on })).await;
    }

    async fn cdp(&self, command: &str, parameters: Value) -> Value {
        self.chrome("goog/cdp/execute", json!({ "cmd": command, "params": parameters })).await
    }

    async fn chrome(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Chrome { path, body }).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Ends it.
    pub async fn close(self) {
        // A browser that has gone already is as good as one that is closed.
        self.client.clone().close().await.ok();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.profile).ok();
    }
}

async fn connect(driver: &ChromeDriver, capabilities: Capabilities) -> Client {
    let mut builder = ClientBuilder::new(HttpConnector::new());
    builder.capabilities(capabilities);
    builder.connect(driver.url()).await.expect("the browser starts")
}

fn unique() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
