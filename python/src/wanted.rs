//! The arguments of Python's calls, as the engine takes them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use psijoin::{Protocol, Role, registry};
use psijoin_frontend::{
    Failure, NamedFiles, Wanted, home, meeting,
    partner::{Named, Partner},
    sizes,
};
use psijoin_params::parts::MAX_PARTS;
use psijoin_peers::Place;
use psijoin_session::{
    ArrowTable, AtMost, Consent, Give, GroupColumn, JoinSpec, MaxPeerKeys, Meeting, Memory, Mode,
    PublicLabels, Question, RequestedGroups, RequestedOutput, Resources, TableSpec, Taken, Trade,
    Written,
};
use psijoin_table::{ColumnRules, Existing, KeySpec, LabelColumn, share::RepeatedKeys};
use psijoin_transport::{Fingerprint, Passphrase, Proxy};
use pyo3::{
    prelude::*,
    types::{PyDict, PyMapping},
};

use crate::{
    failed::{Failed, raised},
    joining::JoinCall,
    options::{Options, columns, nearest, usage},
};

/// Keywords of a session.
const OF_SESSIONS: [&str; 14] = [
    "peer",
    "connect",
    "listen",
    "relay",
    "relay_key",
    "via",
    "proxy",
    "identity",
    "passphrase",
    "wait",
    "timeout",
    "threads",
    "memory",
    "spill_dir",
];

/// Keywords of a join.
const OF_JOINS: [&str; 32] = [
    "on",
    "normalize",
    "bad_keys",
    "output_kind",
    "group_by",
    "groups",
    "min_group",
    "noise",
    "learn",
    "give",
    "give_bytes",
    "repeated",
    "take",
    "take_rows",
    "take_bytes",
    "output",
    "no_clobber",
    "rows",
    "align",
    "quote_empty",
    "quote_formulas",
    "min_intersection",
    "post_quantum",
    "protocol",
    "max_peer_keys",
    "strict",
    "check",
    "job",
    "deadline",
    "terms",
    "record",
    "report",
];

/// Keywords of a sender alone.
const RECEIVERS_SUMS: &str = "allow_sums_that_reveal_keys";
const BUDGET: &str = "budget";

/// A keyword that withholds rows.
const MINIMUM: &str = "min_intersection";

/// The keyword of lists of labels.
const LISTS: &str = "groups";

/// A keyword of tables that lie elsewhere.
const PARTS: &str = "parts";

/// Keywords of a join that are for a table that is here.
const NOT_ELSEWHERE: [&str; 9] = [
    "output",
    "no_clobber",
    "rows",
    "align",
    "quote_empty",
    "quote_formulas",
    "check",
    "job",
    BUDGET,
];

/// The longest time in seconds.
const MOST_SECONDS: u64 = u32::MAX as u64;

/// The place where a session's parties meet, who they are, and the part of this machine that a join
/// may use.
#[pyclass(frozen, module = "psijoin._psijoin")]
pub(crate) struct Party {
    /// Nothing if that follows from the name of the other party.
    place: Option<Place>,
    relay_key: Option<PathBuf>,
    proxy: Option<Proxy>,
    peers: Vec<Named>,
    identity: PathBuf,
    passphrase: Option<Passphrase>,
    wait: Duration,
    timeout: Option<Duration>,
    resources: Resources,
}

#[pymethods]
impl Party {
    #[new]
    fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = &Options::new(options, &OF_SESSIONS, ("a join", &OF_JOINS))?;
        let connect = options.parsed("connect")?.map(Place::Connect);
        let listen = options.parsed("listen")?.map(Place::Listen);
        let relay = options.parsed("relay")?.map(Place::Relay);
        let folder = options.path("via")?.map(|path| text_of(&path));
        let folder = folder.transpose()?.map(Place::Folder);
        let peers = peers(options)?;
        let identity = options.path("identity")?;
        let identity = identity.ok_or_else(|| usage("`identity` is the file of this party's"))?;
        let seconds = |name, least| {
            let seconds = options.whole::<u64>(name, least..=MOST_SECONDS)?;
            PyResult::Ok(seconds.map(Duration::from_secs))
        };
        let [wait, timeout] = [seconds("wait", 1)?, seconds("timeout", 3)?];
        let memory = options.read("memory", sizes::bytes)?;
        Ok(Self {
            place: connect.or(listen).or(relay).or(folder),
            relay_key: options.path("relay_key")?,
            proxy: options.parsed("proxy")?,
            peers,
            identity,
            passphrase: passphrase(options.text("passphrase")?)?,
            wait: wait.unwrap_or(Duration::from_secs(60)),
            timeout,
            resources: Resources {
                threads: options.threads()?,
                memory: memory.map_or(Memory::Nothing, Memory::Memory),
                spill_folder: options.path("spill_dir")?,
            },
        })
    }
}

