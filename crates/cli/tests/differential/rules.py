"""The rules of `--normalize`, as macros of DuckDB.

Left out, where DuckDB and Unicode's tables differ: `lower` of DuckDB takes one letter at a time,
so that no text here holds a Greek sigma, or a letter whose lower case is two; and DuckDB has no
NFKC and no case folding, so that of the letters that these change texts hold just those of
`COMPATIBLE` and `FOLDED`. DuckDB knows no numbering plans either, for `phone:COUNTRY`.
"""

# The letters that NFKC changes, besides NFC. The tests' texts hold no others of them.
COMPATIBLE = {
    **{"Ａ": "A", "ａ": "a", "Ｂ": "B", "ｂ": "b", "１": "1", "²": "2", "ﬁ": "fi"},
    **{"\u00a0": " ", "\u2003": " ", "\u3000": " "},
}

# The letters that case folding changes, besides lower case.
FOLDED = {"ß": "ss", "ﬁ": "fi"}

# Zones whose clocks never change, and how far they are ahead.
ZONES = {
    **{"UTC": "+00:00", "Etc/GMT-5": "+05:00", "Etc/GMT-11": "+11:00"},
    **{"-03:30": "-03:30", "GMT-5": "-05:00", "UTC-11:00": "-11:00"},
}

# Rules for seconds since 1970 and smaller units, and how many of these a second has.
UNIX_UNITS = {
    **{"timestamp:unix": 1, "timestamp:unix-ms": 10**3},
    **{"timestamp:unix-us": 10**6, "timestamp:unix-ns": 10**9},
}

# Of Unicode's white space the part that texts here hold.
WHITE_SPACE = " \t\n\r\u00a0\u2003\u3000"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _replaced(sql: str, replacements: dict[str, str]) -> str:
    for text, by in replacements.items():
        sql = f"replace({sql}, {_literal(text)}, {_literal(by)})"
    return sql


