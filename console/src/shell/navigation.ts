import { type CurrentKey, hasAnyScope } from "../session/session.ts";
import { text } from "../text/text.ts";

interface NavigationItem {
  to: "/" | "/days" | "/reports" | "/orders" | "/metrics" | "/requests" | "/webhooks";
  label: string;
  /** The scopes of which a key needs one to see the view. */
  scopes: CurrentKey["scopes"];
  /** Whether the view shows the data of the key's location, which an operator's key lacks. */
  needsLocation: boolean;
}

/** The views in the navigation. A new view is added here and in `router.tsx`. */
export const navigationItems: NavigationItem[] = [
  { to: "/", label: text.home.title, scopes: ["reports:read", "orders:read"], needsLocation: true },
  { to: "/days", label: text.days.title, scopes: ["reports:read"], needsLocation: true },
  { to: "/reports", label: text.reports.title, scopes: ["reports:read"], needsLocation: true },
  { to: "/orders", label: text.orders.title, scopes: ["orders:read"], needsLocation: true },
  { to: "/metrics", label: text.metrics.title, scopes: ["reports:read"], needsLocation: true },
  { to: "/requests", label: text.requests.title, scopes: ["usage:read"], needsLocation: false },
  { to: "/webhooks", label: text.webhooks.title, scopes: ["webhooks:write"], needsLocation: true },
];

export const isAllowed = (key: CurrentKey, { scopes, needsLocation }: NavigationItem): boolean =>
  hasAnyScope(key, ...scopes) && (!needsLocation || key.location !== null);

/** Returns the view that contains the page at this path; undefined if there is none. */
export function findNavigationItem(pathname: string): NavigationItem | undefined {
  return navigationItems.find(({ to }) =>
    to === "/" ? pathname === "/" : pathname === to || pathname.startsWith(`${to}/`),
  );
}
