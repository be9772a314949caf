//! The words of one who has come, until it is joined with somebody: without input and output.
//!
//! The first byte tells the language: a bare party begins with `psirelay`, one that comes through
//! an HTTPS front end with a request in HTTP.

use std::{net::IpAddr, sync::Arc};

use psijoin_transport::{
    rendezvous::{self, AccessDecoder, HELLO_BYTES, Hello, HelloDecoder, Nonce, State, Text},
    websocket::{Decoder, Encoder, Event, RequestDecoder, Role},
};
use ring::rand::{SecureRandom, SystemRandom};

use crate::{AccessKeys, refusal::Refusal};

/// The bytes that are read at once where more may come than is due.
pub(crate) const PIECE_BYTES: usize = 4096;

/// See the [module](self).
pub(crate) struct Reception {
    access: Option<Arc<AccessKeys>>,
    language: Language,
    stage: Stage,
    /// The address from which it came, as a front end tells it.
    forwarded_for: Option<IpAddr>,
}

/// The way in which words travel.
enum Language {
    /// It has said nothing.
    Unknown,
    Bare,
    /// It asks for WebSocket.
    Asking(RequestDecoder),
    WebSocket(Decoder),
}

/// The words that are due.
enum Stage {
    Hello(HelloDecoder),
    Access {
        hello: Hello,
        nonce: Nonce,
        decoder: AccessDecoder,
    },
    /// None, until it is joined with somebody.
    Waiting,
}

/// The result of hearing somebody.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// There is more to come.
    Part,
    /// It has said all. `by` is the name of its access key.
    Guest { hello: Hello, by: Option<String> },
    /// It has said that it leaves.
    Leaves,
}

impl Reception {
    pub(crate) fn new(access: Option<Arc<AccessKeys>>) -> Self {
        Self {
            access,
            language: Language::Unknown,
            stage: Stage::Hello(HelloDecoder::new()),
            forwarded_for: None,
        }
    }

    /// Returns the number of bytes to read at most.
    pub(crate) fn room(&self) -> usize {
        match (&self.language, &self.stage) {
            (Language::Asking(_) | Language::WebSocket(_), _) => PIECE_BYTES,
            (Language::Unknown, _) => HELLO_BYTES,
            (Language::Bare, Stage::Hello(decoder)) => decoder.due(),
            (Language::Bare, Stage::Access { decoder, .. }) => decoder.due(),
            // Nothing is due, and one byte too many shows that as well as more.
            (Language::Bare, Stage::Waiting) => 1,
        }
    }

    /// Returns the address from which it came, as a front end tells it. Only the relay knows
    /// whether to believe it.
    pub(crate) fn forwarded_for(&self) -> Option<IpAddr> {
        self.forwarded_for
    }

    /// Returns the framing of what it will send to its peer, if there is any.
    pub(crate) fn into_framing(self) -> Option<Decoder> {
        match self.language {
            Language::WebSocket(decoder) => Some(decoder),
            _ => None,
        }
    }

    /// Takes what it has said, which may be changed, and appends the answer.
    pub(crate) fn take_in(
        &mut self,
        said: &mut [u8],
        answer: &mut Vec<u8>,
    ) -> Result<Heard, Refusal> {
        let mut input = said;
        if let (Language::Unknown, Some(first)) = (&self.language, input.first()) {
            self.language = match first {
                // Only methods of HTTP begin so.
                b'A'..=b'Z' => Language::Asking(RequestDecoder::new()),
                _ => Language::Bare,
            };
        }
        if let Language::Asking(decoder) = &mut self.language {
            let mut request = &*input;
            let upgrade = decoder.take(&mut request)?;
            let left = request.len();
            let Some(upgrade) = upgrade else {
                return Ok(Heard::Part);
            };
            answer.extend(upgrade.answer());
            self.forwarded_for = upgrade.forwarded_for;
            self.language = Language::WebSocket(Decoder::new(Role::Client));
            let taken = input.len() - left;
            input = &mut input[taken..];
        }
        match &self.language {
            Language::WebSocket(_) => self.hear_frames(input, answer),
            _ => self.hear_words(input, answer),
        }
    }