MACROS = f"""
CREATE MACRO rule_trim(x) AS trim(x, {_literal(WHITE_SPACE)});
CREATE MACRO rule_lowercase(x) AS lower(x);
CREATE MACRO rule_casefold(x) AS {_replaced("rule_lowercase(x)", FOLDED)};
CREATE MACRO rule_email(x) AS rule_lowercase(rule_trim(x));

-- The name before the last @ of some domains, of which nothing may be left.
CREATE MACRO mailbox(x, domains) AS regexp_extract(x, '^((?s).*)@' || domains || '$', 1);
CREATE MACRO renamed(x, domains, name) AS CASE
    WHEN mailbox(x, domains) = '' OR name = '' THEN x
    ELSE name || substr(x, length(mailbox(x, domains)) + 1)
END;
CREATE MACRO rule_email_gmail(x) AS renamed(rule_email(x), 'gmail\\.com',
    replace(split_part(mailbox(rule_email(x), 'gmail\\.com'), '+', 1), '.', ''));
CREATE MACRO rule_email_google(x) AS renamed(rule_email(x), '(?:google|g)mail\\.com',
    replace(mailbox(rule_email(x), '(?:google|g)mail\\.com'), '.', ''));
CREATE MACRO rule_digits(x) AS regexp_replace(x, '[^0-9]', '', 'g');
CREATE MACRO rule_nfc(x) AS nfc_normalize(x);
CREATE MACRO rule_nfkc(x) AS nfc_normalize({_replaced("x", COMPATIBLE)});

-- Behind other rules: nothing stays nothing.
CREATE MACRO rule_sha256(x) AS CASE WHEN x = '' THEN '' ELSE sha256(x) END;

-- A plus before the first digit is kept; without one, two leading zeros become one.
CREATE MACRO rule_phone(x) AS CASE
    WHEN regexp_matches(x, '^[^0-9]*\\+[^0-9]*[0-9]') THEN '+' || rule_digits(x)
    WHEN rule_digits(x) = '00' THEN ''
    WHEN starts_with(rule_digits(x), '00') THEN '+' || substr(rule_digits(x), 3)
    ELSE rule_digits(x)
END;

-- The rules below read a value. White space at both ends does not count, and an empty text, which
-- is a null from here on, stays one.
CREATE MACRO content(x) AS nullif(rule_trim(x), '');

CREATE MACRO rule_number(x) AS rtrim(rtrim(content(x)::DECIMAL(38, 10)::VARCHAR, '0'), '.');
CREATE MACRO rule_bool(x) AS CASE
    WHEN lower(content(x)) IN ('true', 't', 'yes', 'y', '1', '1.0') THEN 'true'
    WHEN lower(content(x)) IN ('false', 'f', 'no', 'n', '0', '0.0') THEN 'false'
END;
CREATE MACRO rule_uuid(x) AS
    regexp_replace(lower(content(x)), '^urn:uuid:|[{{}}-]', '', 'g')::UUID::VARCHAR;

CREATE MACRO rule_date(x) AS CASE
    WHEN regexp_matches(content(x), '^\\d{{8}}$')
    THEN strptime(content(x), '%Y%m%d')::DATE::VARCHAR
    ELSE content(x)::TIMESTAMP::DATE::VARCHAR
END;
CREATE MACRO rule_date_excel(x) AS (DATE '1899-12-30' + content(x)::INTEGER)::VARCHAR;
CREATE MACRO rule_date_of(x, format) AS strptime(content(x), format)::DATE::VARCHAR;

-- DuckDB's timestamps with nanoseconds reach less far than these texts: fractions stay text.
CREATE MACRO clock_of(x) AS regexp_extract(x, '[T ](\\d\\d:\\d\\d(?::\\d\\d)?)', 1);
CREATE MACRO fraction_of(x) AS rtrim(regexp_extract(x, '\\.(\\d+)', 1), '0');
CREATE MACRO zone_of(x) AS regexp_extract(x, '(Z|[+-]\\d\\d:\\d\\d)$', 1);
CREATE MACRO offset_of(zone) AS CASE
    WHEN zone IN ('', 'Z') THEN 0
    ELSE (zone[1] || '1')::INTEGER * (zone[2:3]::INTEGER * 3600 + zone[5:6]::INTEGER * 60)
END;
CREATE MACRO moment(x) AS
    ((x[:10] || ' ' || coalesce(nullif(clock_of(x), ''), '00:00'))::TIMESTAMP
        - to_seconds(offset_of(zone_of(x))))::VARCHAR
    || CASE WHEN fraction_of(x) = '' THEN '' ELSE '.' || fraction_of(x) END
    || CASE WHEN zone_of(x) = '' THEN '' ELSE 'Z' END;
CREATE MACRO rule_timestamp(x) AS moment(content(x));
CREATE MACRO rule_timestamp_in(x, ahead) AS
    moment(content(x) || CASE WHEN zone_of(content(x)) <> '' THEN ''
        WHEN length(content(x)) = 10 THEN ' 00:00' || ahead ELSE ahead END);

CREATE MACRO unix(n, per) AS
    make_timestamp(((n - ((n % per) + per) % per) // per * 1000000)::BIGINT)::VARCHAR
    || CASE WHEN n % per = 0 THEN '' ELSE '.'
        || rtrim(lpad((((n % per) + per) % per)::VARCHAR, (length(per::VARCHAR) - 1)::INTEGER, '0'), '0') END
    || 'Z';
CREATE MACRO rule_timestamp_unix(x, per) AS unix(content(x)::HUGEINT, per::HUGEINT);

CREATE MACRO rule_time(x) AS CASE
    WHEN content(x) LIKE '% _M' THEN strptime(content(x), '%I:%M %p')::TIME::VARCHAR
    WHEN length(content(x)) = 5 THEN content(x) || ':00'
    WHEN fraction_of(content(x)) = '' THEN content(x)[:8]
    ELSE content(x)[:8] || '.' || fraction_of(content(x))
END;
"""


def applied(rules: str, sql: str, is_typed: bool) -> str:
    """SQL for what `rules`, as `--normalize` has them, make of the text that `sql` is.

    A typed column takes no notice of a format of dates, but of a zone.
    """
    for rule in filter(None, rules.split("+")):
        name, _, detail = rule.partition(":")
        if rule in UNIX_UNITS:
            sql = f"rule_timestamp_unix({sql}, {UNIX_UNITS[rule]})"
        elif name == "email" and detail:
            sql = f"rule_email_{detail}({sql})"
        elif name == "text":
            sql = f"decode(unhex({sql}))" if is_typed else sql
        elif name == "timestamp" and detail:
            sql = f"rule_timestamp_in({sql}, {_literal(ZONES[detail])})"
        elif name == "null":
            words = ", ".join(map(_literal, detail.split(",")))
            sql = f"CASE WHEN rule_trim({sql}) IN ({words}) THEN '' ELSE {sql} END"
        elif rule == "date:excel" and not is_typed:
            sql = f"rule_date_excel({sql})"
        elif name == "date" and detail and not is_typed:
            sql = f"rule_date_of({sql}, {_literal(detail)})"
        else:
            sql = f"rule_{name}({sql})"
    return sql
