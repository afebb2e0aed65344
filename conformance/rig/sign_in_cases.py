"""One function a case: what operators and developers do who have accounts in Keycloak, and what its administrator does to them. Each leaves the
realm as it was, as far as later cases need it."""

import time

from .keycloak import mapper_named
from .single_sign_on import CLIENT_SECRET, COMMANDS, CONSOLE, KEY_SET_PAUSE_S, NEW_SIGN_IN, PORTAL, eventually, expect


def session(tab):
    """Status and document of the console's session in a browser."""
    return tab.ask("/tyk/console/api/session")


def expect_session(tab, user, role, scope=None):
    status, document = session(tab)
    told = (status, document and document.get("user"), document and document.get("role"), document and document.get("scope"))
    expect(told == (200, f"keycloak:{user}@example.com", role, scope), f"the session is {told}")


def expect_refused(rig, name, why):
    """Somebody is known there, and is not let in; the log of changes says why."""
    tab = rig.browser.tab()
    tab.open(f"{rig.url}/tyk/console/")
    rig.sign_in(tab, name)
    tab.see("You are not let in")
    eventually("the log of changes says why", lambda: why in rig.control("GET", "/tyk/list/changes?q=sign_in_failed")[1])


def groups_are_roles(rig):
    expect_session(rig.console("ann"), "ann", "admin")
    eve = rig.console("eve")
    expect_session(eve, "eve", "editor", {"tags": ["team-a"]})
    _, apis = eve.ask("/tyk/console/api/apis")
    expect([api["api_id"] for api in apis] == ["own"], f"eve sees {apis}")


def roles_of_a_client_are_roles(rig):
    expect_session(rig.console("rob"), "rob", "viewer")


def whom_no_rule_fits_is_not_let_in(rig):
    expect_refused(rig, "joe", "no rule lets")


def groups_of_userinfo_count(rig):
    place, mapper = mapper_named(rig.keycloak, CONSOLE, "groups")
    rig.keycloak.of("PUT", place, {**mapper, "config": {**mapper["config"], "id.token.claim": "false"}})
    try:
        expect_session(rig.console("ann"), "ann", "admin")
    finally:
        rig.keycloak.of("PUT", place, mapper)


def signing_out_ends_the_session_there(rig):
    tab = rig.console("sue")
    tab.click("button", "Sign out")
    tab.wait(NEW_SIGN_IN)
    expect(rig.sessions("sue") == [], "Keycloak's session goes on")
    tab.click("a", "Sign in with Keycloak")
    tab.wait("document.querySelector('#password')")


def a_session_that_the_administrator_ends_is_over(rig):
    tabs = [rig.console("sue"), rig.console("sue")]
    ended, _ = rig.sessions("sue")
    rig.keycloak.of("DELETE", f"/sessions/{ended['id']}")
    eventually("one of two sessions is over", lambda: sorted(session(tab)[0] for tab in tabs) == [200, 401])
    other = rig.console("ann")
    rig.keycloak.of("POST", f"/users/{rig.keycloak.user('sue')}/logout")
    eventually("all sessions of the person are over", lambda: [session(tab)[0] for tab in tabs] == [401, 401])
    expect_session(other, "ann", "admin")
    expect_session(rig.console("sue"), "sue", "admin")


def a_disabled_person_is_out_when_signed_out(rig):
    tab = rig.console("bob")
    rig.keycloak.change_user("bob", enabled=False)
    try:
        rig.keycloak.of("POST", f"/users/{rig.keycloak.user('bob')}/logout")
        eventually("the session is over", lambda: session(tab)[0] == 401)
        tab.open(f"{rig.url}/tyk/console/")
        rig.sign_in(tab, "bob")
        tab.see("Account is disabled")
    finally:
        rig.keycloak.change_user("bob", enabled=True)


def changed_groups_count_from_the_next_sign_in(rig):
    tab = rig.console("bob")
    place = f"/users/{rig.keycloak.user('bob')}/groups/{rig.keycloak.group('platform')}"
    rig.keycloak.of("PUT", place)
    expect_session(tab, "bob", "editor", {"tags": ["team-a"]})
    expect_session(rig.console("bob"), "bob", "admin")
    rig.keycloak.of("DELETE", place)
    expect_session(rig.console("bob"), "bob", "editor", {"tags": ["team-a"]})


def commands_sign_in_with_a_browser(rig):
    rig.login("ann")
    code, told = rig.command("ann", "apis list")
    expect(code == 0 and "own" in told and "other" in told, told)


def commands_sign_in_with_a_code(rig):
    rig.login("eve", "login --device")
    code, told = rig.command("eve", "apis list")
    expect(code == 0 and "own" in told and "other" not in told, told)


def commands_renew_with_the_groups_of_now(rig):
    rig.login("eve")
    place = f"/users/{rig.keycloak.user('eve')}/groups/{rig.keycloak.group('platform')}"
    rig.keycloak.of("PUT", place)
    rig.let_token_end("eve")
    code, told = rig.command("eve", "apis list")
    expect(code == 0 and "other" in told, told)
    rig.keycloak.of("DELETE", place)
    rig.let_token_end("eve")
    code, told = rig.command("eve", "apis list")
    expect(code == 0 and "own" in told and "other" not in told, told)


