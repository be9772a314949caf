"""A difference between the expected and the found value."""


class Difference(Exception):
    """A difference between the expected and the found value."""


def expect(what: str, expected: object, found: object) -> None:
    """Checks that two things are the same."""
    if expected != found:
        raise Difference(f"{what}: expected {shortened(expected)}, found {shortened(found)}")


def shortened(thing: object) -> str:
    """The beginning of what would fill the screen."""
    text = repr(thing)
    return text if len(text) <= 1000 else f"{text[:1000]}… ({len(text)} characters)"
