//! An error that ends one stream ends all, on both sides, for the same reason.

use super::*;

/// Returns whether a party knows for itself that a connection was lost, or has been told.
fn is_loss(error: &ChannelError) -> bool {
    matches!(
        error,
        ChannelError::Closed | ChannelError::PeerAborted(AbortCode::ConnectionLost)
    )
}

#[test]
fn a_stream_that_is_cut_ends_all() {
    for options in all_with_streams() {
        // The meeting's, and another one.
        for index in [0, 2] {
            let (met, tunnels) = met_over_tunnels(&options);
            for error in ends(open(met), |_| tunnels.cut(index)).iter().flatten() {
                assert!(is_loss(error), "{error}");
            }
        }
    }
}

#[test]
fn a_stream_that_stalls_ends_all() {
    for options in all_with_streams().map(with_idle) {
        let (met, tunnels) = met_over_tunnels(&options);
        let ends = ends(open(met), |_| tunnels.stall(2));
        for error in ends.iter().flatten() {
            assert!(
                matches!(
                    error,
                    ChannelError::TimedOut(_) | ChannelError::PeerAborted(AbortCode::TimedOut)
                ),
                "{error}"
            );
        }
    }
}

#[test]
fn an_interrupt_ends_all_streams_and_is_told_on_all() {
    for options in all_with_streams() {
        let interrupt = options.1.interrupt.clone();
        let [told, interrupted] = ends(opened(&options), |_| interrupt.trigger());
        for error in interrupted {
            assert!(matches!(error, ChannelError::Interrupted), "{error}");
        }
        for error in told {
            assert!(
                matches!(error, ChannelError::PeerAborted(AbortCode::Interrupted)),
                "{error}"
            );
        }
    }
}

#[test]
fn an_abort_ends_all_streams_and_is_told_on_all() {
    for options in all_with_streams() {
        let act = |connections: &[Connection; 2]| connections[0].abort(AbortCode::Refused);
        let [gave_up, told] = ends(opened(&options), act);
        assert!(matches!(gave_up[0], ChannelError::Closed));
        for error in &gave_up[1..] {
            assert!(matches!(error, ChannelError::EndedElsewhere), "{error}");
        }
        for error in told {
            assert!(
                matches!(error, ChannelError::PeerAborted(AbortCode::Refused)),
                "{error}"
            );
        }
    }
}

#[test]
fn an_abort_over_one_stream_is_told_on_all() {
    for options in all_with_streams() {
        let [mut a, b] = opened(&options);
        let mut failing = a.streams.remove(2);
        let ended = thread::spawn(|| wait_on_all(a.streams));
        failing.abort(AbortCode::BadLuck);
        // Later events are no reason any more.
        a.connection.abort(AbortCode::LocalFailure);
        for error in wait_on_all(b.streams) {
            assert!(
                matches!(error, ChannelError::PeerAborted(AbortCode::BadLuck)),
                "{error}"
            );
        }
        for error in ended.join().unwrap() {
            assert!(matches!(error, ChannelError::EndedElsewhere), "{error}");
        }
    }
}

#[test]
fn an_abort_reaches_a_peer_whose_streams_are_full() {
    for options in all_with_streams() {
        let [a, b] = opened(&options);
        let fill = |mut stream: Channel| {
            let message = vec![0; 1 << 20];
            loop {
                if let Err(error) = stream.send(&message) {
                    break error;
                }
            }
        };
        // Nobody reads what they send, on either side.
        let sending: Vec<_> = a.streams.into_iter().skip(1).collect();
        let sending: Vec<_> = sending
            .into_iter()
            .map(|stream| thread::spawn(move || fill(stream)))
            .collect();
        thread::sleep(Duration::from_millis(300));
        b.connection.abort(AbortCode::OutOfMemory);
        for sending in sending {
            let error = sending.join().unwrap();
            assert!(
                matches!(error, ChannelError::PeerAborted(AbortCode::OutOfMemory)),
                "{error}"
            );
        }
    }
}

#[test]
fn a_peer_that_goes_away_closes_all() {
    for options in all_with_streams() {
        let [a, b] = opened(&options);
        let started = Instant::now();
        drop(a);
        for error in wait_on_all(b.streams) {
            assert!(matches!(error, ChannelError::Closed), "{error}");
        }
        let error = b.connection.finish().unwrap_err();
        assert_eq!(error.kind(), Kind::Network);
        assert_soon(started);
    }
}