impl Party {
    /// Returns who the other party is.
    fn partner(&self) -> Result<Partner, Failure> {
        let own = home::identity(Some(&self.identity))?;
        let identity = own.unlock(&self.passphrase.clone().into())?;
        let book = home::book(Some(&self.identity))?;
        Partner::find(&identity, &self.peers, &book)
    }

    /// Returns where the parties meet.
    fn meeting(&self, partner: &Partner) -> Result<Meeting, Failure> {
        let endpoint = partner.endpoint(self.place.as_ref(), self.relay_key.as_deref())?;
        let endpoint = endpoint.ok_or_else(|| {
            let why = "say where the parties meet: `listen` on one side and `connect` on the other, \
                       or `relay` or `via` on both";
            Failure::Usage(why.to_owned())
        })?;
        Ok(Meeting {
            proxies: meeting::proxies(self.proxy.as_ref(), &endpoint),
            security: partner.security.clone(),
            name: partner.known_as.as_ref().map(|it| it.name.to_string()),
            wait: self.wait,
            timeout: self
                .timeout
                .unwrap_or_else(|| Meeting::usual_timeout(&endpoint)),
            renewal: partner.renewal(),
            endpoint,
        })
    }

    /// Returns the key of the other party, if it was named by that.
    fn peer(&self) -> Option<Fingerprint> {
        match &*self.peers {
            [Named::Fingerprint(peer)] => Some(*peer),
            _ => None,
        }
    }

    /// Returns the join that this party wants with these keywords.
    pub(crate) fn call(
        &self,
        role: Role,
        options: &Bound<'_, PyDict>,
        table: ArrowTable,
    ) -> PyResult<JoinCall> {
        self.known_call(role, options, table, &OF_JOINS)
    }

    /// Returns the join that this party wants of a table that lies elsewhere, with these keywords.
    pub(crate) fn call_elsewhere(
        &self,
        role: Role,
        options: &Bound<'_, PyDict>,
        nothing: ArrowTable,
    ) -> PyResult<JoinCall> {
        for name in NOT_ELSEWHERE {
            if Options::unchecked(options).is_told(name)? {
                return Err(usage(format!(
                    "`{name}` is for a table that is here, and lanes have it elsewhere: leave it out"
                )));
            }
        }
        let told = &Options::unchecked(options);
        if let RequestedOutput::Shares(_) = kind(told)? {
            return Err(usage(
                "shares are for a table that is here, and lanes have it elsewhere",
            ));
        }
        let known: Vec<&str> = OF_JOINS.into_iter().chain([PARTS]).collect();
        self.known_call(role, options, nothing, &known)
    }

    fn known_call(
        &self,
        role: Role,
        options: &Bound<'_, PyDict>,
        table: ArrowTable,
        known: &[&str],
    ) -> PyResult<JoinCall> {
        let mut known = known.to_vec();
        if role == Role::Sender {
            known.extend([RECEIVERS_SUMS, BUDGET]);
        }
        let options = &Options::new(options, &known, ("Session", &OF_SESSIONS))?;
        let question = question(options)?;
        check_rows(options, &question, role)?;
        let repeated = repeated(options)?;
        let deadline = options.whole("deadline", 1..=MOST_SECONDS)?;
        let failed = |failure: Failure| raised(failure.into());
        let partner = self.partner().map_err(failed)?;
        let meeting = self.meeting(&partner).map_err(failed)?;
        let spec = JoinSpec {
            question,
            protocol: protocol(options)?,
            trade: trade(options, repeated)?,
            aligned: options.flag("align")?.then_some(repeated),
            written: written(options)?,
            consent: Consent {
                max_peer_keys: max_peer_keys(options)?,
                receiver_sums: role == Role::Receiver || options.flag(RECEIVERS_SUMS)?,
                strict: options.flag("strict")?,
            },
            record: options.path("record")?,
            job: options.path("job")?.map(home::job),
            budget: options.path(BUDGET)?,
            mode: mode(options)?,
            resources: self.resources.clone(),
            parts: options.whole(PARTS, 2..=MAX_PARTS.into())?,
            ..JoinSpec::new(role, meeting, TableSpec::Arrow(table), key(options)?)
        };
        Ok(JoinCall {
            spec,
            known_as: partner.known_as,
            report: options.path("report")?,
            identity: self.identity.clone(),
            terms: options.path("terms")?,
            deadline,
        })
    }

