//! Messages to the kernel that change the network: addresses, routes, links (rtnetlink(7)).

use std::ffi::c_int;

use super::{Act, Reply, note};
use crate::undo::kernel;

/// The first type of a routing message; types come in fours: new, delete, get, set (linux/rtnetlink.h).
const FIRST_TYPE: u16 = 16;
const GET: u16 = 2;
/// The bytes of a message up to the end of a `struct nlmsghdr`.
pub(super) const HEAD_BYTES: usize = 16;
/// The capability for such changes (linux/capability.h).
const NET_ADMIN: u32 = 12;

/// A message on a socket. With the capability the process is in a network of its own making.
pub(super) fn send(socket: c_int, bytes: &[u8]) -> Reply {
    if !changes(bytes) || !is_routing(socket) || kernel::has_capability(NET_ADMIN) {
        return Reply::Pass;
    }
    note(Act::Machine, "netlink");
    Reply::Fail(libc::EPERM)
}

/// True if the bytes look like a `struct nlmsghdr` of a change: length, type.
fn changes(bytes: &[u8]) -> bool {
    let Some([low, high]) = bytes.get(4..6) else { return false };
    let kind = u16::from_ne_bytes([*low, *high]);
    kind.checked_sub(FIRST_TYPE).is_some_and(|kind| kind % 4 != GET)
}

fn is_routing(socket: c_int) -> bool {
    let option = |name| kernel::socket_option(socket, name).ok();
    option(libc::SO_DOMAIN) == Some(libc::AF_NETLINK) && option(libc::SO_PROTOCOL) == Some(libc::NETLINK_ROUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_delete_are_changes_and_get_is_none() {
        let message = |kind: u16| [&32_u32.to_ne_bytes()[..], &kind.to_ne_bytes()].concat();
        // RTM_NEWADDR, RTM_DELLINK, RTM_GETADDR, RTM_GETLINK, NLMSG_DONE.
        let found = [20, 17, 22, 18, 3].map(|kind| changes(&message(kind)));
        assert_eq!(found, [true, true, false, false, false]);
        assert!(!changes(b"GET"));
    }
}
