//! What every page has around it.

use super::assets;
use super::flash::Flash;

/// The pages that the navigation leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `/`
    Overview,
    /// `/failures`
    Failures,
    /// `/dead-letters`
    DeadLetters,
    /// `/replays`
    Replays,
    /// `/events`
    Events,
    /// `/quarantine`
    Quarantine,
    /// `/actions`
    Actions,
    /// None of them.
    Elsewhere,
}

/// Where the navigation leads.
const NAVIGATION: [(Place, &str, &str); 7] = [
    (Place::Overview, "/", "Overview"),
    (Place::Failures, "/failures", "Failures"),
    (Place::DeadLetters, "/dead-letters", "Dead letters"),
    (Place::Replays, "/replays", "Replays"),
    (Place::Events, "/events", "Events"),
    (Place::Quarantine, "/quarantine", "Quarantine"),
    (Place::Actions, "/actions", "Actions"),
];

/// One link of the navigation.
pub struct NavLink {
    /// Where it leads.
    pub path: &'static str,
    /// What it says.
    pub text: &'static str,
    /// Whether it leads here.
    pub is_here: bool,
}

/// The frame of one answer.
pub struct Frame {
    /// What the page is.
    pub title: String,
    /// Which page it is.
    pub here: Place,
    /// Who looks at it; empty where that is not known.
    pub actor: String,
    /// Whether they may change things.
    pub may_operate: bool,
    /// Whether they can log out.
    pub can_log_out: bool,
    /// What their forms carry.
    pub csrf: String,
    /// Whose letters, events and payments these are; empty where that is not known.
    pub consumer: String,
    /// When it was made, such as `20:28:31 UTC`.
    pub made_at: String,
    /// What became of what they ordered.
    pub flash: Option<Flash>,
    /// What tells the assets of this release.
    pub version: &'static str,
}

impl Frame {
    /// The frame of an answer to somebody of whom nothing is known.
    pub fn bare(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            here: Place::Elsewhere,
            actor: String::new(),
            may_operate: false,
            can_log_out: false,
            csrf: String::new(),
            consumer: String::new(),
            made_at: String::new(),
            flash: None,
            version: assets::version(),
        }
    }

    /// The navigation. There is none before the log-in.
    pub fn navigation(&self) -> Vec<NavLink> {
        let links = NAVIGATION.into_iter();
        links.map(|(place, path, text)| NavLink { path, text, is_here: place == self.here }).collect()
    }
}
