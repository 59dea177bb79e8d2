"""Random texts for PYTORCH_CUDA_ALLOC_CONF: valid texts, texts with a few characters changed, and garbage."""

import string

# Every key of any release, with the kind of its value.
KINDS = {
    "max_split_size_mb": "mib",
    "max_non_split_rounding_mb": "mib",
    "large_segment_size_mb": "mib",
    "garbage_collection_threshold": "share",
    "per_process_memory_fraction": "share",
    "roundup_power2_divisions": "divisions",
    "expandable_segments": "flag",
    "expandable_segments_reserve": "reserve",
    "expandable_segments_reserve_by_class": "classes",
    "throw_on_cudamalloc_oom": "flag",
    "graph_capture_record_stream_reuse": "flag",
    "release_lock_on_cudamalloc": "flag",
    "release_lock_on_hipmalloc": "flag",
    "pinned_use_cuda_host_register": "flag",
    "pinned_use_hip_host_register": "flag",
    "pinned_num_register_threads": "threads",
    "pinned_use_background_threads": "flag",
    "pinned_reserve_segment_size_mb": "mib",
    "pinned_free_catch_all": "flag",
    "pinned_max_round_threshold_mb": "mib",
    "pinned_max_cached_size_mb": "mib",
    "backend": "backend",
    "roundup_bypass_threshold_mb": "mib",
}
SAMPLES = {
    "mib": "64", "share": "0.5", "divisions": "4", "flag": "True", "reserve": "0.5", "classes": "[a:0.5]", "threads": "8",
    "backend": "native",
}
PIECES = [",", ":", "[", "]", ">", "0", "1", "2", "4", "64", "21", "True", "False", "0.5", "[1:2", ">:4]", "x", " ", "native"]
LETTERS = string.ascii_letters + string.digits + ",,::[]>  .-+_eExX\t\n\v\f\r" + "é√\x1c\x85\u2003"
# Texts that revealed the parsers' behaviour; each is tried first.
PICKED = [
    "backend:native,backend:cudaMallocAsync", "backend:cudaMallocAsync,backend:native", "backend:x,backend:cudaMallocAsync",
    "backend:cudaMallocAsync,foo", "backend::cudaMallocAsync", "backend: cudaMallocAsync", "backend:\tcudaMallocAsync",
    "backend,cudaMallocAsync", ":backend:cudaMallocAsync", "backend:cudaMallocAsync:x", "backend", "backend:", "backend:,x:1",
    "max_split_size_mb:64:backend:cudaMallocAsync", "roundup_power2_divisions:[1:2],backend:cudaMallocAsync",
    "expandable_segments:True,backend:cudaMallocAsync", "max_split_size_mb:20", "max_split_size_mb:21", "max_split_size_mb:-5",
    "max_split_size_mb:12abc", "max_split_size_mb:2147483648", "max_split_size_mb:64,", "max_split_size_mb:64,,", "foo", "foo,",
    "foo:", "foo:[a", "foo:1", "", ",", "roundup_power2_divisions:[4:2,8:4,64:8,>:1]", "roundup_power2_divisions:[>:4]",
    "roundup_power2_divisions:[]", "roundup_power2_divisions:[1:0,2:4]", "roundup_power2_divisions:[1:2,", "roundup_power2_divisions:0",
    "roundup_power2_divisions:3", "roundup_power2_divisions:[3:2]", "roundup_power2_divisions:[1:3]", "expandable_segments:true",
    "garbage_collection_threshold:nan", "garbage_collection_threshold:1", "garbage_collection_threshold:1e-310",
    "garbage_collection_threshold:0x1p-2", "max_split_size_mb:64,large_segment_size_mb:128", "large_segment_size_mb:10",
    "large_segment_size_mb:11,max_split_size_mb:11", "max_non_split_rounding_mb:20", "max_non_split_rounding_mb:64",
    "pinned_num_register_threads:3", "pinned_num_register_threads:256", "pinned_reserve_segment_size_mb:0",
    "expandable_segments_reserve:[,expandable_segments:True", "expandable_segments_reserve:0.5G",
    "expandable_segments_reserve_by_class:[a:0.5,b:x,c:1G]", "expandable_segments_reserve_by_class:[a", "max_split_size_mb=64",
]
DEFAULTS = (
    ("large_segment_size_mb:20", (2, 11)),
    ("per_process_memory_fraction:1", (2, 10)),
    ("expandable_segments:False", (2, 1)),
    ("release_lock_on_cudamalloc:False", (2, 2)),
    ("graph_capture_record_stream_reuse:False", (2, 9)),
    ("throw_on_cudamalloc_oom:False", (2, 12)),
)


