import dataclasses
import re
import tomllib
from ipaddress import ip_network
from pathlib import Path

import pytest

from sift import config
from sift.config import Allow
from sift.config.tables import TABLES
from sift.errors import ConfigError

EXAMPLE = Path(__file__).parents[2] / "sift.toml.example"
ENV = {"HOME": "/home/op"}


def read(text: str) -> config.Config:
    return config.parse(tomllib.loads(text), "/etc/sift/sift.toml", ENV)


def complaint(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_a_file_the_defaults_are_in_force() -> None:
    found = config.load(None, {"HOME": "/home/op", "SIFT_CONFIG": ""})

    assert found.path is None or found.path.endswith("sift.toml")
    assert found.gate.global_ == 8
    assert found.batch.ttl_s == 86400


def test_durations_and_sizes_read_with_units_and_bare() -> None:
    found = read('[fetch]\ntimeout = "1.5m"\nconnect_timeout = 3\nmax_bytes = "2KiB"\noutput_cap = 4096\n')

    assert (found.fetch.timeout_s, found.fetch.connect_timeout_s) == (90.0, 3)
    assert (found.fetch.max_bytes, found.fetch.output_cap_bytes) == (2048, 4096)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[batch]\nttl_s = 3", "[batch] unknown key ttl_s; known: jobs_per_caller, jobs_total, max_bytes, "),
        ("[bach]\nttl = 3", "unknown table [bach]; known: batch, cache"),
        ("[batch]\nttl = true", '[batch] ttl: found true; it takes a duration of at least 1s, such as "30s"'),
        ("[batch]\nttl = '1w'", "[batch] ttl: found '1w'"),
        ("[fetch]\ntimeout = 0", "[fetch] timeout: found 0; it takes a duration above"),
        ("[fetch]\ntimeout = nan", "[fetch] timeout: found nan"),
        ("[fetch]\ntimeout = inf", "[fetch] timeout: found inf"),
        ("[fetch]\nmax_bytes = '5MB'", "[fetch] max_bytes: found '5MB'; it takes a size"),
        ("[fetch]\nca_file = '/no/such'", "[fetch] ca_file: found '/no/such'; it takes the path of a readable bundle"),
        ('[fetch]\nuser_agent = "a\\r\\nX: y"', "[fetch] user_agent"),
        ("[gate]\nglobal = 0", "[gate] global: found 0; it takes a whole number from 1"),
        ("[gate]\nglobal = 8.0", "[gate] global: found 8.0"),
        ("[gate]\nreserve = 8", "[gate] reserve: found 8; it takes less than [gate] global (8)"),
        ("[server]\nthreads = 19", "[server] threads: found 19; it takes at least 20"),
        ("[server]\nport = 70000", "[server] port: found 70000"),
        ("[guard]\nports = []", "[guard] ports: found []"),
        ("[guard]\nports = [80, 80]", "[guard] ports"),
        ("[guard]\nallow = ['10.0.0.1/8']", "[guard] allow"),
        ("[guard]\nallow = ['fd00::/8:80']", "[guard] allow"),
        ("[guard]\nallow = ['wiki.internal:0']", "[guard] allow"),
        ("[guard]\nallow = ['1.2.3']", "[guard] allow"),
        ("[digest]\nllm_url = 'ftp://x'", "[digest] llm_url"),
        ("[digest]\nllm_url = 'http://u:pw@x/'", "[digest] llm_url"),
        ("[recover]\nurl = 'https://u:pw@x/'", "[recover] url"),
        (
            "[fetch]\nca_file = '/etc/passwd'",
            "[fetch] ca_file: found '/etc/passwd'; it takes the path of a readable bundle",
        ),
        ("x = 1", "unknown key x outside of any table; tables: batch, cache"),
        ("[digest]\nllm_url = 'http://x'", "[digest] llm_model: missing"),
        ("[log]\nlevel = 'loud'", '[log] level: found \'loud\'; it takes one of "debug", "info"'),
        ("server = 3", "[server] must be a table"),
        ("[caller]\nname = 'a'", "[[caller]]"),
        ("[[caller]]\nname = 'a'", "[[caller]] 1 token_sha256: missing"),
        ("[[caller]]\nname = 'A'\ntoken_sha256 = ''", "[[caller]] 1 name: found 'A'"),
    ],
)
def test_a_mistake_is_one_line_that_names_file_table_key_and_what_it_takes(text: str, says: str) -> None:
    assert complaint(text).startswith("sift.toml: ")
    assert says in complaint(text)


