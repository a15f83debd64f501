//! URLs of Redis: one server in the client's form, and the common forms for sentinels and clusters:
//! `redis+sentinel://host:26379,host2:26379/mymaster/0` and `redis+cluster://host:6379,host2:6379`.

use ::redis::ConnectionAddr;

use crate::http::query::decode;

/// The default port of a sentinel.
const SENTINEL_PORT: u16 = 26379;

/// The default port of a server.
const PORT: u16 = 6379;

/// Limit of hosts in a URL.
const MAX_HOSTS: usize = 100;

/// The address of Redis.
pub(super) enum RedisAddress {
    /// One server; the client reads its URL.
    One,
    Sentinels(SentinelAddress),
    Cluster(ClusterAddress),
}

/// The name and password of a user.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(super) struct SentinelAddress {
    pub(super) sentinels: Vec<ConnectionAddr>,
    /// The master's name in the sentinels.
    pub(super) master: String,
    pub(super) database: i64,
    pub(super) tls: bool,
    /// The login of the master.
    pub(super) login: Login,
    pub(super) sentinel_login: Login,
}

#[derive(Debug, PartialEq)]
pub(super) struct ClusterAddress {
    pub(super) nodes: Vec<ConnectionAddr>,
    pub(super) tls: bool,
    pub(super) login: Login,
}

impl RedisAddress {
    /// Parses a URL. An error does not repeat it, because it may contain a password.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let Some((scheme, rest)) = url.split_once("://") else { return Ok(Self::One) };
        match scheme {
            "redis+sentinel" | "rediss+sentinel" => sentinels(rest, scheme.starts_with("rediss")).map(Self::Sentinels),
            "redis+cluster" | "rediss+cluster" => cluster(rest, scheme.starts_with("rediss")).map(Self::Cluster),
            _ => Ok(Self::One),
        }
    }
}

fn sentinels(rest: &str, tls: bool) -> Result<SentinelAddress, String> {
    let wrong = |why: &str| {
        format!(
            "{why}: write redis+sentinel://host:26379,host2:26379/mymaster/0, with the name that the sentinels have for the master"
        )
    };
    let Parts { login, hosts, path, parameters } = Parts::of(rest).map_err(wrong)?;
    let (master, database) = path.split_once('/').unwrap_or((path, "0"));
    if master.is_empty() {
        return Err(wrong("the URL of sentinels names no master"));
    }
    let mut sentinel_login = Login::default();
    for (name, value) in parameters {
        match name {
            "sentinel_username" => sentinel_login.user = Some(text(value).map_err(wrong)?),
            "sentinel_password" => sentinel_login.password = Some(text(value).map_err(wrong)?),
            _ => {
                return Err(wrong(
                    "the URL of sentinels has a parameter other than sentinel_username and sentinel_password",
                ));
            }
        }
    }
    Ok(SentinelAddress {
        sentinels: addresses(hosts, SENTINEL_PORT, tls).map_err(wrong)?,
        master: text(master).map_err(wrong)?,
        database: database.parse().map_err(|_| wrong("the database must be a number"))?,
        tls,
        login,
        sentinel_login,
    })
}

fn cluster(rest: &str, tls: bool) -> Result<ClusterAddress, String> {
    let wrong = |why: &str| format!("{why}: write redis+cluster://host:6379,host2:6379");
    let Parts { login, hosts, path, parameters } = Parts::of(rest).map_err(wrong)?;
    if !["", "0"].contains(&path) || !parameters.is_empty() {
        return Err(wrong("the URL of a cluster must end after its hosts, because a cluster has only the database 0"));
    }
    Ok(ClusterAddress { nodes: addresses(hosts, PORT, tls).map_err(wrong)?, tls, login })
}

/// `user:password@hosts/path?name=value`.
struct Parts<'a> {
    login: Login,
    hosts: &'a str,
    path: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    fn of(rest: &'a str) -> Result<Self, &'static str> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let given = |part: &str| if part.is_empty() { Ok(None) } else { text(part).map(Some) };
        let parameters = query.split('&').filter(|pair| !pair.is_empty());
        Ok(Self {
            login: Login { user: given(user)?, password: given(password)? },
            hosts,
            path,
            parameters: parameters.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect(),
        })
    }
}

/// Decodes percent signs.
fn text(part: &str) -> Result<String, &'static str> {
    let bytes = decode(part).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    bytes.ok_or("the URL has a % that encodes no text")
}

fn addresses(hosts: &str, port: u16, tls: bool) -> Result<Vec<ConnectionAddr>, &'static str> {
    let hosts: Vec<&str> = hosts.split(',').collect();
    if hosts.len() > MAX_HOSTS {
        return Err("the URL has more than 100 hosts");
    }
    hosts.into_iter().map(|host| address(host, port, tls)).collect()
}

/// `host`, `host:port`, or `[address]:port`.
fn address(text: &str, port: u16, tls: bool) -> Result<ConnectionAddr, &'static str> {
    let wrong = "the URL has a host that is none such as redis-1:6379 or [::1]:6379";
    let (host, behind) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or(wrong)?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match behind.strip_prefix(':') {
        Some(digits) => digits.parse().ok().filter(|port| *port != 0).ok_or(wrong)?,
        None if behind.is_empty() => port,
        None => return Err(wrong),
    };
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:%".contains(&byte)) {
        return Err(wrong);
    }
    let host = host.to_owned();
    Ok(if tls {
        ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None }
    } else {
        ConnectionAddr::Tcp(host, port)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> ConnectionAddr {
        ConnectionAddr::Tcp(host.to_owned(), port)
    }

    #[test]
    fn sentinels_and_clusters() {
        let Ok(RedisAddress::Sentinels(place)) = RedisAddress::parse(
            "redis+sentinel://app:p%40ss@a,b:26380,[::1]:26381/my%20master/3?sentinel_username=s&sentinel_password=x%26",
        ) else {
            panic!("no sentinels")
        };
        assert_eq!(place.sentinels, [tcp("a", 26379), tcp("b", 26380), tcp("::1", 26381)]);
        assert_eq!((place.master.as_str(), place.database, place.tls), ("my master", 3, false));
        assert_eq!(place.login, Login { user: Some("app".into()), password: Some("p@ss".into()) });
        assert_eq!(place.sentinel_login, Login { user: Some("s".into()), password: Some("x&".into()) });
        let Ok(RedisAddress::Cluster(place)) = RedisAddress::parse("rediss+cluster://:secret@a,b:7000/0") else {
            panic!("no cluster")
        };
        assert!(place.tls && matches!(&place.nodes[1], ConnectionAddr::TcpTls { port: 7000, insecure: false, .. }));
        assert_eq!(place.login, Login { user: None, password: Some("secret".into()) });
        assert!(matches!(RedisAddress::parse("redis://a:1/2"), Ok(RedisAddress::One)));
        for wrong in [
            "redis+sentinel://a",
            "redis+sentinel://a/",
            "redis+sentinel://a/m/x",
            "redis+sentinel://a/m?secret=s",
            "redis+sentinel:///m",
            "redis+sentinel://secret%zz@a/m",
            "redis+cluster://",
            "redis+cluster://a:0",
            "redis+cluster://a:secret",
            "redis+cluster://a,,b",
            "redis+cluster://a/1",
            "redis+cluster://[::1]1",
        ] {
            let Err(error) = RedisAddress::parse(wrong) else { panic!("{wrong}") };
            assert!(error.contains("write redis+") && !error.contains("secret"), "{error}");
        }
    }
}
