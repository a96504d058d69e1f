import { type CurrentKey, hasAnyScope } from "../session/session.ts";
import { text } from "../text/text.ts";

interface NavigationItem {
  to:
    | "/"
    | "/days"
    | "/reports"
    | "/orders"
    | "/metrics"
    | "/requests"
    | "/exports"
    | "/e-reporting"
    | "/webhooks"
    | "/keys"
    | "/sandbox"
    | "/operator";
  label: string;
  /** The scopes of which a key needs one to see the view. Empty if every key may see it. */
  scopes: CurrentKey["scopes"];
  /** Whether the view shows the data of the key's location, which an operator's key lacks. */
  needsLocation: boolean;
  /** Whether the location must be that of a sandbox. */
  needsSandbox?: boolean;
}

/** The views in the navigation. A new view is added here and in `router.tsx`. */
export const navigationItems: NavigationItem[] = [
  { to: "/", label: text.home.title, scopes: ["reports:read", "orders:read"], needsLocation: true },
  { to: "/days", label: text.days.title, scopes: ["reports:read"], needsLocation: true },
  { to: "/reports", label: text.reports.title, scopes: ["reports:read"], needsLocation: true },
  { to: "/orders", label: text.orders.title, scopes: ["orders:read"], needsLocation: true },
  { to: "/metrics", label: text.metrics.title, scopes: ["reports:read"], needsLocation: true },
  {
    to: "/exports",
    label: text.exports.title,
    scopes: ["reports:read", "accounting:write"],
    needsLocation: true,
  },
  // A business with several locations needs a key without one.
  { to: "/e-reporting", label: text.eReports.title, scopes: ["accounting:write"], needsLocation: false },
  { to: "/requests", label: text.requests.title, scopes: ["usage:read"], needsLocation: false },
  { to: "/webhooks", label: text.webhooks.title, scopes: ["webhooks:write"], needsLocation: true },
  { to: "/keys", label: text.keys.title, scopes: [], needsLocation: false },
  { to: "/sandbox", label: text.sandbox.title, scopes: [], needsLocation: true, needsSandbox: true },
  { to: "/operator", label: text.operator.title, scopes: ["admin"], needsLocation: false },
];

/** Whether Home opens the view for operators, because the key has no location. */
export const opensOperatorView = (key: CurrentKey): boolean => key.location === null && hasAnyScope(key, "admin");

export const isAllowed = (key: CurrentKey, item: NavigationItem): boolean => findObstacle(key, item) === null;

/** Returns why a key may not see a view; null if it may. */
export function findObstacle(
  key: CurrentKey,
  { scopes, needsLocation, needsSandbox = false }: NavigationItem,
): string | null {
  if (needsSandbox && !key.location?.isSandbox) return text.sandbox.needsSandbox;
  if (needsLocation && key.location === null) return text.shell.needsLocation;
  return scopes.length === 0 || hasAnyScope(key, ...scopes) ? null : text.shell.needsScope(scopes);
}

/** Returns the view that contains the page at this path; undefined if there is none. */
export function findNavigationItem(pathname: string): NavigationItem | undefined {
  return navigationItems.find(({ to }) =>
    to === "/" ? pathname === "/" : pathname === to || pathname.startsWith(`${to}/`),
  );
}
