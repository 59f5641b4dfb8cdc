use std::path::{Path, PathBuf};

use application::dead_letter::{LetterReason, LetterState};
use application::testing::succeeded_payload;
use harness::embedded_world::EmbeddedWorld;

use super::browser::Browser;
use super::letters::{after_attempts, because, unreadable};
use super::page_world::{PageWorld, ago};

/// The width of the narrowest phone, and of a common one.
const NARROWEST: u32 = 360;
const PHONE: u32 = 390;
const DESKTOP: u32 = 1_280;

/// Every page that shows something.
const PAGES: [(&str, &str); 20] = [
    ("overview", "/"),
    ("failures", "/failures"),
    ("dead-letters", "/dead-letters"),
    ("dead-letters-all", "/dead-letters?state=all&source=payment"),
    ("dead-letters-none", "/dead-letters?event_id=nobody"),
    ("letter", "/dead-letters/8"),
    ("letter-replaying", "/dead-letters/6"),
    ("letter-bytes", "/dead-letters/1?bytes=shown"),
    ("letter-unreadable", "/dead-letters/1"),
    ("edit", "/dead-letters/8/edit"),
    ("discard", "/dead-letters/discard?id=4&id=8"),
    ("replay-new", "/replays/new?source=payment"),
    ("replays", "/replays"),
    ("replay", "/replays/1"),
    ("events", "/events"),
    ("event", "/events/payment/evt_settled_1"),
    ("payment", "/payments/payment/pi_settled_1"),
    ("account", "/accounts/payment"),
    ("quarantine", "/quarantine"),
    ("actions", "/actions"),
];

/// A world in which every page has something to show.
async fn eventful() -> PageWorld {
    let world = PageWorld::start_in(EmbeddedWorld::create()).await;
    for number in 0..4 {
        let payload =
            succeeded_payload(&format!("evt_settled_{number}"), &format!("pi_settled_{number}"), 4_999);
        world.payonce.client.deliver(payload).await;
    }
    world.payonce.client.deliver(r#"{"id":"evt_odd","type":"galaxy.exploded","data":{}}"#).await;
    world.wait_until_settled("evt_odd").await;
    let mut letters = vec![unreadable(b"\x00\x01\xffthis is no envelope of ours \xf0\x9f\x98\x80", ago(600))];
    for number in 0..4 {
        let detail = format!("payment pi_{number}: 9000 EUR would be refunded, and 4999 EUR is captured");
        let id = format!("evt_1QxN8aLkdIwHu7ix_refund_{number}");
        letters.push(because(&id, ago(90 - number), LetterReason::Refused, &detail, ("EUR", 123_456)));
    }
    for number in 0..3 {
        let detail = "the store failed for now: canceling statement due to lock time-out";
        let id = format!("evt_1QxN8aLkdIwHu7ix_locked_{number}");
        let letter = because(&id, ago(12 - number), LetterReason::AttemptsExhausted, detail, ("JPY", 98_000));
        letters
            .push(after_attempts(letter, &[detail, "the store failed for now: deadlock detected", detail]));
    }
    world.store(letters).await;
    world.open("/replays/new?id=6&id=7").await;
    world.browser.fill("why", "the lock is gone, ticket 4711").await;
    world.browser.click("Replay 2").await;
    world.browser.wait_for("is ordered").await;
    world
}

/// Where pictures go, if anybody wants them.
fn pictures() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("PAYONCE_SCREENSHOTS")?);
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    Some(folder)
}

async fn assert_fits(browser: &Browser, what: &str) {
    let width =
        browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
    assert_eq!(width, 0, "{what} can be scrolled sideways");
}

