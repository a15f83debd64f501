//! A cluster: each key is on the master of its slot, and slots move during operation.

use ::redis::cluster::ClusterClientBuilder;
use ::redis::cluster_async::ClusterConnection;
use ::redis::cluster_routing::{
    MultipleNodeRoutingInfo, ResponsePolicy, Route, RoutingInfo, SingleNodeRoutingInfo, Slot, SlotAddr,
};
use ::redis::{Cmd, ErrorKind, FromRedisValue, RedisResult, ServerErrorKind, TlsMode, Value, cmd, pipe};

use super::url::ClusterAddress;
use super::{failed, scan_step};
use crate::Limits;
use crate::store_error::{StoreError, StoreFailure};

/// Number of scans when slots move in between.
const MAX_SCANS: usize = 5;

/// A cluster. Cloning shares its connections.
#[derive(Clone)]
pub(super) struct Cluster(ClusterConnection);

/// A master: one of its slots, through which commands reach it, and its owned and moving slots as reported.
#[derive(PartialEq, Eq)]
struct Master {
    slot: u16,
    slots: String,
}

impl Cluster {
    pub(super) async fn connect(place: ClusterAddress, limits: &Limits) -> RedisResult<Self> {
        let ClusterAddress { nodes, tls, login } = place;
        // The client would resend a command that may have run, such as an increment. So its retries are off, and the
        // link's replace them.
        let mut builder = ClusterClientBuilder::new(nodes)
            .retries(0)
            .connection_timeout(limits.queue_timeout)
            .response_timeout(limits.statement_timeout)
            .overall_response_timeout(Some(limits.queue_timeout + limits.statement_timeout));
        if tls {
            builder = builder.tls(TlsMode::Secure);
        }
        if let Some(user) = login.user {
            builder = builder.username(user);
        }
        if let Some(password) = login.password {
            builder = builder.password(password);
        }
        builder.build()?.get_async_connection().await.map(Self)
    }

    /// Sends a command to the master of its keys' slot, and follows the redirection of a moving slot.
    pub(super) async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let sent = command.query_async(&mut self.0.clone()).await;
        let Err(error) = &sent else { return sent };
        if error.kind() != ErrorKind::Server(ServerErrorKind::Ask) {
            return sent;
        }
        let Some((host, port)) = error.redirect_node().and_then(|(node, _)| node.rsplit_once(':')) else { return sent };
        let Ok(port) = port.parse() else { return sent };
        let there = SingleNodeRoutingInfo::ByAddress { host: host.to_owned(), port };
        let mut asking = pipe();
        asking.cmd("ASKING").ignore().add_command(command.clone());
        let mut answers = self.0.clone().route_pipeline(asking, 0, 2, there).await?;
        answers.pop().unwrap_or(Value::Nil).extract_error()
    }

    pub(super) async fn ping(&self) -> RedisResult<()> {
        let all = (MultipleNodeRoutingInfo::AllMasters, Some(ResponsePolicy::AllSucceeded));
        self.0.clone().route_command(cmd("PING"), RoutingInfo::MultiNode(all)).await.map(drop)
    }

    /// Sends a command to each master.
    pub(super) async fn ask_masters<T: FromRedisValue>(&self, command: &Cmd) -> Result<Vec<T>, StoreError> {
        let mut answers = Vec::new();
        for slot in self.slots().await? {
            answers.push(self.ask_at(slot, command.clone()).await?);
        }
        Ok(answers)
    }

    /// Visits the names of all masters.
    ///
    /// A name may move with its slot from a master that is still to be visited to one that was. So after a move all are
    /// visited again, and during moves all are visited twice, because a name moves once.
    pub(super) async fn scan(
        &self,
        pattern: &[u8],
        visit: &mut (impl FnMut(Vec<u8>) + Send),
    ) -> Result<(), StoreError> {
        let mut before = self.masters().await?;
        for scan in 1..=MAX_SCANS {
            for master in &before {
                self.scan_at(master.slot, pattern, visit).await?;
            }
            let after = self.masters().await?;
            let are_moving = after.iter().any(|master| master.slots.contains('['));
            if after == before && (scan > 1 || !are_moving) {
                return Ok(());
            }
            before = after;
        }
        Err(StoreFailure::new("Redis: the cluster moves its slots all the time").into())
    }

    async fn scan_at(
        &self,
        slot: u16,
        pattern: &[u8],
        visit: &mut (impl FnMut(Vec<u8>) + Send),
    ) -> Result<(), StoreError> {
        let mut cursor = 0;
        loop {
            let (next, names): (u64, Vec<Vec<u8>>) = self.ask_at(slot, scan_step(cursor, pattern)).await?;
            names.into_iter().for_each(&mut *visit);
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    async fn masters(&self) -> Result<Vec<Master>, StoreError> {
        let mut masters = Vec::new();
        for slot in self.slots().await? {
            let nodes: String = self.ask_at(slot, cluster_nodes()).await?;
            let own = nodes.lines().find(|line| flags_of(line).is_some_and(|flags| flags.contains("myself")));
            let slots = own.map(|line| line.split(' ').skip(8).collect::<Vec<_>>().join(" ")).unwrap_or_default();
            masters.push(Master { slot, slots });
        }
        Ok(masters)
    }

    /// The first slot of each master that has one, sorted, because each node lists the nodes in another order.
    async fn slots(&self) -> Result<Vec<u16>, StoreError> {
        let anyone = RoutingInfo::SingleNode(SingleNodeRoutingInfo::RandomPrimary);
        let nodes = self.0.clone().route_command(cluster_nodes(), anyone).await.map_err(failed)?;
        let nodes = String::from_redis_value(nodes).map_err(|error| failed(error.into()))?;
        let masters = nodes.lines().filter(|line| flags_of(line).is_some_and(|flags| flags.contains("master")));
        let first = |line: &str| line.split(' ').nth(8)?.split('-').next()?.parse().ok();
        let mut slots: Vec<u16> = masters.filter_map(first).collect();
        slots.sort_unstable();
        Ok(slots)
    }

    async fn ask_at<T: FromRedisValue>(&self, slot: u16, command: Cmd) -> Result<T, StoreError> {
        let route = SingleNodeRoutingInfo::SpecificNode(Route::new(slot, SlotAddr::Master));
        let answer = self.0.clone().route_command(command, RoutingInfo::SingleNode(route)).await.map_err(failed)?;
        T::from_redis_value(answer).map_err(|error| failed(error.into()))
    }
}

/// The slot of a key.
pub fn slot_of(key: &[u8]) -> Slot {
    Slot::for_key(key)
}

fn cluster_nodes() -> Cmd {
    let mut command = cmd("CLUSTER");
    command.arg("NODES");
    command
}

/// The flags in a line of `CLUSTER NODES`: `<id> <address> <flags> <master> … <slot> <slot>`.
fn flags_of(line: &str) -> Option<&str> {
    line.split(' ').nth(2)
}
