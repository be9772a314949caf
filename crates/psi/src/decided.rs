//! What every protocol does where the result follows from the sizes of the sets, which both parties
//! know: nothing. That is so where a set is empty; where a threshold is 0; and where a threshold or a
//! minimum is more than the smaller set has.

use psijoin_channel::Channel;
use psijoin_circuit::Bits;
use psijoin_params::FailureBudget;

use crate::{
    Context, Cost, Error, Info, Input, Output, OutputKind, Parameter, Party, Request, Role, Shares,
    protocol,
};

pub(crate) struct Plan {
    info: &'static Info,
    request: Request,
    budget: FailureBudget,
}

impl Plan {
    /// The plan of a protocol, if the result of this request follows from the sizes.
    pub(crate) fn new(info: &'static Info, request: &Request) -> Option<Self> {
        is_decided(request).then(|| Self {
            info,
            request: request.clone(),
            budget: FailureBudget::new(request.security),
        })
    }
}

fn is_decided(request: &Request) -> bool {
    let most = request.sizes.smaller();
    most == 0
        || request.min_intersection > most
        || matches!(request.output, OutputKind::Threshold(least) if least == 0 || least > most)
}

impl protocol::Plan for Plan {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        Cost::default()
    }

    fn digest_bytes(&self) -> usize {
        16
    }

    fn offline(
        &self,
        role: Role,
        _channel: &mut Channel,
        _context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        let output = match (&self.request.output, role) {
            _ if self.request.min_intersection > 0 => Output::TooFew,
            (OutputKind::Shares(columns), _) => Output::Shares(Shares::new(
                Bits::default(),
                vec![Vec::new(); columns.total()],
                (role == Role::Receiver).then(Vec::new),
            )),
            (_, Role::Sender) => Output::Nothing,
            (OutputKind::Rows, _) => Output::Rows(Vec::new()),
            (OutputKind::Count, _) => Output::Count(0),
            (OutputKind::Threshold(least), _) => Output::Reached(*least == 0),
            (OutputKind::Sums(columns), _) => Output::Sums(vec![0; columns.total()]),
        };
        Ok(Box::new(Done(output)))
    }
}

struct Done(Output);

impl Party for Done {
    fn run(
        self: Box<Self>,
        _input: Input<'_>,
        _channel: &mut Channel,
        _context: &mut Context,
    ) -> Result<Output, Error> {
        Ok(self.0)
    }
}