def defaults(release):
    """A text that resets all settings but two to those of a new process."""
    return ",".join(text for text, since in DEFAULTS if release >= since)


def samples():
    """Each key with a value that is valid in every release with the key."""
    return {key: f"{key}:{SAMPLES[kind]}" for key, kind in KINDS.items()}


class Texts:
    """An endless supply of texts, determined by the random numbers."""

    def __init__(self, random, keys):
        """`keys` are the keys known to this torch."""
        self.random = random
        self.keys = keys
        self.picked = {way: list(reversed(PICKED)) for way in ("set", "environment", "import")}

    def next(self, way):
        """The next text for one of the ways: first the selected texts."""
        return self.picked[way].pop() if self.picked[way] else self.drawn()

    def drawn(self):
        """A text: mostly valid, mostly valid with a few changes, or garbage."""
        kind = self.random.random()
        if kind < 0.55:
            return self.valid()
        if kind < 0.94:
            return self.changed(self.valid())
        return self.garbage()

    def valid(self):
        """Pairs of key and value; now and then a value of another kind."""
        pairs = [self.pair() for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3, 4, 6]))]
        separator = self.random.choice([","] * 40 + [", ", " ,", ",,", ";", ":", ",\t"])
        return separator.join(pairs) + self.random.choice([""] * 8 + [",", " ", ",,"])

    def pair(self):
        """One key with its value."""
        key = self.random.choice(self.keys if self.random.random() < 0.98 else list(KINDS))
        kind = KINDS[key] if self.random.random() < 0.92 else self.random.choice(list(KINDS.values()))
        colon = self.random.choice([":"] * 40 + [": ", " :", "::", "=", ",", ""])
        return key + colon + getattr(self, kind)()

    def mib(self):
        """A number of MiB, near the limits of every release and of every integer."""
        near = [0, 1, 9, 10, 11, 12, 19, 20, 21, 22, 32, 100, 128, 256, 511, 512, 1 << 20]
        edges = [(1 << 31) - 1, 1 << 31, (1 << 32) + 21, (1 << 44) - 1, 1 << 44, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64]
        number = self.random.choice([self.random.choice(near)] * 6 + [self.random.randrange(5000), self.random.choice(edges)])
        return self.written(str(number))

    def written(self, number):
        """A number in C's syntax: signs, zeros, leading blanks, trailing garbage."""
        before = self.random.choice([""] * 20 + ["+", "-", "0", "00", " ", "\t", "--", "+-", "0x", "x", "."])
        behind = self.random.choice([""] * 20 + ["abc", ".5", "e3", "k", "\t", " 1", "-", "M", "_", "é"])
        return before + number + behind

    def share(self):
        """A number between 0 and 1, or any number in C's syntax."""
        usual = self.random.choice(["0.5", "0.8", "0.25", ".5", "1", "0", "1.0", "0.99", "5e-1", "0.5f", f"{self.random.random():.4f}"])
        odd = self.random.choice(
            ["nan", "NaN(1)", "inf", "-inf", "infinity", "0x.8", "0x1p-2", "0X1P-1", "0x", "0x.p1", "0xg", "1e-400", "1e400",
             "1e-310", "0x1p-1074", "0x1p-1075", "0x1.8p-1074", "1e", "1e+", "0.5e", "1.5.5", ".", "e5", "+.5", "-0", "-.5", "0e999999999999",
             "0x1.fffffffffffff8p-1", "0.9999999999999999999", "2.2250738585072014e-308", "1e-5000000000", "0x1p-99999999999",
             "0x0.00000000000000000001p79", "4.9e-324", "1e-323", "17976931348623158e292", "179769313486231590e291"]
        )
        text = usual if self.random.random() < 0.75 else odd
        return self.written(text) if self.random.random() < 0.2 else text

    def flag(self):
        """True, False, or nearly."""
        odd = ["true", "false", "1", "0", "TRUE", "yes", "True ", " False", "Tr ue", "True\t", "", "T", "Falsee"]
        return self.random.choice(["True", "False"] * 9 + [self.random.choice(odd)])

    def threads(self):
        """A number of threads."""
        return self.written(str(self.random.choice([1, 2, 4, 8, 16, 64, 128, 256, 3, 0, 1 << 33])))

    def backend(self):
        """A backend."""
        return self.random.choice(["native"] * 6 + ["cudaMallocAsync"] * 3 + ["hipMallocAsync", "Native", "", "x"])

    def divisions(self):
        """Divisions of powers of two: a number, or a list."""
        if self.random.random() < 0.3:
            return self.written(str(self.division()))
        pairs = [f"{self.boundary()}:{self.written(str(self.division()))}" for _ in range(self.random.choice([0, 1, 2, 3, 4, 5]))]
        if self.random.random() < 0.5:
            pairs.insert(self.random.choice([len(pairs)] * 4 + [0]), f">:{self.division()}")
        return "[" + self.random.choice([","] * 8 + [", ", ";"]).join(pairs) + self.random.choice(["]"] * 12 + [",]", "", "]]", ","])

    def division(self):
        """A number of divisions."""
        return self.random.choice([0, 1, 2, 4, 8, 16, 64, 1 << 20, 1 << 31, 1 << 63, 3, 6])

    def boundary(self):
        """The start of an interval, in MiB."""
        return self.written(str(self.random.choice([1 << self.random.randrange(18), 1 << self.random.randrange(66), 3, 0])))

    def reserve(self):
        """A reserve: a share, or a number of GiB."""
        usual = ["0.5", "1", "2", ".25", "40", "1.125", "5.", "1e3", "1e+2", "+3", "1e20"]
        odd = ["0", "-1", "0x1p3", "inf", "nan", "", "1e400", "1e-400", "1e", ".", "1.5.5", "0.5.", "1e-310"]
        number = self.random.choice(usual + odd)
        return number + self.random.choice(["", "", "G", "g", "GB", "k", "GG", " G", "\x0bG"])

    def classes(self):
        """Reserves by class."""
        pairs = [f"{self.random.choice('abcd')}:{self.reserve()}" for _ in range(self.random.randrange(4))]
        return self.random.choice(["["] * 9 + ["", "[["]) + ",".join(pairs) + self.random.choice(["]"] * 9 + ["", ",]", "]]"])

    def changed(self, text):
        """The text with a few characters removed, inserted or doubled, or with its end cut off."""
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            # Mostly in a value, since a changed key is unknown and ends the parse.
            values = [place for place in range(len(text)) if text[place] in ":[>" or text[place].isdigit()]
            at = self.random.choice(values) + 1 if values and self.random.random() < 0.7 else self.random.randrange(len(text) + 1)
            text = self.random.choice([
                lambda: text[:at] + text[at + 1 :],
                lambda: text[:at] + self.random.choice(LETTERS) + text[at:],
                lambda: text[:at] + self.random.choice(LETTERS) + text[at + 1 :],
                lambda: text[:at] + self.random.choice(PIECES) + text[at:],
                lambda: text[:at],
                lambda: text[:at] + text[at:][:8] + text[at:],
                lambda: text[:at] + ("\0" if self.random.random() < 0.1 else "\t") + text[at:],
            ])()
        return text

    def garbage(self):
        """Anything."""
        parts = self.random.choices(PIECES + list(KINDS), k=self.random.randrange(12))
        if self.random.random() < 0.2:
            parts += self.random.choices(LETTERS, k=self.random.randrange(20))
        return "".join(parts)
