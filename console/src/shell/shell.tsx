import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useFormats, useSession } from "../session/session-context.tsx";
import { text } from "../text/text.ts";
import { Brand } from "../ui/brand.tsx";
import { LinkRow } from "../ui/link-row.tsx";
import { Page } from "../ui/page.tsx";
import { ConnectionNotice } from "./connection-notice.tsx";
import { KeyMenu } from "./key-menu.tsx";
import { findNavigationItem, findObstacle, isAllowed, navigationItems, opensOperatorView } from "./navigation.ts";
import { ThemeSwitch } from "./theme-switch.tsx";

/** The frame of all views: the location, the navigation and the menu of the key. */
export function Shell() {
  const { key, isNew } = useSession();
  const { timeZone } = useFormats();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirstView = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new view gets the focus, so that it is announced.
  useEffect(() => {
    // After the page was loaded, the focus is where the browser puts it.
    if (isNew || !isFirstView.current) main.current?.focus({ preventScroll: true });
    isFirstView.current = false;
  }, [pathname]);
  const item = findNavigationItem(pathname);
  const isRedirected = item?.to === "/" && opensOperatorView(key);
  const obstacle = item && !isRedirected ? findObstacle(key, item) : null;
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        {text.shell.skip}
      </a>
      <header className="top-bar">
        <Brand />
        <span className="location-name">
          {key.location ? (key.location.name ?? text.shell.unnamedLocation) : text.shell.noLocation}
        </span>
        <ThemeSwitch />
        <KeyMenu />
      </header>
      <LinkRow className="navigation" label={text.shell.navigation}>
        {navigationItems
          .filter((each) => isAllowed(key, each))
          .map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              className="navigation-link"
              activeOptions={{ exact: to === "/", includeSearch: false }}
            >
              {label}
            </Link>
          ))}
      </LinkRow>
      <main id="main" ref={main} tabIndex={-1}>
        <ConnectionNotice />
        <ExpiryNotice />
        {item && obstacle !== null ? (
          <Page title={item.label}>
            <p className="notice notice-warning" role="alert">
              {obstacle}
            </p>
          </Page>
        ) : (
          <Outlet />
        )}
        <p className="time-zone">{text.shell.timeZone(timeZone)}</p>
      </main>
    </div>
  );
}

const expiryNoticeMs = 14 * 86_400_000;
/** A sandbox lives only some weeks, which its own view shows. */
const sandboxExpiryNoticeMs = 2 * 86_400_000;

function ExpiryNotice() {
  const { expiresAt, location } = useSession().key;
  const { dateTime } = useFormats();
  const isSandbox = location?.isSandbox ?? false;
  const noticeMs = isSandbox ? sandboxExpiryNoticeMs : expiryNoticeMs;
  if (expiresAt === null || Date.parse(expiresAt) - Date.now() > noticeMs) return null;
  const describe = isSandbox ? text.sandbox.expires : text.shell.expires;
  return <p className="notice notice-warning">{describe(dateTime(expiresAt))}</p>;
}
