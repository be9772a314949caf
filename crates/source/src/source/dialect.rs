use crate::{Encoding, Format, SourceError, read::text::escapes::escaped};

/// The deviations of a text from the usual form of its format.
///
/// Nothing is said by default. Then CSV has commas, quotes `"` and a header (RFC 4180), and TSV
/// tabs, no quotes and a header (IANA `text/tab-separated-values`); all texts are UTF-8, or UTF-16
/// with a byte order mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    delimiter: Option<u8>,
    quote: Option<Option<u8>>,
    without_header: bool,
    escapes: bool,
    skipped_lines: u64,
    comment: Option<u8>,
    encoding: Option<Encoding>,
}

impl Dialect {
    /// Says what stands between the fields of a record.
    ///
    /// # Errors
    /// If this is not ASCII, or ends lines.
    pub fn with_delimiter(self, delimiter: u8) -> Result<Self, SourceError> {
        check("delimiter", delimiter)?;
        Ok(Self {
            delimiter: Some(delimiter),
            ..self
        })
    }

    /// Says what stands around fields that hold a delimiter or a line break; `None` if nothing
    /// does, so that each quote is a character of its field.
    ///
    /// # Errors
    /// If this is not ASCII, or ends lines.
    pub fn with_quote(self, quote: Option<u8>) -> Result<Self, SourceError> {
        if let Some(quote) = quote {
            check("quote", quote)?;
        }
        Ok(Self {
            quote: Some(quote),
            ..self
        })
    }

    /// Says that the first record is a row like the others. The columns are called 1, 2 and so
    /// on.
    pub fn without_header(self) -> Self {
        Self {
            without_header: true,
            ..self
        }
    }

    /// Lets a backslash begin an escape, as PostgreSQL's `COPY` and MySQL write them in texts
    /// without quotes: `\t`, `\n`, `\r`, `\\` and rarer ones mean the control character or the
    /// backslash, a line break or a delimiter after a backslash is a character of its field, and a
    /// field that is `\N` is null.
    pub fn with_escapes(self) -> Self {
        Self {
            escapes: true,
            ..self
        }
    }

    /// Says that this many lines stand before the header, or before the first row if there is no
    /// header, in each file. They are lines whatever is in them, also within quotes.
    pub fn with_skipped_lines(self, lines: u64) -> Self {
        Self {
            skipped_lines: lines,
            ..self
        }
    }

    /// Says what begins a comment: a line whose first character this is, where a record could
    /// begin, is as good as blank. A line within a field in quotes is none.
    ///
    /// # Errors
    /// If this is not ASCII, or ends lines, or is a letter or a digit, with which rows begin.
    pub fn with_comment(self, comment: u8) -> Result<Self, SourceError> {
        check("comment", comment)?;
        if comment.is_ascii_alphanumeric() {
            return Err(SourceError::CommentCharacter);
        }
        Ok(Self {
            comment: Some(comment),
            ..self
        })
    }

    /// Says how the text is encoded. This also holds for lines.
    pub fn with_encoding(self, encoding: Encoding) -> Self {
        Self {
            encoding: Some(encoding),
            ..self
        }
    }

    /// Returns whether there are no deviations.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether records and fields are separated as usual, as in CSV and TSV.
    pub(crate) fn is_layout_default(&self) -> bool {
        let Self { encoding, .. } = *self;
        *self
            == Self {
                encoding,
                ..Self::default()
            }
    }

    /// Returns the encoding of the text, if it is set.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Returns the layout of a table of this format, with these deviations; `None` if it is not
    /// text. `file` is its name in errors.
    pub(crate) fn layout(&self, format: Format, file: &str) -> Result<Option<Layout>, SourceError> {
        match Layout::usual(format) {
            Some(Layout::Delimited(usual)) => Ok(Some(Layout::Delimited(self.over(usual)?))),
            Some(Layout::Lines) if self.is_layout_default() => Ok(Some(Layout::Lines)),
            None if self.is_default() => Ok(None),
            _ => Err(SourceError::NoDialect {
                file: file.to_owned(),
                format,
            }),
        }
    }

    /// Returns the layout with these deviations, and otherwise the usual one.
    pub(crate) fn over(&self, usual: Delimited) -> Result<Delimited, SourceError> {
        let taken = Delimited {
            delimiter: self.delimiter.unwrap_or(usual.delimiter),
            quote: self.quote.unwrap_or(usual.quote),
            header: usual.header && !self.without_header,
            escapes: self.escapes,
            skipped_lines: self.skipped_lines,
            comment: self.comment,
        };
        if taken.quote == Some(taken.delimiter) {
            return Err(SourceError::DelimiterIsQuote);
        }
        if taken.escapes && taken.quote.is_some() {
            return Err(SourceError::EscapesWithQuotes);
        }
        if taken.escapes && (taken.delimiter == b'\\' || taken.delimiter.is_ascii_alphanumeric()) {
            return Err(SourceError::DelimiterOfEscapes);
        }
        if let Some(comment) = taken.comment
            && ([Some(taken.delimiter), taken.quote].contains(&Some(comment))
                || taken.escapes && comment == b'\\')
        {
            return Err(SourceError::CommentCharacter);
        }
        Ok(taken)
    }
}

fn check(what: &'static str, byte: u8) -> Result<(), SourceError> {
    match byte {
        b'\r' | b'\n' | 0x80.. => Err(SourceError::DialectByte { what }),
        _ => Ok(()),
    }
}

