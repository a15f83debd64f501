//! A pool of permits that modules and clients share fairly.
//!
//! Each module has a share: half of the permits, divided by weight, and one permit at least. The rest is spare. A module that has its share
//! takes a spare permit. So a module below its share finds a permit at once, however long the requests of others last.
//!
//! One client has three quarters of all permits at most, of a module's, and of the spare ones beyond the shares. So another client finds
//! one in every module.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A pool of permits, and the modules that share it.
pub(crate) struct Pool {
    all: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: usize,
    /// Permits that members lack of their shares.
    lacking: usize,
    /// The sum of all shares.
    shares: usize,
    members: BTreeMap<u64, MemberState>,
    /// Members with requests that wait.
    waiting: BTreeSet<u64>,
    /// Permits of clients in all modules.
    clients: Clients,
    /// Spare permits of clients.
    spare: Clients,
    /// The number of the next member or request.
    next: u64,
}

struct Waiter {
    tell: oneshot::Sender<PoolPermit>,
    member: Arc<Member>,
    client: Option<IpAddr>,
}

/// The number of permits of each client. A client without a bound is None.
#[derive(Default)]
struct Clients(HashMap<IpAddr, usize>);

/// The most of some permits that one client may have: of two or more, not all.
fn three_quarters(all: usize) -> usize {
    if all < 2 { all } else { all * 3 / 4 }
}

impl Clients {
    fn of(&self, client: Option<IpAddr>) -> usize {
        client.and_then(|client| self.0.get(&client)).copied().unwrap_or(0)
    }

    fn add(&mut self, client: Option<IpAddr>) {
        if let Some(client) = client {
            *self.0.entry(client).or_default() += 1;
        }
    }

    fn remove(&mut self, client: Option<IpAddr>) {
        if let Some(client) = client
            && let Some(taken) = self.0.get_mut(&client)
        {
            *taken -= 1;
            if *taken == 0 {
                self.0.remove(&client);
            }
        }
    }
}

#[derive(Default)]
struct MemberState {
    weight: u64,
    most: usize,
    share: usize,
    /// The share without the one permit at least: these of all members together are no more than half of the permits.
    certain: usize,
    taken: usize,
    /// Requests that wait, by their number: the first one is the oldest.
    queue: BTreeMap<u64, Waiter>,
    clients: Clients,
}

impl MemberState {
    fn lacking(&self) -> usize {
        self.share.saturating_sub(self.taken)
    }

    /// Reports whether a client's next permit is beyond the module's share, of which it may have all.
    fn takes_spare(&self, client: Option<IpAddr>) -> bool {
        client.is_some() && self.clients.of(client) >= self.certain
    }
}

/// A module's share of a pool, which it gives up when this is dropped.
pub(crate) struct Member {
    pool: Arc<Pool>,
    number: u64,
}

/// A permit of a module, which is free again once this is dropped.
pub(crate) struct PoolPermit {
    member: Arc<Member>,
    client: Option<IpAddr>,
    is_spare: bool,
}

impl Pool {
    pub(crate) fn new(all: usize) -> Arc<Self> {
        Arc::new(Self { all, state: Mutex::default() })
    }

    /// Adds a module without a share. [`Member::set`] gives it one.
    pub(crate) fn member(self: &Arc<Self>) -> Arc<Member> {
        let mut state = self.state();
        let number = state.number();
        state.members.insert(number, MemberState::default());
        Arc::new(Member { pool: Arc::clone(self), number })
    }

    /// Number of permits.
    pub(crate) fn all(&self) -> usize {
        self.all
    }