async fn picture(browser: &Browser, folder: Option<&Path>, name: &str) {
    if let Some(folder) = folder {
        browser.picture(&folder.join(format!("{name}.png"))).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_fits_every_screen_in_light_and_dark() {
    let world = eventful().await;
    let folder = pictures();
    for (name, path) in PAGES {
        for (width, is_dark) in
            [(DESKTOP, false), (DESKTOP, true), (PHONE, false), (PHONE, true), (NARROWEST, false)]
        {
            world.browser.look_as(width, 844, is_dark).await;
            world.open(path).await;
            let scheme = if is_dark { "dark" } else { "light" };
            let what = format!("{name}-{width}-{scheme}");
            assert_fits(&world.browser, &what).await;
            picture(&world.browser, folder.as_deref(), &what).await;
        }
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_whole_for_those_who_do_not_see_it() {
    let world = eventful().await;
    for (name, path) in PAGES {
        world.open(path).await;
        let missing = world
            .browser
            .value(
                "[
                  ['one heading of the first level', document.querySelectorAll('h1').length === 1],
                  ['a language', document.documentElement.lang === 'en'],
                  ['a title', document.title.endsWith(' · payonce')],
                  ['landmarks', ['header', 'nav', 'main', 'footer'].every(name => document.querySelector(name))],
                  ['where one is', ['/events/', '/payments/', '/accounts/'].some(start => location.pathname.startsWith(start)) || document.querySelector('nav [aria-current=page]')],
                  ['labels', [...document.querySelectorAll('main input:not([type=hidden]), main select, main textarea')].every(field => field.labels.length || field.ariaLabel)],
                  ['names of links and buttons', [...document.querySelectorAll('a, button')].every(each => each.textContent.trim())],
                  ['captions', [...document.querySelectorAll('table')].every(table => table.caption)],
                  ['ids that are there once', [...document.querySelectorAll('[id]')].every(each => document.querySelectorAll('#' + CSS.escape(each.id)).length === 1)],
                  ['no style in the HTML', !document.querySelector('[style], style, script:not([src])')],
                ].filter(([, is]) => !is).map(([what]) => what)",
            )
            .await;
        assert_eq!(missing, serde_json::json!([]), "{name}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_can_be_read_in_light_and_dark() {
    let world = eventful().await;
    for is_dark in [false, true] {
        world.browser.look_as(DESKTOP, 844, is_dark).await;
        for (name, path) in PAGES {
            world.open(path).await;
            let pale = world.browser.value(CONTRAST_BELOW_AA).await;
            assert_eq!(pale, serde_json::json!([]), "{name}, dark: {is_dark}");
        }
    }
    world.end().await;
}

/// The texts whose contrast with what is behind them is below 4.5 to 1, of WCAG 2.2 AA.
const CONTRAST_BELOW_AA: &str = "(() => {
  const rgb = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgb(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const says = element => [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  return [...document.querySelectorAll('body *')].filter(says).filter(element => {
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < 4.5;
  }).map(element => element.className + ': ' + element.textContent.trim().slice(0, 40));
})()";

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_found_and_replayed_by_the_keyboard_alone() {
    let world = PageWorld::start().await;
    world.store_refused(1).await;
    world.open("/").await;
    let focus = "document.activeElement.textContent.trim()";
    world.browser.press(TAB).await;
    assert_eq!(world.browser.value(focus).await, "Skip to the content");
    assert!(
        world
            .browser
            .value("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
            .await
            .as_bool()
            .unwrap()
    );
    world.browser.press(ENTER).await;
    tab_to(&world.browser, "All dead letters").await;
    world.browser.press(ENTER).await;
    world.browser.wait_for("Narrow the list").await;
    tab_to(&world.browser, "evt_0").await;
    world.browser.press(ENTER).await;
    world.browser.wait_for("Replay it now").await;
    tab_to(&world.browser, "Replay it now").await;
    world.browser.press(ENTER).await;
    world.browser.wait_for("Replay 1 is ordered").await;
    assert_eq!(world.count(LetterState::Open).await, 0);
    world.end().await;
}

const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// More stops than any page has.
const STOPS_MAX: usize = 60;

async fn tab_to(browser: &Browser, text: &str) {
    for _ in 0..STOPS_MAX {
        if browser.value("document.activeElement.textContent.trim()").await == text {
            return;
        }
        browser.press(TAB).await;
    }
    panic!("the tab key never comes to {text:?}");
}
