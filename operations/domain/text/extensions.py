"""File extensions: they decide whether a word with a dot is a file name.

`a.py` is one, `self.id` isn't. Extensions that are just as often attributes in code (`key`,
`map`, `env`) are not included.
"""

_DOCUMENTS = (
    "adoc avro bib cfg conf csv dat db diff doc docx eml epub feather geojson gpx "
    "h5 hdf5 ics ini ipynb json json5 jsonc jsonl jsonld kml lock log md mdc mdx "
    "ndjson npy npz ods odt orc parquet patch pcap pdf pem pickle pkl plist po pot "
    "ppt pptx properties proto pub rst rtf sqlite sqlite3 srt svg tex toml tsv txt "
    "vtt xls xlsx xml xsd xsl xslt yaml yml"
)
_PROGRAMS = (
    "ada adb ads asm asp aspx astro awk bas bash bat bzl c cc cfm cjs cl clj cljc "
    "cljs cls cmake cmd coffee cpp cr cs cshtml csproj css csx cts cu cuh cxx dart "
    "dockerfile dpr edn ejs el elm erb erl ex exs f77 f90 f95 fish fs fsi fsproj "
    "fsx gd gemspec glsl go gql gradle graphql groovy gvy h haml hbs hcl heex hh "
    "hlsl hpp hrl hs htm html hxx idl inc inl java jbuilder jinja jinja2 jl js jsp "
    "jsx kt kts lean lisp ll lua m make makefile metal mjs mk ml mli mm mod mts nim "
    "nims nix pas php phtml pl plx pm podspec pp ps1 psd1 psm1 pug purs py pyi pyw "
    "pyx qml r razor rb re rei rkt rmd rs sass sbt scala scm scss sh shader slim "
    "sln smk sol sql styl sum sv svelte svh swift tcl tf tfvars thrift tmpl ts tsx "
    "twig vala vb vbproj vbs vhd vhdl vim vue wasm wat wgsl wsdl xaml xib yang zig "
    "zsh"
)
_BINARIES = (
    "7z aac apk avi bak bin bmp br bz2 cab crt csr dcm deb dll dmg dump dylib ear "
    "egg eot exe fig flac gif glb gltf gz heic ico img iso jar jpeg jpg ko lib m4a "
    "mkv mov mp3 mp4 mpeg mpg msi nupkg obj ogg orig otf p12 pfx pid png psd pyc "
    "pyd rar rpm safetensors so sock stl swo swp tar tgz tif tiff tmp ttf war wav "
    "webm webp whl wmv woff woff2 xcf xpi xyz xz zip zst"
)
EXTENSIONS = frozenset(f"{_DOCUMENTS} {_PROGRAMS} {_BINARIES}".split())