    /// Returns the readable keywords of a join that cannot be tried.
    pub(crate) fn untried(
        &self,
        role: Role,
        options: &Bound<'_, PyDict>,
        table: &str,
        started: Timestamp,
    ) -> Wanted {
        let options = &Options::unchecked(options);
        Wanted {
            started,
            role: Some(role),
            protocol: protocol(options).ok().map(|protocol| protocol.info().name),
            output_kind: asked(options).ok().map(|asked| asked.to_string()),
            learners: options.parsed("learn").map(Option::unwrap_or_default).ok(),
            min_intersection: options.whole(MINIMUM, 1..=u64::MAX).ok().flatten(),
            post_quantum: options.flag("post_quantum").unwrap_or_default(),
            profile: None,
            peer: self.peer(),
            files: NamedFiles {
                input: vec![table.into()],
                output: options.path("output").ok().flatten(),
                report: options.path("report").ok().flatten(),
            },
        }
    }
}

/// Returns the party that `peer` names, or those.
fn peers(options: &Options<'_, '_>) -> PyResult<Vec<Named>> {
    const NAME: &str = "peer";
    let named = |text: &String| {
        let named = text.parse::<Named>();
        named.map_err(|error| usage(format!("`{NAME}`: {error}")))
    };
    let value = options.get(NAME)?;
    let several = value.as_ref().map(|value| match value.extract::<String>() {
        Ok(one) => Ok(vec![one]),
        Err(_) => value.extract::<Vec<String>>(),
    });
    match several {
        Some(Ok(texts)) if !texts.is_empty() => texts.iter().map(named).collect(),
        _ => Err(usage(format!(
            "`{NAME}` is the name or the fingerprint of the other party, or a list of them"
        ))),
    }
}

/// Returns the passphrase that a text is.
pub(crate) fn passphrase(text: Option<String>) -> PyResult<Option<Passphrase>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let passphrase = Passphrase::new(text.into_bytes());
    let passphrase = passphrase.ok_or_else(|| usage("`passphrase` has 1 to 1024 bytes"))?;
    Ok(Some(passphrase))
}

/// Returns the path of a folder where both meet.
pub(crate) fn text_of(folder: &Path) -> PyResult<String> {
    let text = folder.to_str().map(str::to_owned);
    text.ok_or_else(|| usage("`via`: the path of the folder is not a text"))
}

pub(crate) fn key(options: &Options<'_, '_>) -> PyResult<KeySpec> {
    let refused = |error: psijoin_table::KeyError| raised(Failed::of(error));
    let mut rules = Vec::new();
    for (column, text) in options.by_column("normalize")? {
        rules.push(ColumnRules::new(column, &text).map_err(refused)?);
    }
    let columns = options.columns("on")?.unwrap_or_default();
    let key = KeySpec::new(columns, rules).map_err(refused)?;
    Ok(key.with_bad_keys(options.parsed("bad_keys")?.unwrap_or_default()))
}

fn question(options: &Options<'_, '_>) -> PyResult<Question> {
    let least = options.whole(MINIMUM, 1..=u64::MAX)?;
    Ok(Question {
        asked: asked(options)?,
        min_intersection: least.unwrap_or(0),
        learners: options.parsed("learn")?.unwrap_or_default(),
        post_quantum: options.flag("post_quantum")?,
    })
}

/// Returns the output that is asked for, with the groups that other keywords tell.
pub(crate) fn asked(options: &Options<'_, '_>) -> PyResult<RequestedOutput> {
    let mut asked = kind(options)?;
    match &mut asked {
        RequestedOutput::Groups(groups) => {
            let by = options.columns("group_by")?.unwrap_or_default();
            groups.by = GroupColumn::of_names(&by)
                .map_err(|error| usage(format!("the columns to group by: {error}")))?;
            give_lists(groups, options)?;
            groups.least = options.whole("min_group", 1..=u64::MAX)?.unwrap_or(0);
            groups.noise = options.parsed("noise")?.map(Box::new);
        }
        other => {
            for name in ["group_by", "groups", "min_group", "noise"] {
                if options.is_told(name)? {
                    return Err(usage(format!(
                        "`{name}` is for counts and sums of groups, and the output is {other}: leave it out"
                    )));
                }
            }
        }
    }
    Ok(asked)
}

