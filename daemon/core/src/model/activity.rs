//! The activities of a session, as eight intensities that do not exclude each other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

/// One of the eight kinds of activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Creating new functionality, features, files.
    Building,
    /// Resolving errors, bugs, issues.
    Fixing,
    /// Setup, environment, settings, dependencies.
    Configuring,
    /// Research, learning, discovery, investigation.
    Exploring,
    /// Restructuring without new features.
    Refactoring,
    /// Analysis, code review, audit.
    Reviewing,
    /// Writing and running tests, verification.
    Testing,
    /// Writing documents, comments, READMEs.
    Documenting,
}

impl Activity {
    /// All activities. If two are equally strong, the first one in this order is shown first.
    pub const ALL: [Activity; 8] = [
        Activity::Building,
        Activity::Fixing,
        Activity::Configuring,
        Activity::Exploring,
        Activity::Refactoring,
        Activity::Reviewing,
        Activity::Testing,
        Activity::Documenting,
    ];

    /// Returns the name in documents and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Activity::Building => "building",
            Activity::Fixing => "fixing",
            Activity::Configuring => "configuring",
            Activity::Exploring => "exploring",
            Activity::Refactoring => "refactoring",
            Activity::Reviewing => "reviewing",
            Activity::Testing => "testing",
            Activity::Documenting => "documenting",
        }
    }

    /// Parses a name as [`Activity::as_str`] returns it.
    pub fn parse(word: &str) -> Option<Activity> {
        Activity::ALL.into_iter().find(|activity| activity.as_str() == word)
    }
}

/// The sum of the signals for each activity, 0 or more, before normalisation. A signal is an amount
/// that a call, a prompt, an error or a changed file adds to an activity.
///
/// As JSON, an object that contains only the values above zero, such as `{"testing": 0.8}`.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "BTreeMap<Activity, f64>", from = "BTreeMap<Activity, f64>")]
pub struct Signals([f64; 8]);

impl Signals {
    /// Returns the sum so far for `activity`.
    pub fn get(&self, activity: Activity) -> f64 {
        self.0[activity as usize]
    }

    /// Adds `amount` for `activity`.
    pub fn add(&mut self, activity: Activity, amount: f64) {
        self.0[activity as usize] += amount;
    }

    /// Adds the sums of `other`, multiplied by `weight`.
    pub fn add_all(&mut self, other: &Signals, weight: f64) {
        for (sum, amount) in self.0.iter_mut().zip(other.0) {
            *sum += amount * weight;
        }
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|sum| *sum == 0.0)
    }

    /// Returns each activity with its sum.
    pub fn iter(&self) -> impl Iterator<Item = (Activity, f64)> + '_ {
        Activity::ALL.into_iter().zip(self.0)
    }
}

impl From<Signals> for BTreeMap<Activity, f64> {
    fn from(signals: Signals) -> Self {
        signals.iter().filter(|(_, sum)| *sum != 0.0).collect()
    }
}

impl From<BTreeMap<Activity, f64>> for Signals {
    fn from(sums: BTreeMap<Activity, f64>) -> Self {
        sums.into_iter().collect()
    }
}

impl FromIterator<(Activity, f64)> for Signals {
    fn from_iter<T: IntoIterator<Item = (Activity, f64)>>(pairs: T) -> Signals {
        let mut signals = Signals::default();
        for (activity, amount) in pairs {
            signals.add(activity, amount);
        }
        signals
    }
}

/// Intensities from 0 to 1, one for each activity.
///
/// They are not shares: a session can be fixing at 0.8 and configuring at 0.7.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ActivityVector {
    /// Creating new functionality, features, files.
    pub building: f64,
    /// Resolving errors, bugs, issues.
    pub fixing: f64,
    /// Setup, environment, settings, dependencies.
    pub configuring: f64,
    /// Research, learning, discovery, investigation.
    pub exploring: f64,
    /// Restructuring without new features.
    pub refactoring: f64,
    /// Analysis, code review, audit.
    pub reviewing: f64,
    /// Writing and running tests, verification.
    pub testing: f64,
    /// Writing documents, comments, READMEs.
    pub documenting: f64,
}

impl ActivityVector {
    /// An activity with this intensity or more is dominant.
    pub const DOMINANT: f64 = 0.3;

