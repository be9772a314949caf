//! Scripts made by hand, whose times can be worked out on paper.

use super::*;
use crate::script::{Messages, Stretch};

fn compute(seconds: f64) -> Stretch {
    Stretch::Work(seconds)
}

fn send(bytes: u32) -> Stretch {
    Stretch::Send(message(bytes))
}

fn receive(bytes: u32) -> Stretch {
    Stretch::Receive(message(bytes))
}

fn take() -> Stretch {
    Stretch::Take(message(0))
}

fn exchange(sending: &[Stretch], receiving: &[Stretch]) -> Stretch {
    Stretch::Exchange {
        sending: Script(sending.to_vec()),
        receiving: Script(receiving.to_vec()),
    }
}

fn message(bytes: u32) -> Messages {
    Messages {
        messages: 1.0,
        bytes: bytes.into(),
        seconds: 0.0,
    }
}

/// Returns 1000 bytes per second each way, a second there and back.
fn slow() -> Network {
    Network {
        bits_per_second: [8000.0; 2],
        round_trip: 1.0,
        ..Network::INSTANT
    }
}

fn seconds(sender: &[Stretch], receiver: &[Stretch], network: &Network) -> f64 {
    forecast(sender, receiver, network, Cores::Own).seconds
}

fn forecast(sender: &[Stretch], receiver: &[Stretch], network: &Network, cores: Cores) -> Forecast {
    simulate(
        &Script(sender.to_vec()),
        &Script(receiver.to_vec()),
        network,
        cores,
    )
    .expect("one run")
}

#[track_caller]
fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

#[track_caller]
fn assert_nearly(left: f64, right: f64) {
    assert!(
        (left - right).abs() <= 1e-4 * right,
        "{left} is not {right}"
    );
}

#[test]
fn a_message_takes_its_bytes_and_half_a_round_trip() {
    let time = seconds(&[send(2000)], &[receive(2000)], &slow());
    assert_close(time, 2.5);
    let answered = seconds(
        &[send(2000), receive(1000)],
        &[receive(2000), compute(3.0), send(1000)],
        &slow(),
    );
    assert_close(answered, 2.5 + 3.0 + 1.5);
}

#[test]
fn computing_overlaps_with_the_line() {
    // The line is busy from 1 to 5: the receiver has the last message at 5.5.
    let sender = [compute(1.0), send(2000), compute(1.0), send(2000)];
    let receiver = [receive(2000), receive(2000), compute(1.0)];
    let forecast = forecast(&sender, &receiver, &slow(), Cores::Own);
    assert_close(forecast.seconds, 6.5);
    assert_close(forecast.parties[0].seconds, 2.0);
    assert_close(forecast.parties[0].computing, 2.0);
    assert_close(forecast.parties[1].waiting_to_receive, 5.5);
    assert_close(forecast.lines[0].busy, 4.0);
    assert_eq!(forecast.lines.map(|line| line.bytes), [4000.0, 0.0]);
}

#[test]
fn an_exchange_does_both_at_once() {
    let sender = [
        exchange(&[compute(1.0), send(1000)], &[receive(3000), compute(1.0)]),
        compute(1.0),
    ];
    let receiver = [exchange(&[send(3000)], &[receive(1000)])];
    assert_close(seconds(&sender, &receiver, &slow()), 3.5 + 1.0 + 1.0);
}

#[test]
fn what_is_read_ahead_is_waited_for_where_it_is_taken() {
    let sender = [exchange(
        &[compute(1.0), take(), compute(2.0), take()],
        &[receive(1000), receive(1000)],
    )];
    // Messages arrive at 1.5 and 2.5: the first is waited for, the second is there.
    let receiver = [send(1000), send(1000)];
    assert_close(seconds(&sender, &receiver, &slow()), 3.5);
}

#[test]
fn a_full_queue_lets_the_sender_wait() {
    let network = Network {
        queue_bytes: [1000.0; 2],
        ..slow()
    };
    // The second message may be sent when the first has arrived.
    let sender = [send(1000), send(1000), send(1000)];
    let receiver = [receive(1000), receive(1000), receive(1000)];
    let forecast = forecast(&sender, &receiver, &network, Cores::Own);
    assert_close(forecast.seconds, 4.5);
    assert_close(forecast.parties[0].waiting_to_send, 3.0);
}

#[test]
fn what_nobody_reads_stops_the_line() {
    let network = Network {
        queue_bytes: [1000.0; 2],
        unread: psijoin_channel::memory::Window::ONE_MESSAGE,
        ..slow()
    };
    // One message is unread and one under way until the receiver has computed.
    let sender = [send(1000), send(1000), send(1000)];
    let receiver = [compute(10.0), receive(1000), receive(1000), receive(1000)];
    let forecast = forecast(&sender, &receiver, &network, Cores::Own);
    assert_close(forecast.parties[0].seconds, 10.0);
    assert_close(forecast.seconds, 11.5);
}

