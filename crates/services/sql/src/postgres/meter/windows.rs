//! A TCP socket on the loopback address. The system's table of connections says which process is at its other end.

use std::ffi::c_void;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tokio::net::{TcpListener, TcpStream};
use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, NO_ERROR};
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetExtendedTcpTable, MIB_TCPROW_OWNER_PID, MIB_TCPTABLE_OWNER_PID, TCP_TABLE_OWNER_PID_CONNECTIONS,
};
use windows_sys::Win32::Networking::WinSock::AF_INET;

/// The connection of sqlx to a relay.
pub(super) type Client = TcpStream;

/// The place where a relay listens.
pub(super) struct Door(TcpListener);

impl Door {
    /// Listens. Also returns the options with which sqlx comes here.
    ///
    /// # Errors
    ///
    /// The system's; a configuration error for `sslmode=verify-full`, because sqlx would compare the server's certificate
    /// with the address of this door.
    pub(super) async fn open(options: &PgConnectOptions) -> Result<(Self, PgConnectOptions), sqlx::Error> {
        if matches!(options.get_ssl_mode(), PgSslMode::VerifyFull) {
            let reason = "sslmode=verify-full is not possible on Windows: use verify-ca, with sslrootcert of an authority \
                          that signs this server's certificate only";
            return Err(sqlx::Error::Configuration(reason.into()));
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let inner = options.clone().host(&address.ip().to_string()).port(address.port());
        Ok((Self(listener), inner))
    }

    /// Accepts the connection of this process. Others of the machine could find the port.
    pub(super) async fn accept(&self) -> io::Result<Client> {
        loop {
            let (stream, peer) = self.0.accept().await?;
            if owner(peer, self.0.local_addr()?)? == Some(std::process::id()) {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
        }
    }
}

/// Returns the process that has a connection from one local address to the other.
fn owner(from: SocketAddr, to: SocketAddr) -> io::Result<Option<u32>> {
    let table = connections()?;
    // SAFETY: the system has written this structure, and words are aligned for it.
    let entries = unsafe { (*table.as_ptr().cast::<MIB_TCPTABLE_OWNER_PID>()).dwNumEntries };
    let offset = std::mem::offset_of!(MIB_TCPTABLE_OWNER_PID, table);
    let most = (size_of_val(&*table) - offset) / size_of::<MIB_TCPROW_OWNER_PID>();
    let count = usize::try_from(entries).unwrap_or(usize::MAX).min(most);
    // SAFETY: the rows follow, and the table has room for this many.
    let rows = unsafe {
        let first = table.as_ptr().cast::<u8>().add(offset).cast::<MIB_TCPROW_OWNER_PID>();
        std::slice::from_raw_parts(first, count)
    };
    let ports = [port(from), port(to)];
    let found = rows.iter().find(|row| [row.dwLocalPort & 0xffff, row.dwRemotePort & 0xffff] == ports);
    Ok(found.map(|row| row.dwOwningPid))
}

/// A port as the table has it, in the order of the network.
fn port(address: SocketAddr) -> u32 {
    u16::from_ne_bytes(address.port().to_be_bytes()).into()
}

/// Reads the table of all connections over IPv4.
fn connections() -> io::Result<Vec<u32>> {
    let mut table = vec![0_u32; 1024];
    loop {
        let mut bytes = u32::try_from(size_of_val(&*table)).map_err(io::Error::other)?;
        let place = table.as_mut_ptr().cast::<c_void>();
        // SAFETY: the place has this many bytes.
        let failed = unsafe {
            GetExtendedTcpTable(place, &raw mut bytes, 0, AF_INET.into(), TCP_TABLE_OWNER_PID_CONNECTIONS, 0)
        };
        match failed {
            NO_ERROR => return Ok(table),
            // Others may connect meanwhile.
            ERROR_INSUFFICIENT_BUFFER => table.resize(bytes as usize / size_of::<u32>() + 1024, 0),
            failed => return Err(io::Error::from_raw_os_error(failed.cast_signed())),
        }
    }
}
