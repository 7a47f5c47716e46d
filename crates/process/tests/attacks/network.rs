//! Reaching the network, and sockets of other programs.

use std::{
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
};

use process::SandboxLevel;

use crate::{Attack, By, compare, program, run, script, support::Place};

const SETUP: &str = r"
def tcp(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(2); s.connect(address); return 'connected'
def udp(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(1); s.connect(address); s.send(b'x'); time.sleep(0.1); s.send(b'x'); return 'sent'
def vsock():
    with socket.socket(40, socket.SOCK_STREAM) as s: return 'made'
PORT, UDP = int(os.environ['PORT']), int(os.environ['UDP'])
def own():
    with socket.socket() as a, socket.socket() as b:
        a.bind(('127.0.0.1', 0)); a.listen(); b.connect(a.getsockname()); return 'self'
def own_path():
    with socket.socket(socket.AF_UNIX) as a, socket.socket(socket.AF_UNIX) as b:
        a.bind('own.sock'); a.listen(); b.connect('own.sock'); os.unlink('own.sock'); return 'self'
";

/// Somebody outside who listens on every kind of socket.
struct Outside {
    tcp: TcpListener,
    udp: UdpSocket,
    path: UnixListener,
    abstract_name: String,
    named: UnixListener,
    folder: tempfile::TempDir,
}

impl Outside {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let abstract_name =
            format!("concertino-test-{}-{:?}", std::process::id(), std::thread::current().id());
        let outside = Self {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            path: UnixListener::bind(folder.path().join("socket")).unwrap(),
            named: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap()).unwrap(),
            abstract_name,
            folder,
        };
        outside.tcp.set_nonblocking(true).unwrap();
        outside.udp.set_nonblocking(true).unwrap();
        outside.path.set_nonblocking(true).unwrap();
        outside.named.set_nonblocking(true).unwrap();
        outside
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PORT", self.tcp.local_addr().unwrap().port().to_string()),
            ("UDP", self.udp.local_addr().unwrap().port().to_string()),
            ("SOCKET", self.folder.path().join("socket").display().to_string()),
            ("NAME", self.abstract_name.clone()),
        ]
    }

    /// Nobody came.
    fn alone(&self) {
        assert!(self.tcp.accept().is_err() && self.path.accept().is_err() && self.named.accept().is_err());
        assert!(self.udp.recv(&mut [0; 8]).is_err());
    }
}

#[tokio::test]
async fn the_network_is_closed() {
    let attacks = [
        Attack {
            name: "tcp-loopback",
            code: "tcp(socket.AF_INET, ('127.0.0.1', PORT))",
            with: ("ECONNREFUSED", By::Network),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "tcp-ipv6",
            code: "tcp(socket.AF_INET6, ('::ffff:127.0.0.1', PORT))",
            with: ("ECONNREFUSED", By::Network),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "tcp-far",
            code: "tcp(socket.AF_INET, ('192.0.2.1', 80))",
            with: ("ENETUNREACH", By::Network),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "tcp-ipv6-far",
            code: "tcp(socket.AF_INET6, ('2001:db8::1', 80))",
            with: ("ENETUNREACH", By::Network),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "udp",
            code: "udp(socket.AF_INET, ('127.0.0.1', UDP))",
            with: ("ECONNREFUSED", By::Network),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "unix-path",
            code: "tcp(socket.AF_UNIX, os.environ['SOCKET'])",
            with: ("ENOENT", By::Mounts),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "unix-abstract",
            code: "tcp(socket.AF_UNIX, '\\0' + os.environ['NAME'])",
            with: ("ECONNREFUSED", By::Network),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "raw",
            code: "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
            with: ("EPERM", By::Privileges),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "packets",
            code: "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "virtual-machine",
            code: "vsock()",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "kernel-crypto",
            code: "socket.socket(38, socket.SOCK_SEQPACKET)",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "io-uring",
            code: "call(425, 8, ctypes.create_string_buffer(120))",
            with: ("EPERM", By::Seccomp),
            without: ("EPERM", By::Seccomp),
        },
    ];
    let outside = Outside::new();
    run(SETUP, &attacks, &outside.variables()).await;
    outside.alone();
}

/// A command can talk to itself, so that tests of a project work.
#[tokio::test]
async fn loopback_works_inside() {
    let outside = Outside::new();
    let place = Place::new(SandboxLevel::Required);
    let code = program(SETUP, &[]) + "print(own(), own_path())";
    let (output, _) = place.run(script(&place, &code, &outside.variables())).await;
    assert_eq!(output, "self self\n");
}

/// With the network allowed, sockets of other programs stay out of reach.
#[tokio::test]
async fn an_open_network_opens_no_local_sockets() {
    let attacks = [
        Attack {
            name: "tcp-loopback",
            code: "tcp(socket.AF_INET, ('127.0.0.1', PORT))",
            with: ("REACHED", By::Nothing),
            without: ("REACHED", By::Nothing),
        },
        Attack {
            name: "unix-path",
            code: "tcp(socket.AF_UNIX, os.environ['SOCKET'])",
            with: ("ENOENT", By::Mounts),
            without: ("EPERM", By::Seccomp),
        },
        Attack {
            name: "unix-abstract",
            code: "tcp(socket.AF_UNIX, '\\0' + os.environ['NAME'])",
            with: ("EPERM", By::Landlock),
            without: ("EPERM", By::Seccomp),
        },
    ];
    for namespaces in [true, false] {
        let outside = Outside::new();
        let place = Place::new(SandboxLevel::Required);
        let place = if namespaces { place } else { place.without_namespaces() };
        let mut spec = script(&place, &program(SETUP, &attacks), &outside.variables());
        spec.network = true;
        let (output, exit) = place.run(spec).await;
        compare(&output, &attacks, namespaces);
        assert_eq!(exit.report.network, process::NetworkProtection::Open);
        assert!(outside.tcp.accept().is_ok());
        assert!(outside.path.accept().is_err() && outside.named.accept().is_err());
    }
}