#[test]
fn directions_of_half_a_duplex_take_turns() {
    let half = slow().over(crate::Wire {
        duplex: Duplex::Half,
        ..crate::Wire::default()
    });
    let sender = [exchange(&[send(1000)], &[receive(3000)])];
    let receiver = [exchange(&[send(3000)], &[receive(1000)])];
    assert_close(seconds(&sender, &receiver, &slow()), 3.5);
    assert_close(seconds(&sender, &receiver, &half), 4.5);
    // Where only one speaks at a time, it makes no difference.
    let (asks, answers) = ([send(2000), receive(1000)], [receive(2000), send(1000)]);
    assert_close(seconds(&asks, &answers, &slow()), 4.0);
    assert_close(seconds(&asks, &answers, &half), 4.0);
}

#[test]
fn a_slow_start_sends_twice_as_much_with_each_round_trip() {
    // A round trip of a second fills the line with 146,000 bytes: ten first windows.
    let network = Network {
        bits_per_second: [8.0 * 146_000.0; 2],
        round_trip: 1.0,
        ..Network::INSTANT
    };
    let slow = network.over(crate::Wire {
        slow_start: true,
        ..crate::Wire::default()
    });
    let time = |bytes, network| seconds(&[send(bytes)], &[receive(bytes)], network);
    assert_close(time(14_600, &slow), 0.1 + 0.5);
    // Windows of 1, 2, 4 and 8 leave at 0, 1, 2 and 3; at 4 the line is full for good.
    assert_close(time(3 * 14_600, &slow), 1.2 + 0.5);
    assert_close(time(9 * 14_600, &slow), 3.2 + 0.5);
    assert_close(time(20 * 14_600, &slow), 4.5 + 0.5);
    assert_close(time(20 * 14_600, &network), 2.0 + 0.5);
    // Without a round trip there is nothing to wait for.
    let near = Network {
        round_trip: 0.0,
        ..slow
    };
    assert_close(time(14_600, &near), 0.1);
}

#[test]
fn lost_bytes_are_sent_again() {
    let network = Network {
        goodput: 0.5,
        ..slow()
    };
    assert_close(seconds(&[send(1000)], &[receive(1000)], &network), 2.5);
}

#[test]
fn bytes_are_handled_at_both_ends() {
    let network = Network {
        handling: 1e-3,
        ..slow()
    };
    // A second at the sender, one on the line, half a round trip, and a second at the receiver.
    let forecast = forecast(&[send(1000)], &[receive(1000)], &network, Cores::Own);
    assert_close(forecast.parties[0].computing, 1.0);
    assert_close(forecast.parties[1].computing, 1.0);
    assert_close(forecast.seconds, 2.5);
}

#[test]
fn parties_on_shared_cores_slow_each_other_down() {
    let (sender, receiver) = ([compute(3.0)], [compute(1.0)]);
    let shared = |cores| forecast(&sender, &receiver, &slow(), Cores::Shared(cores)).seconds;
    assert_close(shared(2), 3.0);
    // Both halves until 2, then the sender alone.
    assert_close(shared(1), 4.0);
}

#[test]
fn scripts_of_different_runs_do_not_fit() {
    let fit = |sender: &[Stretch], receiver: &[Stretch]| {
        let [sender, receiver] = [sender, receiver].map(|stretches| Script(stretches.to_vec()));
        simulate(&sender, &receiver, &slow(), Cores::Own)
    };
    let bytes = Mismatch::Bytes {
        expected: 2.0,
        sent: 1.0,
    };
    assert_eq!(fit(&[send(1)], &[receive(2)]), Err(bytes));
    let waiting = [receive(1), send(1)];
    assert_eq!(fit(&waiting, &waiting), Err(Mismatch::Stuck));
}

#[test]
fn messages_of_a_stretch_are_computed_one_after_the_other() {
    let all = Messages {
        messages: 4.0,
        bytes: 4000.0,
        seconds: 2.0,
    };
    // The first leaves at 0.5, the last arrives when the line has carried all four.
    let sender = [Stretch::Send(all)];
    let receiver = [Stretch::Receive(Messages {
        seconds: 0.0,
        ..all
    })];
    assert_close(seconds(&sender, &receiver, &slow()), 0.5 + 4.0 + 0.5);
    // Cut at other places, the same bytes arrive at the same time.
    let coarse = [receive(1500), receive(2500)];
    assert_close(seconds(&sender, &coarse, &slow()), 5.0);
}

