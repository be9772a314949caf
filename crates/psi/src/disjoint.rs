//! What every protocol does when a set is empty: nothing. Both parties know the sizes, so
//! both know the result.

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
    pub(crate) fn new(info: &'static Info, request: &Request) -> Self {
        Self {
            info,
            request: request.clone(),
            budget: FailureBudget::new(request.security),
        }
    }
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
            (OutputKind::Threshold(items), _) => Output::Reached(*items == 0),
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
