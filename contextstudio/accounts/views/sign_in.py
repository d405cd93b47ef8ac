"""Signing in, by name and password or by a one-time link, and signing out."""

from django import forms
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from contextstudio.accounts.domain.errors import DomainError, Unauthenticated
from contextstudio.accounts.models import User
from contextstudio.accounts.sign_in import links, passwords, tries

_KNOWN_BROWSER = "contextstudio_browser"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignInForm(forms.Form):
    """A name and a password."""

    username = forms.CharField(
        max_length=150,
        strip=False,
        widget=forms.TextInput({"autocomplete": "username", "autocapitalize": "none"}),
    )
    password = forms.CharField(
        max_length=1000,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in page: name and password, for those who have no link at hand."""
    form = SignInForm(request.POST or None)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            user = passwords.sign_in(
                request,
                **form.cleaned_data,
                **place_of(request),
            )
        except DomainError as refusal:
            form.add_error(None, refusal.message)
            status = refusal.status
        else:
            return let_in(request, user)
    return _sign_in_page(request, form, status)


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_with_link(request: HttpRequest, token: str) -> HttpResponse:
    """The page of a one-time link, whose button signs in.

    Merely opening a link, as chat previews and mail scanners do, doesn't use it up. A used link
    redirects those who are signed in already.
    """
    try:
        if request.method == "POST":
            return let_in(request, links.redeem_sign_in_link(token))
        user = links.open_sign_in_link(token)
    except Unauthenticated as refusal:
        if request.user.is_authenticated:
            return redirect("/")
        form = SignInForm({})
        form.errors.clear()
        form.add_error(
            None,
            f'{refusal.message} "manage.py sign_in_link" prints a new one.',
        )
        return _sign_in_page(request, form, 410)
    return render(request, "accounts/sign_in_link.html", {"name": str(user)})


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("accounts:sign_in")


def place_of(request: HttpRequest) -> dict[str, str]:
    """Where somebody tries a password, as `passwords.check_password` counts the tries."""
    return {
        "address": request.META.get("REMOTE_ADDR", ""),
        "browser": request.COOKIES.get(_KNOWN_BROWSER, ""),
    }


def let_in(request: HttpRequest, user: User) -> HttpResponse:
    """Sign a person in, and redirect to where they were."""
    login(request, user, backend=_BACKEND)
    target = request.POST.get("next") or request.GET.get("next") or "/"
    hosts = {request.get_host()}
    safe = url_has_allowed_host_and_scheme(target, hosts, request.is_secure())
    answer = redirect(target if safe else "/")
    answer.set_cookie(
        _KNOWN_BROWSER,
        tries.known_browser(user),
        max_age=tries.KNOWN_FOR,
        path="/sign-in",
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return answer


def _sign_in_page(request: HttpRequest, form: SignInForm, status: int) -> HttpResponse:
    target = request.POST.get("next") or request.GET.get("next") or ""
    context = {"form": form, "next": target}
    return render(request, "accounts/sign_in.html", context, status=status)
