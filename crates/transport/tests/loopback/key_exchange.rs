//! Keys are exchanged by X25519 and ML-KEM together, or by X25519 alone with an older release.

use std::{
    net::{TcpListener, TcpStream},
    path::PathBuf,
    thread,
};

use psijoin_transport::{Connection, Identity, endpoint::Address};
use rustls::{ClientConnection, ServerConnection, Stream};
use tempfile::TempDir;

use super::{listener, older, tls, tls_connected};

#[test]
fn two_parties_are_post_quantum() {
    for (connection, _) in tls_connected() {
        let exchange = connection.key_exchange().unwrap();
        assert!(exchange.is_post_quantum());
        assert_eq!(exchange.to_string(), "X25519MLKEM768");
    }
}

#[test]
fn without_tls_there_is_no_exchange() {
    for (connection, _) in super::plaintext_connected() {
        assert_eq!(connection.key_exchange(), None);
    }
}

#[track_caller]
fn assert_classical(connection: &Connection) {
    let exchange = connection.key_exchange().unwrap();
    assert!(!exchange.is_post_quantum());
    assert_eq!(exchange.to_string(), "X25519");
}

/// And no round trip more: the older side has X25519's share in the first flight.
#[test]
fn an_older_party_that_listens_is_met() {
    let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = socket.local_addr().unwrap().into();
    let options = tls(&ours, &theirs);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut socket, _) = socket.accept().unwrap();
            let (_folder, file) = written(&theirs);
            let config = older::server(&file);
            let mut tls = ServerConnection::new(config.into()).unwrap();
            older::greet(&mut Stream::new(&mut tls, &mut socket));
            assert_eq!(
                tls.handshake_kind(),
                Some(rustls::HandshakeKind::Full),
                "nothing is asked for again"
            );
        });
        let (connection, _channel) = Connection::connect(&address, &options).unwrap();
        assert_classical(&connection);
    });
}

#[test]
fn an_older_party_that_connects_is_met() {
    let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let listener = listener();
    let address = listener.address().clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut socket = TcpStream::connect(address.as_str()).unwrap();
            let (_folder, file) = written(&theirs);
            let config = older::client(&file);
            let name = "psijoin".try_into().unwrap();
            let mut tls = ClientConnection::new(config.into(), name).unwrap();
            older::greet(&mut Stream::new(&mut tls, &mut socket));
        });
        let (connection, _channel) = Connection::accept(listener, &tls(&ours, &theirs)).unwrap();
        assert_classical(&connection);
    });
}

/// Returns the file of an identity, in a folder of its own.
fn written(identity: &Identity) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.pem");
    identity.write_new(&path).unwrap();
    (folder, path)
}
