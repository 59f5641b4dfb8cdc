//! What is given up, from the failure to the replay, by the real executables in both worlds.

mod attempts;
mod behaviours;
mod broker_only;
mod embedded;
mod killed;
mod rabbitmq;
mod site;

/// Stamps every behaviour for one world.
macro_rules! dead_letter_behaviours {
    ($world:ident, $site:ty) => {
        mod $world {
            dead_letter_behaviours! { @stamp $site, behaviours:
                what_is_given_up_is_kept_whole_in_the_store,
                a_letter_is_replayed_once_its_cause_is_mended,
                a_letter_of_what_was_applied_meanwhile_changes_nothing_when_it_is_replayed,
                what_fails_again_is_a_new_letter_that_knows_of_the_replay,
                a_group_is_previewed_with_its_money_and_replayed_together,
                nothing_is_replayed_by_an_empty_filter,
                a_discard_asks_for_a_reason_and_the_letter_stays_accounted_for,
                an_edited_copy_is_applied_in_place_of_the_letter,
                a_job_can_be_halted_and_ended,
            }
            dead_letter_behaviours! { @stamp $site, killed:
                a_replay_that_is_killed_twice_is_finished_and_applies_each_event_once,
                what_is_being_archived_when_the_worker_dies_is_kept_and_accounted_for_once,
            }
        }
    };
    (@stamp $site:ty, $module:ident: $($behaviour:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $behaviour() {
            let site = <$site as crate::dead_letters::site::Site>::open().await;
            crate::dead_letters::$module::$behaviour(site).await;
        }
    )*};
}

dead_letter_behaviours!(with_rabbitmq, crate::dead_letters::rabbitmq::RabbitSite);
dead_letter_behaviours!(with_the_embedded_queue, crate::dead_letters::embedded::EmbeddedSite);
