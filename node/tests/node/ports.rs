//! Ports that are taken.

use std::net::TcpListener;
use trainyard_node::ports::{ensure_free, tcp};

#[test]
fn a_taken_port_is_named_with_its_option() {
	let taken = TcpListener::bind("127.0.0.1:0").unwrap();
	let address = taken.local_addr().unwrap();
	let error = ensure_free(address, "JSON-RPC", "--rpc-port").unwrap_err().to_string();
	assert!(error.contains(&format!("port {}", address.port())), "{error}");
	assert!(error.contains("already in use") && error.contains("--rpc-port"), "{error}");
	drop(taken);
	assert!(ensure_free(address, "JSON-RPC", "--rpc-port").is_ok());
}

#[test]
fn multiaddresses_become_sockets() {
	let parse = |s: &str| tcp(&s.parse().unwrap());
	assert_eq!(parse("/ip4/0.0.0.0/tcp/30333"), Some("0.0.0.0:30333".parse().unwrap()));
	assert_eq!(parse("/ip6/::/tcp/30333"), Some("[::]:30333".parse().unwrap()));
	assert_eq!(parse("/ip4/0.0.0.0/tcp/30333/ws"), Some("0.0.0.0:30333".parse().unwrap()));
	assert_eq!(parse("/dns/localhost/tcp/30333"), None);
	assert_eq!(parse("/ip4/0.0.0.0/udp/30333"), None);
}