def test_a_token_put_in_place_of_its_digest_is_not_repeated() -> None:
    assert "s3cret" not in complaint("[[caller]]\nname = 'a'\ntoken_sha256 = 's3cret'")


def test_two_callers_cannot_share_a_name_or_a_token() -> None:
    a, b = "a" * 64, "b" * 64

    assert "there twice" in complaint(
        f"[[caller]]\nname='x'\ntoken_sha256='{a}'\n[[caller]]\nname='x'\ntoken_sha256='{b}'"
    )
    assert "there twice" in complaint(
        f"[[caller]]\nname='x'\ntoken_sha256='{a}'\n[[caller]]\nname='y'\ntoken_sha256='{a.upper()}'"
    )


@pytest.mark.parametrize(
    ("entry", "allow"),
    [
        ("10.1.2.0/24", Allow(ip_network("10.1.2.0/24"), None, None)),
        ("10.1.2.3:8080", Allow(ip_network("10.1.2.3/32"), None, 8080)),
        ("fd00::/8", Allow(ip_network("fd00::/8"), None, None)),
        ("[fd00::/8]:8080", Allow(ip_network("fd00::/8"), None, 8080)),
        ("Wiki.Internal.", Allow(None, "wiki.internal", None)),
        ("wiki.internal:8080", Allow(None, "wiki.internal", 8080)),
        ("localhost", Allow(None, "localhost", None)),
    ],
)
def test_allow_entries_read_in_every_form(entry: str, allow: Allow) -> None:
    assert read(f"[guard]\nallow = ['{entry}']").guard.allow == (allow,)


def test_what_is_shown_reads_back_to_the_same() -> None:
    found = read("[guard]\nallow = ['[fd00::/8]:8080', 'a.b:1']\n[fetch]\ntimeout = '1500ms'\nmax_bytes = 1000\n")

    assert dataclasses.replace(config.parse(tomllib.loads(config.show(found)), found.path, ENV)) == found


def test_no_query_of_a_services_url_is_shown() -> None:
    found = read("[digest]\nllm_url = 'https://x/v1?key=sekrit'\nllm_model = 'm'\n")

    assert "sekrit" not in config.show(found)


def test_no_digest_is_shown() -> None:
    digest = "c" * 64

    assert digest not in config.show(read(f"[[caller]]\nname = 'a'\ntoken_sha256 = '{digest}'"))


def test_the_example_holds_every_key_with_its_default_and_a_line_about_it() -> None:
    lines = EXAMPLE.read_text().splitlines()
    shown = "\n".join(re.sub(r"^#(?=[a-z_]+ =)", "", line) for line in lines)
    document = tomllib.loads(shown)
    for table, kind in TABLES.items():
        assert list(document[table]) == [f.metadata["key"] for f in dataclasses.fields(kind)], table
    active = config.parse(tomllib.loads("\n".join(lines)), None, ENV)
    assert active == config.parse({}, None, ENV)
    for line in lines:
        if re.match(r"#?[a-z_]+ =", line):
            assert re.search(r"  # .{10,}", line), line


def test_the_data_dir_follows_the_environment() -> None:
    assert config.default_data_dir({"STATE_DIRECTORY": "/var/lib/sift:/x", "HOME": "/h"}) == "/var/lib/sift"
    assert config.default_data_dir({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == "/s/sift"
    assert config.default_data_dir({"HOME": "/h"}) == "/h/.local/state/sift"


def test_a_file_that_is_named_and_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(str(tmp_path / "none.toml"), ENV)


@pytest.mark.parametrize(("content", "says"), [(b"[a", "not valid TOML at"), (b"\xff", "not UTF-8")])
def test_a_broken_file_says_where(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "sift.toml"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match=says):
        config.load(None, {"SIFT_CONFIG": str(path)})


def test_a_reload_names_what_needs_a_restart() -> None:
    old = read("")
    new = read(
        "[gate]\nglobal = 4\n[batch]\njobs_total = 2\n[log]\nlevel = 'debug'\nformat = 'json'\n[server]\nport = 1"
    )

    assert config.need_restart(old, new) == ["[server] port", "[log] format"]


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_only_loopback_hosts_need_no_callers(host: str, loopback: bool) -> None:
    assert config.is_loopback(host) is loopback