    fn hear_frames(
        &mut self,
        mut input: &mut [u8],
        answer: &mut Vec<u8>,
    ) -> Result<Heard, Refusal> {
        let mut heard = Heard::Part;
        loop {
            let Language::WebSocket(decoder) = &mut self.language else {
                return Ok(heard);
            };
            match decoder.next_event(&mut input)? {
                None => return Ok(heard),
                Some(Event::Data(words)) => match self.hear_words(words, answer)? {
                    Heard::Part => {}
                    more => heard = more,
                },
                Some(Event::Ping(content)) => Encoder::server().pong(&content, answer),
                Some(Event::Pong(_)) => {}
                Some(Event::Close(_)) => {
                    Encoder::server().close(NORMAL, answer);
                    return Ok(Heard::Leaves);
                }
            }
        }
    }

    fn hear_words(&mut self, mut words: &[u8], answer: &mut Vec<u8>) -> Result<Heard, Refusal> {
        let mut heard = Heard::Part;
        while !words.is_empty() {
            match &mut self.stage {
                Stage::Hello(decoder) => {
                    let Some(hello) = decoder.take(&mut words)? else {
                        continue;
                    };
                    match &self.access {
                        None => {
                            self.stage = Stage::Waiting;
                            heard = Heard::Guest { hello, by: None };
                        }
                        Some(_) if !hello.has_key => return Err(Refusal::NoKey),
                        Some(_) => self.challenge(hello, answer)?,
                    }
                }
                Stage::Access {
                    hello,
                    nonce,
                    decoder,
                } => {
                    let Some(access) = decoder.take(&mut words) else {
                        continue;
                    };
                    let keys = self.access.as_deref();
                    let name = keys.and_then(|keys| keys.recognise(&access, nonce, hello));
                    let name = name.ok_or(Refusal::WrongKey)?;
                    heard = Heard::Guest {
                        by: Some(name.to_owned()),
                        hello: hello.clone(),
                    };
                    self.stage = Stage::Waiting;
                }
                Stage::Waiting => return Err(Refusal::TooEarly),
            }
        }
        Ok(heard)
    }

    fn challenge(&mut self, hello: Hello, answer: &mut Vec<u8>) -> Result<(), Refusal> {
        let mut nonce = Nonce::default();
        let filled = SystemRandom::new().fill(&mut nonce);
        filled.map_err(|_| Refusal::Exhausted)?;
        self.say(&State::Challenge(nonce), answer);
        self.stage = Stage::Access {
            hello,
            nonce,
            decoder: AccessDecoder::new(),
        };
        Ok(())
    }

    /// Appends a state, in its language.
    pub(crate) fn say(&self, state: &State, to: &mut Vec<u8>) {
        match &self.language {
            Language::Bare => state.encode(to),
            Language::WebSocket(_) => {
                let mut words = Vec::new();
                state.encode(&mut words);
                Encoder::server().data(&words, to);
            }
            // Whoever it is would not understand it.
            Language::Unknown | Language::Asking(_) => {}
        }
    }

    /// Appends the reason to turn it away.
    pub(crate) fn refuse(&self, refusal: &Refusal, to: &mut Vec<u8>) {
        match (refusal, &self.language) {
            (Refusal::WebSocket(fault), Language::Asking(_)) => to.extend(fault.answer()),
            (Refusal::WebSocket(fault), Language::WebSocket(_)) => {
                Encoder::server().close(fault.close_code(), to);
            }
            // It may be anybody, who speaks something else.
            (Refusal::Words(rendezvous::Fault::NotAParty), Language::Bare) => {}
            _ => {
                let text = Text::new(&refusal.to_string());
                self.say(
                    &match refusal {
                        Refusal::Draining => State::Draining(text),
                        refusal if refusal.lasts() => State::Forbidden(text),
                        _ => State::Refused(text),
                    },
                    to,
                );
                if matches!(self.language, Language::WebSocket(_)) {
                    Encoder::server().close(NORMAL, to);
                }
            }
        }
    }
}

/// The code of a close without a fault (RFC 6455, §7.4.1).
const NORMAL: u16 = 1000;

#[cfg(test)]
mod tests;
