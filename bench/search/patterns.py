"""What is searched for: rare, absent and common, of one character and of many."""

NEEDLE = "zqv-needle-4711"
PATTERNS = {
    "rare": NEEDLE,
    "absent": "wholly absent words",
    "absent punctuation": "}{<>%%",
    "absent, of common words": "before the limit of session 77 is local",
    "common": "the ",
    "three characters": "zqv",
    "two characters": "th",
    "two characters, rare": "qv",
    "two characters, absent": "q~",
    "one character": "e",
}
