//! Shares of clients, waiting, and closing the greediest connection.

use super::*;

const MIB: usize = 1 << 20;
const NOW: Duration = Duration::ZERO;

fn address(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

fn account(budget: &Budget, last: u8) -> Account {
    budget.connection(address(last), usize::MAX).unwrap()
}

/// Reserves MiB by MiB until one more does not fit.
fn fill(account: &Account) -> Reservation {
    let mut reservation = account.nothing();
    while reservation.try_grow(MIB) {}
    reservation
}

#[test]
fn one_connection_gets_a_third_and_one_client_half() {
    let budget = Budget::new(120 * MIB);
    let first = fill(&account(&budget, 1));
    assert_eq!(first.bytes(), 40 * MIB);
    let _more: Vec<_> = (0..50).map(|_| fill(&account(&budget, 1))).collect();
    let held = budget.used();
    assert!((55 * MIB..=60 * MIB).contains(&held), "{held}");
    // A new client finds room, and so does a small request of the greedy client.
    assert!(account(&budget, 2).try_reserve(10 * MIB).is_some());
    assert!(account(&budget, 1).try_reserve(SMALL).is_some());
    assert!(account(&budget, 1).try_reserve(10 * MIB).is_none());
    drop(first);
    assert!(account(&budget, 1).try_reserve(10 * MIB).is_some());
}

#[test]
fn one_client_never_takes_all_by_small_requests_either() {
    let budget = Budget::new(8 * MIB);
    let many: Vec<_> = (0..500).filter_map(|_| account(&budget, 1).try_reserve(SMALL)).collect();
    assert_eq!(many.len(), 8 * MIB / 4 * 3 / SMALL);
    assert!(account(&budget, 2).try_reserve(SMALL).is_some());
    assert!(budget.refused() > 0);
    drop(many);
    assert_eq!(budget.used(), 0);
}

#[tokio::test]
async fn a_client_below_its_even_share_has_the_greediest_connection_closed() {
    let budget = Budget::new(110 * MIB);
    let accounts: Vec<_> = (1..=10).map(|client| account(&budget, client)).collect();
    let mut held: Vec<_> = accounts.iter().map(fill).collect();
    let (modest, greedy) = (account(&budget, 11), account(&budget, 12));
    assert!(greedy.reserve(11 * MIB, NOW).await.is_none());
    let modest = tokio::spawn(async move { modest.reserve(4 * MIB, Duration::from_secs(60)).await.is_some() });
    // The first one came while everything was free.
    accounts[0].revoked().await;
    assert!(!modest.is_finished());
    held.remove(0);
    assert!(modest.await.unwrap());
}

#[test]
fn a_client_is_an_ipv4_address_or_an_ipv6_network() {
    let same = |one: &str, other: &str| network(one.parse().unwrap()) == network(other.parse().unwrap());
    assert!(same("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
    assert!(!same("2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert!(same("192.0.2.1", "::ffff:192.0.2.1"));
    assert!(!same("192.0.2.1", "192.0.2.2"));
}

#[test]
fn connections_of_a_client_are_bounded_and_forgotten() {
    let budget = Budget::new(MIB);
    let first = budget.connection(address(1), 2).unwrap();
    let second = budget.connection(address(1), 2).unwrap();
    assert!(budget.connection(address(1), 2).is_err());
    assert!(budget.connection(address(2), 2).is_ok());
    let held = first.try_reserve(1);
    drop((first, second));
    // Bytes of a connection may outlive it.
    assert!(budget.connection(address(1), 2).is_ok());
    drop(held);
    assert!(budget.0.clients.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_reservation_waits_for_room_and_fails_after_its_time() {
    let budget = Budget::new(MIB);
    let all = budget.unshared().try_reserve(MIB).unwrap();
    assert!(budget.unshared().reserve(1, NOW).await.is_none());
    let waiting = tokio::spawn({
        let account = budget.unshared();
        async move { account.reserve(MIB, Duration::from_secs(60)).await.map(|taken| taken.bytes()) }
    });
    while budget.0.waiting.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    drop(all);
    assert_eq!(waiting.await.unwrap(), Some(MIB));
    assert_eq!((budget.used(), budget.0.waiting.load(Ordering::SeqCst)), (0, 0));
}

#[tokio::test]
async fn requests_that_wait_for_each_other_do_not_wait_for_ever() {
    let budget = Budget::new(10 * MIB);
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let account = budget.unshared();
            tokio::spawn(async move {
                let mut body = account.nothing();
                for _ in 0..5 {
                    if !body.grow(MIB, Duration::from_millis(50)).await {
                        return false;
                    }
                    tokio::task::yield_now().await;
                }
                true
            })
        })
        .collect();
    let mut whole = 0;
    for task in tasks {
        whole += usize::from(task.await.unwrap());
    }
    assert!(whole >= 2, "{whole} were read to their end");
    assert_eq!(budget.used(), 0);
}
