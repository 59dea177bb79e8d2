//! The loop-back of a new network namespace: the kernel leaves the interface down.

use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, sendto, socket};
use std::os::fd::AsRawFd as _;

/// `RTM_NEWLINK` (linux/rtnetlink.h).
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST` (linux/netlink.h).
const REQUEST: u16 = 1;
/// `IFF_UP` (linux/if.h).
const UP: u32 = 1;
/// The loop-back is the first interface of every namespace.
const LOOPBACK: u32 = 1;

/// Brings the loop-back up.
pub(crate) fn bring_up() -> nix::Result<()> {
    let kernel = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    sendto(kernel.as_raw_fd(), &message(), &NetlinkAddr::new(0, 0), MsgFlags::empty()).map(|_| ())
}

/// A `struct nlmsghdr` and a `struct ifinfomsg`.
fn message() -> Vec<u8> {
    let header = [32_u32.to_ne_bytes().to_vec(), NEW_LINK.to_ne_bytes().to_vec(), REQUEST.to_ne_bytes().to_vec()];
    let sequence_and_port = [0_u8; 8].to_vec();
    let family_and_type = [0_u8; 4].to_vec();
    let link = [LOOPBACK.to_ne_bytes(), UP.to_ne_bytes(), UP.to_ne_bytes()].concat();
    [header.concat(), sequence_and_port, family_and_type, link].concat()
}