def commands_end_with_the_session(rig):
    rig.login("eve")
    rig.keycloak.of("POST", f"/users/{rig.keycloak.user('eve')}/logout")
    for _ in ("the identity token", "a new one"):
        code, told = rig.command("eve", "apis list")
        expect(code == 4 and "has ended" in told and "tollgate login" in told, told)
        rig.let_token_end("eve")


def commands_of_a_disabled_person_end_with_their_token(rig):
    rig.login("sue")
    rig.keycloak.change_user("sue", enabled=False)
    try:
        expect(rig.command("sue", "apis list")[0] == 0, "the token is refused")
        rig.let_token_end("sue")
        code, told = rig.command("sue", "apis list")
        expect(code == 4 and "has ended" in told, told)
    finally:
        rig.keycloak.change_user("sue", enabled=True)


def logout_ends_the_session_of_commands(rig):
    rig.login("ann")
    before = rig.sessions("ann", COMMANDS)
    code, told = rig.command("ann", "logout")
    expect(code == 0 and "was not told" not in told, told)
    expect(len(rig.sessions("ann", COMMANDS)) == len(before) - 1, "Keycloak's session goes on")
    expect(rig.command("ann", "apis list")[0] == 4, "a command goes on")


def new_signing_keys_are_taken(rig):
    rig.login("bob")
    keycloak, realm, made = rig.keycloak, rig.keycloak.of("GET", "")["id"], []
    try:
        for algorithm, kind in (("RS256", "rsa"), ("ES256", "ecdsa"), ("EdDSA", "eddsa")):
            key = {"name": algorithm, "providerId": f"{kind}-generated", "providerType": "org.keycloak.keys.KeyProvider", "parentId": realm}
            made.append(keycloak.of("POST", "/components", {**key, "config": {"priority": [str(1000 + len(made))]}}))
            keycloak.of("PUT", "", {"defaultSignatureAlgorithm": algorithm})
            time.sleep(KEY_SET_PAUSE_S)
            expect_session(rig.console("ann"), "ann", "admin")
            rig.let_token_end("bob")
            code, told = rig.command("bob", "apis list")
            expect(code == 0, f"{algorithm}: {told}")
    finally:
        keycloak.of("PUT", "", {"defaultSignatureAlgorithm": "RS256"})
        for key in made:
            keycloak.of("DELETE", f"/components/{key}")
    eventually("a token of a removed key is refused", lambda: rig.command("bob", "apis list")[0] == 4)
    rig.let_token_end("bob")
    code, told = rig.command("bob", "apis list")
    expect(code == 0, told)


def developers_have_an_account_from_the_first_sign_in(rig):
    for _ in ("first", "second"):
        tab = rig.portal("ann")
        tab.see("Ann Example")
        tab.click("button", "Sign out")
        tab.see("Sign in")
        tab.wait("!document.body.innerText.includes('Ann Example')")
        eventually("Keycloak's session is over", lambda: rig.sessions("ann", PORTAL) == [])
    developers = rig.control("GET", "/tyk/portal/developers")[1]
    expect(developers.count("ann@example.com") == 1, developers)


def developers_need_a_mail_address_that_is_verified_and_allowed(rig):
    try:
        rig.keycloak.change_user("eve", emailVerified=False)
        rig.portal("eve").see("does not say that it has verified a mail address")
        rig.keycloak.change_user("eve", emailVerified=True, email="eve@example.org")
        rig.portal("eve").see("yours is not one of them")
    finally:
        rig.keycloak.change_user("eve", emailVerified=True, email="eve@example.com")


def a_secret_that_was_changed_there_is_named_in_the_log(rig):
    place = f"/clients/{rig.keycloak.client(CONSOLE)}"
    document = rig.keycloak.of("GET", place)
    rig.keycloak.of("PUT", place, {**document, "secret": "another one"})
    try:
        expect_refused(rig, "ann", "unauthorized_client")
    finally:
        rig.keycloak.of("PUT", place, {**document, "secret": CLIENT_SECRET})
    expect_session(rig.console("ann"), "ann", "admin")


def without_keycloak_sessions_and_the_secret_go_on(rig):
    tab = rig.console("ann")
    rig.processes.stop("keycloak")
    eventually("Keycloak is gone", lambda: rig.keycloak.ask("/realms/master")[0] == 0)
    expect_session(tab, "ann", "admin")
    expect(rig.control("GET", "/tyk/apis")[0] == 200, "the control secret is refused")
    new = rig.browser.tab()
    new.open(f"{rig.url}/tyk/console/login/keycloak/callback?code=x&state=y")
    new.see("You are not let in")


# The last one ends Keycloak.
CASES = [
    groups_are_roles, roles_of_a_client_are_roles, whom_no_rule_fits_is_not_let_in, groups_of_userinfo_count, signing_out_ends_the_session_there,
    a_session_that_the_administrator_ends_is_over, a_disabled_person_is_out_when_signed_out, changed_groups_count_from_the_next_sign_in,
    commands_sign_in_with_a_browser, commands_sign_in_with_a_code, commands_renew_with_the_groups_of_now, commands_end_with_the_session,
    commands_of_a_disabled_person_end_with_their_token, logout_ends_the_session_of_commands, new_signing_keys_are_taken,
    developers_have_an_account_from_the_first_sign_in, developers_need_a_mail_address_that_is_verified_and_allowed,
    a_secret_that_was_changed_there_is_named_in_the_log, without_keycloak_sessions_and_the_secret_go_on,
]