    /// Number of permits that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.state().taken
    }

    /// Reports whether a module that has its share finds a permit.
    pub(crate) fn has_spare(&self) -> bool {
        let state = self.state();
        self.all.saturating_sub(state.taken) > self.kept(&state)
    }

    /// Takes permits away until the result is dropped.
    #[cfg(test)]
    pub(crate) fn occupy(self: &Arc<Self>, count: usize) -> Vec<PoolPermit> {
        let member = self.member();
        let mut state = self.state();
        state.taken += count;
        if let Some(member) = state.members.get_mut(&member.number) {
            member.taken = count;
        }
        drop(state);
        (0..count).map(|_| PoolPermit { member: Arc::clone(&member), client: None, is_spare: false }).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The half of the permits that is divided into shares.
    fn shared(&self) -> usize {
        self.all / 2
    }

    /// Permits that only members below their share may take.
    fn kept(&self, state: &State) -> usize {
        state.lacking.min(self.shared())
    }

    /// Reports whether a member may take a permit for a client without a bound.
    fn has_room(&self, state: &State, member: &MemberState) -> bool {
        let free = self.all.saturating_sub(state.taken);
        let kept = if member.lacking() > 0 { 0 } else { self.kept(state) };
        member.taken < member.most && free > kept
    }

    /// Reports whether a client is below its bounds.
    fn fits(&self, state: &State, member: &MemberState, client: Option<IpAddr>) -> bool {
        let spare = self.all - state.shares.min(self.shared());
        member.clients.of(client) < three_quarters(member.most)
            && state.clients.of(client) < three_quarters(self.all)
            && (!member.takes_spare(client) || state.spare.of(client) < three_quarters(spare))
    }

    fn may_take(&self, state: &State, member: &MemberState, client: Option<IpAddr>) -> bool {
        self.has_room(state, member) && self.fits(state, member, client)
    }

    /// Takes a permit for a client, and returns whether it counts as a spare one. None when the client may not have one now.
    fn try_take(&self, state: &mut State, number: u64, client: Option<IpAddr>) -> Option<bool> {
        let member = state.members.get(&number).filter(|member| self.may_take(state, member, client))?;
        let (lacked, is_spare) = (usize::from(member.lacking() > 0), member.takes_spare(client));
        state.taken += 1;
        state.lacking -= lacked;
        state.clients.add(client);
        if is_spare {
            state.spare.add(client);
        }
        let member = state.members.get_mut(&number)?;
        member.taken += 1;
        member.clients.add(client);
        Some(is_spare)
    }

    fn release(&self, number: u64, client: Option<IpAddr>, is_spare: bool) {
        let mut state = self.state();
        state.taken -= 1;
        state.clients.remove(client);
        if is_spare {
            state.spare.remove(client);
        }
        if let Some(member) = state.members.get_mut(&number) {
            let before = member.lacking();
            member.taken -= 1;
            member.clients.remove(client);
            let lacks = member.lacking() - before;
            state.lacking += lacks;
        }
        self.grant(state);
    }

    /// Changes members, and divides the shares anew.
    fn change(&self, change: impl FnOnce(&mut BTreeMap<u64, MemberState>)) {
        let mut state = self.state();
        change(&mut state.members);
        let State { members, lacking, shares, .. } = &mut *state;
        let weights: u64 = members.values().map(|member| member.weight).sum();
        (*lacking, *shares) = (0, 0);
        for member in members.values_mut() {
            let share = self.shared() as u128 * u128::from(member.weight) / u128::from(weights.max(1));
            let share = usize::try_from(share).unwrap_or(usize::MAX);
            member.certain = share.min(member.most);
            member.share = share.max(1).min(member.most);
            *lacking += member.lacking();
            *shares += member.share;
        }
        self.grant(state);
    }

    /// Gives free permits to requests that wait: first to the module that has least by its weight.
    fn grant(&self, mut state: MutexGuard<'_, State>) {
        let mut granted = Vec::new();
        while let Some((number, request)) = self.next(&state) {
            let Some(member) = state.members.get_mut(&number) else { break };
            let Some(waiter) = member.queue.remove(&request) else { break };
            state.forget_if_idle(number);
            let Some(is_spare) = self.try_take(&mut state, number, waiter.client) else { break };
            granted.push((waiter, is_spare));
        }
        drop(state);
        for (Waiter { tell, member, client }, is_spare) in granted {
            // A permit whose request has gone is dropped, and becomes free for the next request.
            let _ = tell.send(PoolPermit { member, client, is_spare });
        }
    }

    /// The next request to have a permit: its module, and its number.
    fn next(&self, state: &State) -> Option<(u64, u64)> {
        let waiting = state.waiting.iter().filter_map(|number| {
            // Most often there is no room, and then the queue, which can be long, is not searched.
            let member = state.members.get(number).filter(|member| self.has_room(state, member))?;
            let mut bounded = None;
            let (request, _) = member.queue.iter().find(|(_, waiter)| {
                let fits = bounded != Some(waiter.client) && self.fits(state, member, waiter.client);
                if !fits {
                    bounded = Some(waiter.client);
                }
                fits
            })?;
            // 32 bits hold more permits than there can be.
            Some((((member.taken as u64) << 32) / member.weight.max(1), *number, *request))
        });
        waiting.min().map(|(_, number, request)| (number, request))
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Removes a member without waiting requests from the waiting ones.
    fn forget_if_idle(&mut self, member: u64) {
        if self.members.get(&member).is_none_or(|member| member.queue.is_empty()) {
            self.waiting.remove(&member);
        }
    }
}

impl Member {
    /// Sets its weight, and the most permits that it may have.
    pub(crate) fn set(&self, weight: u32, most: usize) {
        self.pool.change(|members| {
            if let Some(member) = members.get_mut(&self.number) {
                (member.weight, member.most) = (u64::from(weight), most);
            }
        });
    }

    /// The most permits that it may have.
    pub(crate) fn most(&self) -> usize {
        self.pool.state().members.get(&self.number).map_or(0, |member| member.most)
    }

    /// Number of permits that it has.
    pub(crate) fn taken(&self) -> usize {
        self.pool.state().members.get(&self.number).map_or(0, |member| member.taken)
    }

    /// Takes a permit for a request of a client if it may have one now. No waiting request may have that permit: it would have been
    /// granted.
    pub(crate) fn try_take(self: &Arc<Self>, client: Option<IpAddr>) -> Option<PoolPermit> {
        let is_spare = self.pool.try_take(&mut self.pool.state(), self.number, client)?;
        Some(PoolPermit { member: Arc::clone(self), client, is_spare })
    }

    /// Waits for a permit, after the module's requests that wait already.
    pub(crate) async fn take(self: &Arc<Self>, client: Option<IpAddr>) -> PoolPermit {
        let (tell, told) = oneshot::channel();
        let waiting = {
            let mut state = self.pool.state();
            let number = state.number();
            if let Some(member) = state.members.get_mut(&self.number) {
                member.queue.insert(number, Waiter { tell, member: Arc::clone(self), client });
                state.waiting.insert(self.number);
            }
            let waiting = Waiting { member: self, number };
            self.pool.grant(state);
            waiting
        };
        let told = told.await;
        drop(waiting);
        match told {
            Ok(permit) => permit,
            // The sender is in the queue until it sends.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.pool.change(|members| drop(members.remove(&self.number)));
    }
}

impl Drop for PoolPermit {
    fn drop(&mut self) {
        self.member.pool.release(self.member.number, self.client, self.is_spare);
    }
}

/// A request in the queue, which leaves it when this is dropped.
struct Waiting<'a> {
    member: &'a Arc<Member>,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.member.pool.state();
        let waiter = state.members.get_mut(&self.member.number).and_then(|member| member.queue.remove(&self.number));
        state.forget_if_idle(self.member.number);
        drop(state);
        // Outside of the lock, which the end of a member takes.
        drop(waiter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(all: usize, weights: &[u32]) -> (Arc<Pool>, Vec<Arc<Member>>) {
        let pool = Pool::new(all);
        let members = weights.iter().map(|weight| {
            let member = pool.member();
            member.set(*weight, all);
            member
        });
        let members = members.collect();
        (pool, members)
    }

    fn take_all(member: &Arc<Member>) -> Vec<PoolPermit> {
        std::iter::from_fn(|| member.try_take(None)).collect()
    }

    #[test]
    fn a_module_alone_has_all() {
        let (pool, members) = members(8, &[1]);
        assert_eq!(take_all(&members[0]).len(), 8);
        assert_eq!(pool.taken(), 0);
    }

    #[test]
    fn greedy_modules_leave_every_other_its_share() {
        for weights in [[1, 1, 1, 1], [5, 1, 1, 1], [1, 1, 2, 4]] {
            let (_, members) = members(64, &weights);
            let whole: u32 = weights.iter().sum();
            let share = |weight: u32| (32 * weight / whole).max(1) as usize;
            // In every order.
            for greedy in 0..4 {
                let _held: Vec<_> = (0..3).map(|next| take_all(&members[(greedy + next) % 4])).collect();
                let last = (greedy + 3) % 4;
                let found = take_all(&members[last]).len();
                assert_eq!(found, share(weights[last]), "{weights:?} {last}");
            }
        }
    }

    #[test]
    fn with_more_modules_than_permits_those_with_none_come_first() {
        let (_, members) = members(8, &[1; 20]);
        let held = take_all(&members[0]);
        assert_eq!(held.len(), 4, "half of the permits are kept");
        let ones: Vec<_> = members[1..].iter().filter_map(|member| member.try_take(None)).collect();
        assert_eq!(ones.len(), 4);
    }

    #[test]
    fn a_share_follows_weights_bounds_and_modules_that_go() {
        let (_, mut all) = members(16, &[1, 1]);
        assert_eq!(take_all(&all[0]).len(), 12);
        all[1].set(3, 16);
        assert_eq!(take_all(&all[0]).len(), 10);
        all[1].set(3, 2);
        assert_eq!(take_all(&all[0]).len(), 14, "a share is no larger than a module's own limit");
        all.pop();
        assert_eq!(take_all(&all[0]).len(), 16);
    }

    #[tokio::test]
    async fn requests_wait_in_turn_and_the_module_with_least_is_first() {
        let (pool, members) = members(4, &[1, 1]);
        let mut held = take_all(&members[0]);
        held.extend(members[1].try_take(None));
        assert_eq!(held.len(), 4);
        let mut waiting = [&members[0], &members[0], &members[1]].map(|member| Box::pin(member.take(None)));
        fn poll(future: &mut std::pin::Pin<Box<impl Future<Output = PoolPermit>>>) -> Option<PoolPermit> {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            match future.as_mut().poll(&mut context) {
                std::task::Poll::Ready(permit) => Some(permit),
                std::task::Poll::Pending => None,
            }
        }
        assert!(waiting.iter_mut().all(|each| poll(each).is_none()));
        held.remove(0);
        assert!(poll(&mut waiting[0]).is_none() && poll(&mut waiting[1]).is_none());
        let _second = poll(&mut waiting[2]).expect("the other module has fewer");
        held.remove(0);
        // The first one gives up, and the next one of its module is served.
        let [first, mut next, _] = waiting;
        drop(first);
        let _next = poll(&mut next);
        drop((held, _next, _second, next));
        assert_eq!(pool.taken(), 0);
    }

    #[test]
    fn one_client_leaves_permits_to_others_with_more_modules_than_permits() {
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().ok());
        let (_, members) = members(128, &[1; 200]);
        let held: Vec<_> = members.iter().filter_map(|member| member.try_take(one)).collect();
        assert_eq!(held.len(), 48);
        let others: Vec<_> = members.iter().filter_map(|member| member.try_take(other)).collect();
        assert_eq!(others.len(), 48);
    }

    #[test]
    fn one_client_leaves_permits_of_every_module_to_others() {
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().ok());
        let take_all = |member: &Arc<Member>, client| -> Vec<PoolPermit> {
            std::iter::from_fn(|| member.try_take(client)).collect()
        };
        let (pool, all) = members(16, &[1]);
        let held = take_all(&all[0], one);
        assert_eq!((held.len(), take_all(&all[0], other).len()), (12, 4));
        drop(held);
        assert!(pool.state().spare.0.is_empty() && pool.state().clients.0.is_empty());
        for (weights, greedy) in
            [([1, 1, 1, 1], [0, 1, 2, 3]), ([1, 1, 1, 1], [3, 0, 1, 2]), ([8, 4, 2, 1], [3, 2, 1, 0])]
        {
            let (_, all) = members(64, &weights);
            all[2].set(2, 8);
            // In one module after another, in some of them, and in all.
            for modules in 1..=4 {
                let held: Vec<_> = greedy[..modules].iter().flat_map(|each| take_all(&all[*each], one)).collect();
                assert!(held.len() <= 48, "{weights:?} {greedy:?} {modules}: three quarters of all permits");
                for (number, member) in all.iter().enumerate() {
                    assert!(member.try_take(other).is_some(), "{weights:?} {greedy:?} {modules} {number}");
                }
            }
        }
    }
}