    /// Returns the intensities: each sum divided by the largest sum.
    pub fn from_signals(signals: &Signals) -> ActivityVector {
        let largest = signals.iter().map(|(_, sum)| sum).fold(0.0, f64::max);
        let mut vector = ActivityVector::default();
        if largest > 0.0 {
            for (activity, sum) in signals.iter() {
                *vector.slot(activity) = (sum / largest).clamp(0.0, 1.0);
            }
        }
        vector
    }

    /// Returns the intensity of `activity`.
    pub fn get(&self, activity: Activity) -> f64 {
        let mut copy = *self;
        *copy.slot(activity)
    }

    /// Returns the activities with at least [`Self::DOMINANT`], the strongest first. Equally strong
    /// activities are in the order of [`Activity::ALL`].
    pub fn dominant_activities(&self) -> Vec<Activity> {
        let mut dominant: Vec<Activity> =
            Activity::ALL.into_iter().filter(|one| self.get(*one) >= Self::DOMINANT).collect();
        dominant.sort_by(|a, b| self.get(*b).total_cmp(&self.get(*a)));
        dominant
    }

    /// Returns the name of the strongest activity, or `mixed` if none is dominant.
    pub fn primary_activity(&self) -> &'static str {
        self.dominant_activities().first().map_or("mixed", |first| first.as_str())
    }

    /// Formats at most four activities for people: `fixing (0.8), configuring (0.7)`. Returns
    /// `mixed activity` if no activity is dominant.
    pub fn activity_profile(&self) -> String {
        let parts: Vec<String> = self
            .dominant_activities()
            .into_iter()
            .take(4)
            .map(|activity| format!("{} ({:.1})", activity.as_str(), self.get(activity)))
            .collect();
        if parts.is_empty() { "mixed activity".to_owned() } else { parts.join(", ") }
    }

    fn slot(&mut self, activity: Activity) -> &mut f64 {
        match activity {
            Activity::Building => &mut self.building,
            Activity::Fixing => &mut self.fixing,
            Activity::Configuring => &mut self.configuring,
            Activity::Exploring => &mut self.exploring,
            Activity::Refactoring => &mut self.refactoring,
            Activity::Reviewing => &mut self.reviewing,
            Activity::Testing => &mut self.testing,
            Activity::Documenting => &mut self.documenting,
        }
    }
}

/// A phase of a session: the work in a range of lines of its transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// When the phase began, if the transcript states it.
    pub from: Option<Timestamp>,
    /// When the phase ended, if the transcript states it.
    pub to: Option<Timestamp>,
    /// The first line in the session's file, counted from 1.
    pub first_line: u64,
    pub last_line: u64,
    /// Number of tool calls in the phase.
    pub calls: u32,
    /// The activities of the phase.
    pub vector: ActivityVector,
    /// The activities in a few words: `fixing, testing`.
    pub label: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_divided_by_the_largest() {
        let signals = Signals::from_iter([
            (Activity::Fixing, 0.8),
            (Activity::Configuring, 0.7),
            (Activity::Testing, 0.5),
        ]);
        let vector = ActivityVector::from_signals(&signals);
        assert_eq!(vector.fixing, 1.0);
        assert!((vector.configuring - 0.875).abs() < 1e-9);
        assert_eq!(vector.primary_activity(), "fixing");
    }

    #[test]
    fn activities_below_the_threshold_are_not_dominant() {
        let vector = ActivityVector {
            fixing: 0.8,
            configuring: 0.7,
            testing: 0.5,
            exploring: 0.2,
            ..ActivityVector::default()
        };
        assert_eq!(
            vector.dominant_activities(),
            [Activity::Fixing, Activity::Configuring, Activity::Testing]
        );
    }

    #[test]
    fn the_profile_has_the_four_strongest_activities() {
        let vector = ActivityVector {
            building: 0.1,
            fixing: 0.8,
            configuring: 0.7,
            exploring: 0.4,
            testing: 0.5,
            ..ActivityVector::default()
        };
        assert_eq!(
            vector.activity_profile(),
            "fixing (0.8), configuring (0.7), testing (0.5), exploring (0.4)"
        );
    }

    #[test]
    fn no_signals_make_a_mixed_session() {
        let vector = ActivityVector::from_signals(&Signals::default());
        assert_eq!(vector, ActivityVector::default());
        assert_eq!(vector.primary_activity(), "mixed");
        assert_eq!(vector.activity_profile(), "mixed activity");
    }
}