#[test]
fn scaled_scripts_fit_each_other() {
    let all = |messages, bytes, seconds| Messages {
        messages,
        bytes,
        seconds,
    };
    let sender = Script(vec![
        Stretch::Send(all(7.0, 700.0, 0.1)),
        exchange(
            &[Stretch::Take(all(3.0, 0.0, 0.3))],
            &[Stretch::Receive(all(3.0, 333.0, 0.0))],
        ),
    ]);
    let receiver = Script(vec![
        Stretch::Receive(all(2.0, 100.0, 0.1)),
        Stretch::Receive(all(5.0, 600.0, 0.1)),
        Stretch::Send(all(1.0, 333.0, 0.3)),
    ]);
    for factor in [0.3, 1.0, 1.7, 16.0, 1e4] {
        let by = |sent, received| crate::script::Scale {
            seconds: factor,
            sent,
            received,
        };
        let (sender, receiver) = (
            sender.scaled(by(factor, 1.1)),
            receiver.scaled(by(1.1, factor)),
        );
        simulate(&sender, &receiver, &slow(), Cores::Own).expect("one run");
    }
}

fn moments(timeline: &Timeline) -> Vec<(f64, f64)> {
    let moments = timeline.moments().iter();
    moments
        .map(|moment| (moment.seconds, moment.bytes))
        .collect()
}

#[test]
fn a_timeline_has_each_message_when_it_is_sent_or_received() {
    let sender = [compute(1.0), send(2000), compute(4.0), receive(500)];
    let receiver = [receive(2000), compute(3.0), send(500), compute(1.0)];
    let [sender, receiver] = [sender, receiver].map(|stretches| Script(stretches.to_vec()));
    let (forecast, timelines) = replay(&sender, &receiver, &slow(), Cores::Own).expect("one run");
    // 2000 bytes leave after 1 s and take 2.5 s; the answer leaves after 6.5 s and takes 1 s.
    assert_eq!(moments(&timelines[0]), [(1.0, 2000.0), (7.5, 2500.0)]);
    assert_eq!(moments(&timelines[1]), [(3.5, 2000.0), (6.5, 2500.0)]);
    for (timeline, party) in timelines.iter().zip(forecast.parties) {
        assert_close(timeline.seconds(), party.seconds);
    }
}

#[test]
fn both_directions_of_an_exchange_add_up() {
    let sender = [exchange(&[compute(1.0), send(1000)], &[receive(3000)])];
    let receiver = [exchange(&[send(3000)], &[receive(1000)])];
    let [sender, receiver] = [sender, receiver].map(|stretches| Script(stretches.to_vec()));
    let (_, [sender, receiver]) = replay(&sender, &receiver, &slow(), Cores::Own).expect("one run");
    assert_eq!(moments(&sender), [(1.0, 1000.0), (3.5, 4000.0)]);
    assert_eq!(moments(&receiver), [(0.0, 3000.0), (2.5, 4000.0)]);
}

/// Set-up, then a stream that is computed on both sides while it travels, and an answer.
#[test]
fn a_long_run_takes_what_it_would_if_it_were_replayed() {
    let stream = |seconds: f64| Messages {
        messages: 300_000.0,
        bytes: 3e8,
        seconds,
    };
    let streams = |sending: f64, receiving: f64| {
        let sending = Stretch::Send(stream(sending));
        exchange(&[sending], &[Stretch::Receive(stream(receiving))])
    };
    let sender = [
        compute(2.0),
        receive(16),
        send(32),
        streams(20.0, 4.0),
        receive(100),
    ];
    let receiver = [
        send(16),
        receive(32),
        streams(90.0, 7.0),
        compute(3.0),
        send(100),
    ];
    let [sender, receiver] = [&sender[..], &receiver].map(|all| Script(all.to_vec()));
    assert!(sender.messages() > MOST_MESSAGES);
    for megabits in [10.0, 100.0, 10_000.0] {
        let network = Network {
            bits_per_second: [megabits * 1e6; 2],
            round_trip: 0.08,
            ..Network::INSTANT
        };
        for cores in [Cores::Own, Cores::Shared(2)] {
            let forecast = simulate(&sender, &receiver, &network, cores).unwrap();
            let (replayed, _) = replay(&sender, &receiver, &network, cores).unwrap();
            assert_nearly(forecast.seconds, replayed.seconds);
            for party in [0, 1] {
                let [found, known] = [&forecast, &replayed].map(|all| all.parties[party]);
                assert_nearly(found.computing, known.computing);
                assert_nearly(found.seconds, known.seconds);
                let [found, known] = [&forecast, &replayed].map(|all| all.lines[party]);
                assert_nearly(found.bytes, known.bytes);
                assert_nearly(found.busy, known.busy);
            }
        }
    }
}