/// Gives columns the lists of labels that are told: one for the only column, or some by column.
fn give_lists(groups: &mut RequestedGroups, options: &Options<'_, '_>) -> PyResult<()> {
    for (column, labels) in lists(options)? {
        let place = groups.place_of_list(column.as_deref());
        let place = place.map_err(|error| usage(format!("`{LISTS}`: {error}")))?;
        groups.by[place].public = Some(labels);
    }
    Ok(())
}

/// Returns the columns of labels of a portion, with the lists that are told.
pub(crate) fn labels(options: &Options<'_, '_>) -> PyResult<Vec<LabelColumn>> {
    let names = options.columns("labels")?.unwrap_or_default();
    let column = |name: &String| LabelColumn {
        name: name.clone(),
        listed: None,
    };
    let mut columns: Vec<_> = names.iter().map(column).collect();
    for (name, labels) in lists(options)? {
        let is_meant =
            |column: &&mut LabelColumn| name.as_ref().is_none_or(|it| *it == column.name);
        let mut meant: Vec<_> = columns.iter_mut().filter(is_meant).collect();
        let [column] = &mut meant[..] else {
            let said = "say for which of the columns of labels each list is";
            return Err(usage(format!("`{LISTS}`: {said}")));
        };
        column.listed = Some(labels.listed().to_vec());
    }
    match columns.len() {
        0..=2 => Ok(columns),
        _ => Err(usage("`labels` names one or two columns")),
    }
}

/// Returns the lists of labels that are told, each with its column if that is said.
fn lists(options: &Options<'_, '_>) -> PyResult<Vec<(Option<String>, PublicLabels)>> {
    const IS: &str = "`groups` is a list of labels, or maps columns to such, as {\"receiver.segment\": [\"test\", \"control\"]}";
    let Some(value) = options.get(LISTS)? else {
        return Ok(Vec::new());
    };
    let lists: Vec<(Option<String>, Vec<String>)> = match value.cast::<PyMapping>() {
        Ok(by_column) => by_column.items()?.extract().map_err(|_| usage(IS))?,
        Err(_) => vec![(None, value.extract().map_err(|_| usage(IS))?)],
    };
    let list = |(column, labels)| match PublicLabels::new(labels) {
        Ok(labels) => Ok((column, labels)),
        Err(fault) => Err(usage(format!("`{LISTS}`: {fault}"))),
    };
    lists.into_iter().map(list).collect()
}

/// Returns the kind of output that is asked for: a text, or a kind with its argument.
pub(crate) fn kind(options: &Options<'_, '_>) -> PyResult<RequestedOutput> {
    const NAME: &str = "output_kind";
    let Some(value) = options.get(NAME)? else {
        return Ok(RequestedOutput::default());
    };
    if let Ok((kind, sums, means)) = value.extract::<(String, Bound<'_, PyAny>, Bound<'_, PyAny>)>()
        && kind == "counts"
    {
        return totals(&sums, Some(&means));
    }
    let Ok((kind, of)) = value.extract::<(String, Bound<'_, PyAny>)>() else {
        return Ok(options.parsed(NAME)?.unwrap_or_default());
    };
    match &*kind {
        "sum" => RequestedOutput::sum(&columns(&of, "columns")?)
            .map_err(|error| usage(format!("`columns`: {error}"))),
        "counts" => totals(&of, None),
        "threshold" => match of.extract() {
            Ok(least @ 1..) => Ok(RequestedOutput::Threshold(least)),
            _ => Err(usage("`least` is a whole number of at least 1")),
        },
        _ => Err(usage(format!(
            "`{NAME}` is a text, or a pair that begins with sum, counts or threshold"
        ))),
    }
}

