"""Addresses that an upstream must not have, in spellings that attackers use."""

HOSTS = (
    # This machine
    *("127.0.0.1", "127.0.0.2", "127.255.255.254", "127.1.1.1", "0.0.0.0", "0.1.2.3"),
    *("localhost", "LOCALHOST", "localhost.", "api.localhost", "localhost.localdomain"),
    *(
        "127.1",
        "127.0.1",
        "0",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0x7f.1",
        "2130706433",
    ),
    *("017700000001", "0177.0.0.1", "0177.0.0.01", "00000177.0.0.1", "127.0.0.01"),
    *("127.000.000.001", "0x7f.0.0.1", "127.0.0.0x1", "4294967295", "3232235521"),
    # Private networks
    *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("192.168.255.255", "100.64.0.1", "100.127.255.254", "010.0.0.1", "0xa.0.0.1"),
    *("012.0.0.1", "192.168.1", "10.1", "167772161", "0xc0a80001", "0300.0250.0.1"),
    # Link-local addresses, and metadata services of clouds
    *("169.254.169.254", "169.254.170.2", "169.254.0.1", "169.254.169.253"),
    *("100.100.100.200", "168.63.129.16", "192.0.0.192", "2852039166", "0xa9fea9fe"),
    *(
        "0251.0376.0251.0376",
        "169.254.43518",
        "169.16689662",
        "metadata.google.internal",
    ),
    # Reserved: protocols, documentation, benchmarks, relays, multicast, broadcast
    *("192.0.0.8", "192.0.0.1", "192.0.2.1", "198.51.100.7", "203.0.113.9"),
    *("198.18.0.1", "198.19.255.254", "192.88.99.1", "224.0.0.1", "239.255.255.250"),
    *("240.0.0.1", "250.1.2.3", "255.255.255.255"),
    # IPv6: this machine, link-local, private
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[fe80::1]", "[febf::1]"),
    *("[fec0::1]", "[fc00::1]", "[fd00::1]", "[fdff:ffff::1]", "[fd00:ec2::254]"),
    *("[fd20:ce::254]", "[ff02::1]", "[ff0e::1]", "[100::1]", "[5f00::1]"),
    # IPv4 embedded in IPv6
    *(
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:a9fe:a9fe]",
    ),
    *(
        "[::ffff:169.254.169.254]",
        "[::ffff:0:127.0.0.1]",
        "[::127.0.0.1]",
        "[::7f00:1]",
    ),
    *(
        "[64:ff9b::7f00:1]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
    ),
    *("[2002:a9fe:a9fe::1]", "[2002:0a00:0001::]", "[2001::1]", "[2001:0:7f00:1::]"),
    *("[2001:db8::1]", "[2001:10::1]", "[2001:20::1]", "[3fff::1]", "[4000::1]"),
    *("[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "[::ffff:192.168.0.1]"),
)
"""As they may appear in a URL. Names resolve to this machine, or don't resolve."""

URLS = (
    # Other schemes and other ports
    *(
        "http://api.example.com",
        "https://api.example.com:22",
        "https://api.example.com:8080",
    ),
    *(
        "https://api.example.com:0",
        "https://api.example.com:65536",
        "https://api.example.com:99999",
    ),
    *(
        "ftp://api.example.com",
        "file:///etc/passwd",
        "gopher://api.example.com",
        "//api.example.com",
    ),
    *(
        "unix:///var/run/docker.sock",
        "https+unix://socket",
        "javascript:alert(1)",
        "data:,x",
    ),
    # Userinfo and the host that is really meant
    *(
        "https://user@127.0.0.1",
        "https://api.example.com@127.0.0.1",
        "https://a:b@api.example.com",
    ),
    *("https://127.0.0.1#@api.example.com", "https://127.0.0.1?@api.example.com"),
    *(
        "https://api.example.com\\@127.0.0.1",
        "https:\\\\127.0.0.1",
        "https:///127.0.0.1",
    ),
    *("https://127.0.0.1\\.example.com", "https://api.example.com%40127.0.0.1"),
    # What parsers disagree about
    *(
        "https://127.0.0.1%09/",
        "https://127.0.0.1%2f.example.com",
        "https://%31%32%37.0.0.1",
    ),
    *(
        "https://\t127.0.0.1",
        "https://127.0.0.1\n.example.com",
        "https://api.exam\rple.com",
    ),
    *(
        "https://①②⑦.⓪.⓪.①",
        "https://127。0。0。1",
        "https://１２７.0.0.1",
        "https://ⓛocalhost",
    ),
    *("https://[::1%25eth0]", "https://[fe80::1%25lo]", "https://[::1", "https://::1"),
    *(
        "https://[::1]:80:443",
        "https://[127.0.0.1]",
        "https://[localhost]",
        "https://[]",
    ),
    *(
        "https://",
        "https://.",
        "https://-",
        "https://..",
        "https://a..b",
        "https://-a.example.com",
    ),
    *(
        "https://api.example.com/../v1",
        "https://api.example.com/v1/..",
        "https://api.example.com/%2e%2e",
    ),
    *(
        "https://api.example.com/v1?to=x",
        "https://api.example.com/v1#x",
        "https://api.example.com//x",
    ),
    *(
        "https://api.example.com /",
        " ",
        "",
        "api.example.com",
        "https://api.example.com\x00",
    ),
    *(
        "https://*.example.com",
        "https://api.example.com:443:80",
        "https://api.example.com:-1",
    ),
)

PLAIN = tuple(f"https://{host}" for host in HOSTS)
EVERY = PLAIN + URLS

ADDRESSES = tuple(
    host.strip("[]")
    for host in HOSTS
    if ":" in host
    or (host.count(".") == 3 and not host.startswith("0") and "x" not in host)
)
"""IP addresses that a resolver might return for any name; some have no canonical spelling."""
