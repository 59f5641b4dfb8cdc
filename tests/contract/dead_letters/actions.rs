//! What operators have done.

use application::operator::OperatorAction;
use application::testing::dead_letters::order;

use super::fixture::LettersFixture;

fn action(actor: &str, target: &str) -> OperatorAction {
    OperatorAction { order: order(actor), what: "export".to_owned(), target: target.to_owned() }
}

pub async fn actions_come_back_the_newest_first(fixture: impl LettersFixture) {
    let store = fixture.store();
    for number in 1..=3 {
        store.actions.record(&action("ann", &format!("a\0{number}"))).await.unwrap();
    }
    let page = store.actions.page(None, 2).await.unwrap();
    assert_eq!(
        page.iter().map(|recorded| recorded.action.target.as_str()).collect::<Vec<_>>(),
        ["a\u{fffd}3", "a\u{fffd}2"]
    );
    let rest = store.actions.page(page.last().map(|recorded| recorded.id), 2).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].action, action("ann", "a\u{fffd}1"));
}

pub async fn the_store_refuses_to_change_or_remove_an_action(fixture: impl LettersFixture) {
    let store = fixture.store();
    store.actions.record(&action("ann", "everything")).await.unwrap();
    assert!(fixture.refuses("UPDATE operator_actions SET actor = 'bob'").await);
    assert!(fixture.refuses("DELETE FROM operator_actions").await);
    let kept = store.actions.page(None, 10).await.unwrap();
    assert_eq!(
        kept.iter().map(|recorded| &recorded.action).collect::<Vec<_>>(),
        [&action("ann", "everything")]
    );
}

pub async fn the_store_refuses_an_action_without_actor_or_reason(fixture: impl LettersFixture) {
    fixture.store().actions.record(&action("ann", "x")).await.unwrap();
    let insert = |actor, why| {
        format!(
            "INSERT INTO operator_actions (actor, at, what, target, why) \
             SELECT {actor}, at, 'export', 'x', {why} FROM operator_actions"
        )
    };
    for (actor, why) in [("' '", "'why'"), ("'ann'", "''"), ("'ann'", "NULL")] {
        assert!(fixture.refuses(&insert(actor, why)).await, "{actor}, {why}");
    }
    assert!(!fixture.refuses(&insert("'ann'", "'why'")).await);
}
