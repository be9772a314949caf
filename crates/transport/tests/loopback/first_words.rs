//! The first bytes that a stranger can send, in TLS.

use std::{io::Read, net::TcpListener, sync::Arc, thread, time::SystemTime};

use psijoin_transport::{
    Connection, Identity, Interrupt, Options, Signature, endpoint::Address, knock::Knock,
};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Returns a ClientHello, with any knock.
pub(crate) fn hello(knock: Option<Vec<u8>>) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.alpn_protocols = knock.into_iter().collect();
    let name = "psijoin".try_into().unwrap();
    let mut client = ClientConnection::new(config.into(), name).unwrap();
    let mut words = Vec::new();
    client.write_tls(&mut words).unwrap();
    words
}

/// Returns one whose knock is what somebody can make who knows all but the dialling party's secret
/// key.
pub(crate) fn forged(dials: &Identity, listens: &Identity) -> Vec<u8> {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let forged = Knock {
        signature: Signature::from_bytes([7; 64]),
        ..Knock::new(dials, listens.fingerprint(), now).unwrap()
    };
    hello(Some(forged.seal(listens.fingerprint()).to_vec()))
}

/// Returns the first bytes of a party that connects, as somebody on the way read them.
pub(crate) fn overheard(connecting: &Options) -> Vec<u8> {
    let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = somebody.local_addr().unwrap().into();
    let mut connecting = connecting.clone();
    connecting.interrupt = Interrupt::new();
    let enough = connecting.interrupt.clone();
    thread::scope(|scope| {
        scope.spawn(move || Connection::connect(&address, &connecting).unwrap_err());
        let (mut socket, _) = somebody.accept().unwrap();
        let mut words = vec![0; 4096];
        let length = socket.read(&mut words).unwrap();
        words.truncate(length);
        enough.trigger();
        words
    })
}
