"""Django's settings: one file for development and production, controlled by the environment.

`make run` needs nothing set. In production (`CONTEXTSTUDIO_PRODUCTION=1`) SECRET_KEY and
ALLOWED_HOSTS must be given, cookies need HTTPS and static files must have been collected.
"""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from . import environment, sqlite

sqlite.use_bundled_library()
sqlite.bind_simple_values_directly()
environment.refuse_unknown()

BASE_DIR = Path(__file__).resolve().parent.parent
PRODUCTION = environment.flag("CONTEXTSTUDIO_PRODUCTION")
DEBUG = environment.flag("CONTEXTSTUDIO_DEBUG")
_own = str(BASE_DIR / ".data")
DATA_DIR = Path(environment.text("CONTEXTSTUDIO_DATA_DIR", _own)).resolve()
BLOB_DIR = DATA_DIR / "blobs"

# Address and identity

HOST = environment.text("HOST", "127.0.0.1")
PORT = environment.number("PORT", 8000, most=65_535)
ALLOWED_HOSTS = environment.host_names("ALLOWED_HOSTS")
# Addresses of reverse proxies that `serve` believes about clients and HTTPS; uvicorn's own name.
FORWARDED_ALLOW_IPS = environment.text("FORWARDED_ALLOW_IPS")
SECRET_KEY = environment.text("SECRET_KEY")
if PRODUCTION and not (SECRET_KEY and ALLOWED_HOSTS):
    raise ImproperlyConfigured(
        "In production SECRET_KEY and ALLOWED_HOSTS must be set."
    )
if PRODUCTION and environment.is_weak(SECRET_KEY):
    raise ImproperlyConfigured(
        "SECRET_KEY is too weak: in production it needs 50 characters or more, drawn at "
        "random, such as `openssl rand -hex 48` prints."
    )
if not SECRET_KEY:
    try:
        SECRET_KEY = environment.secret_key(DATA_DIR)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {DATA_DIR} can't be used: {error.strerror}. "
            "Set CONTEXTSTUDIO_DATA_DIR to a folder that can be written."
        ) from error
if not ALLOWED_HOSTS:
    ALLOWED_HOSTS = environment.own_names(HOST)
ALLOW_PRIVATE_UPSTREAMS = environment.flag("CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS")
# Seconds that an upstream may be silent: reasoning models answer after minutes.
UPSTREAM_TIMEOUT = environment.number("CONTEXTSTUDIO_UPSTREAM_TIMEOUT", 600, least=1)
# Variables as providers name them, such as OPENAI_API_KEY: for summaries, in every project.
PROVIDER_VARIABLES = environment.ending_in("_API_KEY", "_API_BASE")
# Megabytes that a process may use to cache what it computed from sessions.
CACHE_MB = environment.number("CONTEXTSTUDIO_CACHE_MB", 512)
SKIP_SECRETS = environment.flag("CONTEXTSTUDIO_SKIP_SECRETS")
MEANING_SEARCH = environment.flag("CONTEXTSTUDIO_MEANING_SEARCH")

# Components

INSTALLED_APPS = [
    "contextstudio.accounts",
    "threads",
    "operations",
    "archive",
    "contextstudio",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "ninja",
    "template_partials",
]
# Middleware for the headers of every response, including those sent before Django.
ANSWER_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "contextstudio.web.middleware.count_and_forbid_caching",
]
MIDDLEWARE = [
    *ANSWER_MIDDLEWARE,
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "contextstudio.web.middleware.RefusalMiddleware",
]
ROOT_URLCONF = "contextstudio.urls"
ASGI_APPLICATION = "contextstudio.asgi.application"
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# Database, cache, live updates and jobs

_database = environment.database(environment.text("DATABASE_URL"), DATA_DIR)
ON_SQLITE = _database["ENGINE"] == environment.SQLITE
if ON_SQLITE:
    _database["OPTIONS"] = sqlite.options(sqlite.version_in_use())
    _database["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
DATABASES = {"default": _database}

REDIS_URL = environment.redis("REDIS_URL")
_cache: dict[str, object] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
_layer: dict[str, object] = {"BACKEND": "channels.layers.InMemoryChannelLayer"}
if REDIS_URL:
    _cache = {
        "BACKEND": "contextstudio.web.cache.FailSafeCache",
        "LOCATION": REDIS_URL,
        # Seconds: a Redis that accepts commands and never answers must not delay any page.
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
    _layer = {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # No timeout by redis-py: it would give up on a page on which nothing happens, and it
        # applies timeouts with asyncio.wait_for, which up to Python 3.11 may swallow a
        # cancellation: the listener of a page that was left would then query Redis forever.
        "CONFIG": {
            "hosts": [
                {
                    "address": REDIS_URL,
                    "socket_timeout": None,
                    "socket_connect_timeout": 2,
                    "socket_keepalive": True,
                }
            ]
        },
    }
CACHES = {"default": _cache}
CHANNEL_LAYERS = {"default": _layer}

EXECUTOR = environment.choice("CONTEXTSTUDIO_EXECUTOR", ("embedded", "celery"))
if EXECUTOR == "celery" and not REDIS_URL:
    raise ImproperlyConfigured("CONTEXTSTUDIO_EXECUTOR=celery needs REDIS_URL.")
JOB_LEASE_SECONDS = 30

# Static files

STATIC_URL = "/static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("pictures", BASE_DIR / "docs" / "pictures"),  # of the help pages
]
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "contextstudio.web.static_files.VersionedStorage"},
}

# Security. What is strict here applies to pages; contextstudio.web.guard covers all connections.

SESSION_COOKIE_NAME = "contextstudio_session"
CSRF_COOKIE_NAME = "contextstudio_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
CSRF_FAILURE_VIEW = "contextstudio.web.middleware.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Whether a request came by HTTPS is taken from the server (uvicorn's --proxy-headers, for the named
# proxies): a header from anybody else is ignored.
if PRODUCTION:
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
    # The proxy redirects to HTTPS and knows its other names; health checks come without HTTPS.
    SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Requests per key and minute, in each process; 0 for no limit.
REQUESTS_PER_MINUTE = environment.number("CONTEXTSTUDIO_REQUESTS_PER_MINUTE", 6000)
# Days after which a finished job is removed; 0 for never.
JOBS_KEPT_DAYS = environment.number("CONTEXTSTUDIO_JOBS_KEPT_DAYS", 30, most=36_500)
# An agent posts whole conversations; files are streamed to disk and not counted here.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024
# A folder of transcripts is sent in one request; its files are written as they arrive, and closed.
DATA_UPLOAD_MAX_NUMBER_FILES = 50_000
FILE_UPLOAD_HANDLERS = ["threads.store.blobs.Receiver"]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "report-uri": ["/csp-report"],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "contextstudio.web.log_lines.LineFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {"once": {"()": "contextstudio.web.log_lines.WarnOnceAMinute"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["once"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        # A page that doesn't exist or isn't allowed is not an event of the server.
        "django.request": {
            "handlers": ["stderr"],
            "level": "ERROR",
            "propagate": False,
        },
    },
}