/// The separation of records and fields in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Records of several fields.
    Delimited(Delimited),
    /// Each line is a field of its own.
    Lines,
}

/// A dialect in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimited {
    /// The character between fields.
    pub delimiter: u8,
    /// The character around fields, if there is one.
    pub quote: Option<u8>,
    /// `true` if the first record names the columns.
    pub header: bool,
    /// `true` if a backslash begins an escape; then there are no quotes.
    pub escapes: bool,
    /// The number of lines before the first record.
    pub skipped_lines: u64,
    /// The first character of a line that is a comment.
    pub comment: Option<u8>,
}

impl Delimited {
    pub(crate) const CSV: Self = Self {
        delimiter: b',',
        quote: Some(b'"'),
        header: true,
        escapes: false,
        skipped_lines: 0,
        comment: None,
    };

    pub(crate) const TSV: Self = Self {
        delimiter: b'\t',
        quote: None,
        ..Self::CSV
    };

    /// Returns the name of the character that seems to divide what was read as one field.
    pub(crate) fn likelier_delimiter(self, field: &str) -> Option<&'static str> {
        let known = [
            (b';', "semicolon"),
            (b'\t', "tab"),
            (b'|', "pipe"),
            (b',', "comma"),
        ];
        let mut others = known
            .into_iter()
            .filter(|&(byte, _)| byte != self.delimiter);
        others.find_map(|(byte, word)| field.contains(char::from(byte)).then_some(word))
    }

    /// Returns a field, or a null, as it stands in a text of this kind; `None` if it cannot stand
    /// there.
    pub fn written(self, field: Option<&str>) -> Option<String> {
        if self.escapes {
            return Some(escaped(field, self.delimiter));
        }
        let text = field.unwrap_or_default();
        let delimiter = char::from(self.delimiter);
        let breaks = |character| [delimiter, '\n', '\r'].contains(&character);
        match self.quote.map(char::from) {
            Some(quote) if text.contains(|c| breaks(c) || c == quote) => {
                self.written_in_quotes(text)
            }
            None if text.contains(breaks) => None,
            _ => Some(text.to_owned()),
        }
    }

    /// Writes the field with quotes around it in any case, if there are quotes.
    pub fn written_in_quotes(self, field: &str) -> Option<String> {
        let Some(quote) = self.quote.map(char::from) else {
            return self.written(Some(field));
        };
        let doubled = field.replace(quote, &format!("{quote}{quote}"));
        Some(format!("{quote}{doubled}{quote}"))
    }

    /// Returns the differences from `usual`, each in a few words.
    fn differences(self, usual: Self) -> Vec<String> {
        let mut words = Vec::new();
        if self.delimiter != usual.delimiter {
            words.push(match self.delimiter {
                b',' => "commas".to_owned(),
                b';' => "semicolons".to_owned(),
                b'\t' => "tabs".to_owned(),
                b'|' => "pipes".to_owned(),
                b' ' => "spaces".to_owned(),
                other => format!("delimiter {}", shown(other)),
            });
        }
        if self.quote != usual.quote {
            words.push(match self.quote {
                None => "no quotes".to_owned(),
                Some(quote) => format!("quote {}", shown(quote)),
            });
        }
        if self.escapes {
            words.push("escapes".to_owned());
        }
        match self.skipped_lines {
            0 => {}
            1 => words.push("1 line skipped".to_owned()),
            lines => words.push(format!("{lines} lines skipped")),
        }
        if let Some(comment) = self.comment {
            words.push(format!("comments {}", shown(comment)));
        }
        if !self.header {
            words.push("no header".to_owned());
        }
        words
    }
}

fn shown(byte: u8) -> String {
    // Not the backslash notation of what can be typed.
    match byte {
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => byte.escape_ascii().to_string(),
    }
}

impl Layout {
    /// Returns whether a line feed can be a character of a field.
    pub(crate) fn may_hide_line_feeds(self) -> bool {
        match self {
            Self::Delimited(dialect) => dialect.quote.is_some() || dialect.escapes,
            Self::Lines => false,
        }
    }

    /// Returns the usual layout of this format; `None` for Parquet and Arrow, which are not text.
    pub(crate) fn usual(format: Format) -> Option<Self> {
        match format {
            Format::Csv => Some(Self::Delimited(Delimited::CSV)),
            Format::Tsv => Some(Self::Delimited(Delimited::TSV)),
            Format::Lines => Some(Self::Lines),
            Format::Parquet | Format::Arrow => None,
        }
    }

    /// Returns whether the first record is taken for the names of the columns.
    #[inline]
    pub fn has_header(self) -> bool {
        matches!(self, Self::Delimited(dialect) if dialect.header)
    }

    /// Returns whether a field is what databases write for null, though a backslash is a character
    /// like any other.
    #[inline]
    pub fn is_stray_null(self, field: &str) -> bool {
        field == "\\N" && matches!(self, Self::Delimited(dialect) if !dialect.escapes)
    }

    /// Returns whether a field begins and ends with quotes, though they are characters like any
    /// other.
    #[inline]
    pub fn has_stray_quotes(self, field: &str) -> bool {
        matches!(self, Self::Delimited(dialect) if dialect.quote.is_none())
            && field.len() > 1
            && field.starts_with('"')
            && field.ends_with('"')
    }

    /// Returns the differences from `usual`, each in a few words.
    pub(crate) fn differences(self, usual: Self) -> Vec<String> {
        match (self, usual) {
            (Self::Delimited(taken), Self::Delimited(usual)) => taken.differences(usual),
            _ => Vec::new(),
        }
    }
}