/// Returns counts with these sums and means, if there are some.
fn totals(sums: &Bound<'_, PyAny>, means: Option<&Bound<'_, PyAny>>) -> PyResult<RequestedOutput> {
    let named = |value: Option<&Bound<'_, PyAny>>, name| match value.filter(|it| !it.is_none()) {
        None => Ok(Vec::new()),
        Some(value) => columns(value, name),
    };
    let groups = RequestedGroups::of_totals(&named(Some(sums), "sums")?, &named(means, "means")?);
    groups
        .map(RequestedOutput::Groups)
        .map_err(|error| usage(format!("`sums` and `means`: {error}")))
}

/// Checks that what is said of rows is said where there are rows.
fn check_rows(options: &Options<'_, '_>, question: &Question, role: Role) -> PyResult<()> {
    for name in ["rows", "align", "quote_empty", "quote_formulas"] {
        if options.is_told(name)? && !question.finds_rows(role) {
            let Question {
                asked, learners, ..
            } = question;
            return Err(usage(format!(
                "`{name}` is for rows, and the {role} finds none if the output is {asked} and {learners} learns: leave it \
                 out"
            )));
        }
    }
    options.only_with("no_clobber", &["output"])?;
    options.only_with("repeated", &["give", "align"])
}

pub(crate) fn repeated(options: &Options<'_, '_>) -> PyResult<RepeatedKeys> {
    Ok(options.parsed("repeated")?.unwrap_or_default())
}

fn trade(options: &Options<'_, '_>, repeated: RepeatedKeys) -> PyResult<Trade> {
    for (name, whole) in [
        ("give_bytes", "give"),
        ("take_rows", "take"),
        ("take_bytes", "take"),
    ] {
        options.only_with(name, &[whole])?;
    }
    let row_bytes = options.whole("give_bytes", 1..=u16::MAX.into())?;
    let gives = options.columns("give")?;
    let is_all = |value: Bound<'_, PyAny>| value.extract::<&str>().is_ok_and(|it| it == "all");
    let takes = match options.get("take")?.is_some_and(is_all) {
        true => Some(Taken::All),
        false => options.columns("take")?.map(Taken::Named),
    };
    Ok(Trade {
        gives: gives.map(|columns| Give {
            columns,
            row_bytes,
            repeated,
        }),
        takes,
        at_most: AtMost {
            rows: options.whole("take_rows", 1..=u16::MAX.into())?,
            row_bytes: options.whole("take_bytes", 1..=u16::MAX.into())?,
        },
    })
}

fn written(options: &Options<'_, '_>) -> PyResult<Written> {
    Ok(Written {
        output: options.path("output")?,
        existing: match options.flag("no_clobber")? {
            true => Existing::Keep,
            false => Existing::Replace,
        },
        rows: options.parsed("rows")?.unwrap_or_default(),
        quotes_empty: options.flag("quote_empty")?,
        quotes_formulas: options.flag("quote_formulas")?,
    })
}

fn protocol(options: &Options<'_, '_>) -> PyResult<&'static Protocol> {
    let Some(name) = options.text("protocol")? else {
        return Ok(&registry::AUTO);
    };
    if let Some(protocol) = registry::find(&name) {
        return Ok(protocol);
    }
    let names = Vec::from_iter(registry::names());
    let meant = match options.get("protocol")? {
        Some(value) => nearest(value.py(), &name, &names)?,
        None => None,
    };
    Err(usage(match meant {
        Some(meant) => format!("`protocol`: there is none of this name; did you mean `{meant}`?"),
        None => format!("`protocol` is one of {}", names.join(", ")),
    }))
}

/// Returns a number, or a text such as 1e6.
fn max_peer_keys(options: &Options<'_, '_>) -> PyResult<MaxPeerKeys> {
    const NAME: &str = "max_peer_keys";
    let number = options
        .get(NAME)?
        .and_then(|value| value.extract::<u64>().ok());
    let most = match number {
        Some(number) => Some(sizes::size(&number.to_string())),
        None => options.text(NAME)?.map(|text| sizes::size(&text)),
    };
    let most = most
        .transpose()
        .map_err(|error| usage(format!("`{NAME}`: {error}")))?;
    Ok(most.map_or(MaxPeerKeys::ByMemory, MaxPeerKeys::Said))
}

fn mode(options: &Options<'_, '_>) -> PyResult<Mode> {
    match options.flag("check")? {
        true if options.is_told("job")? => {
            Err(usage("a check has no progress to keep: leave `job` out"))
        }
        true => Ok(Mode::Check),
        false => Ok(Mode::Join),
    }
}
