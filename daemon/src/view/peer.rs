//! Recognises connections of other users.
//!
//! Another user who has read a token must not be able to use the token. Linux lists the owner of
//! each connection, so a connection of another user is refused before the token is checked.

use std::net::SocketAddrV4;

/// Whether a connection from `peer` to `own` belongs to another user, or is missing in the tables
/// of the system. Always false if the system does not report owners.
#[cfg(target_os = "linux")]
pub(super) fn is_other_user(peer: SocketAddrV4, own: SocketAddrV4) -> bool {
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(std::fs::read_to_string);
    if tables.iter().all(Result::is_err) {
        return false;
    }
    let owner = tables.iter().flatten().find_map(|table| owner_in(table, peer, own));
    owner != Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_other_user(_peer: SocketAddrV4, _own: SocketAddrV4) -> bool {
    false
}

/// Returns the user id of the socket at `peer` that is connected to `own`. `table` is the content
/// of a file such as `/proc/net/tcp`. The table has a line for each socket; the second column is
/// the address of the socket, the third the address of the other end, and the eighth the user id.
#[cfg(any(target_os = "linux", test))]
fn owner_in(table: &str, peer: SocketAddrV4, own: SocketAddrV4) -> Option<u32> {
    let [peer, own] = [peer, own].map(|address| {
        let ip = u32::from_ne_bytes(address.ip().octets());
        format!("{ip:08X}:{:04X}", address.port())
    });
    table.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        // The IPv6 form of an IPv4 address ends with the IPv4 address.
        let is_it = columns.get(1)?.ends_with(&peer) && columns.get(2)?.ends_with(&own);
        if is_it { columns.get(7)?.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn the_owner_of_a_connection_is_found_by_both_addresses() {
        let at = |port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let ip = format!("{:08X}", u32::from_ne_bytes([127, 0, 0, 1]));
        let row = |from: &str, to: &str, uid: u32| {
            format!("   0: {from} {to} 01 00000000:00000000 00:00000000 00000000 {uid:>5} 0 99 1\n")
        };
        let mapped = format!("0000000000000000FFFF0000{ip}");
        let table = "  sl  local_address rem_address   st\n".to_owned()
            + &row(&format!("{ip}:0FA0"), "00000000:0000", 1)
            + &row(&format!("{ip}:0FA0"), &format!("{ip}:1F90"), 2)
            + &row(&format!("{ip}:1F90"), &format!("{ip}:0FA0"), 3)
            + &row(&format!("{mapped}:1F91"), &format!("{mapped}:0FA0"), 4);
        assert_eq!(owner_in(&table, at(8080), at(4000)), Some(3));
        assert_eq!(owner_in(&table, at(8081), at(4000)), Some(4));
        assert_eq!(owner_in(&table, at(8082), at(4000)), None);
    }
}
