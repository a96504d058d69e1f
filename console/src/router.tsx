import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import {
  parseSearch,
  readChoice,
  readDay,
  readId,
  readPage,
  readSearch,
  readText,
  stringifySearch,
} from "./search-params.ts";
import { NotFound, ViewError } from "./shell/failed-view.tsx";
import { loadView } from "./shell/load-view.ts";
import { Shell } from "./shell/shell.tsx";
import {
  auditActions,
  auditActors,
  bulkExportData,
  deliveryStates,
  eReportKinds,
  metricComparisons,
  serviceNames,
  usageRanges,
  webhookEvents,
} from "./text/choices.ts";
import { Progress } from "./ui/loaded.tsx";

/** The component of a view, whose code is loaded when it is needed. */
const lazyView: typeof lazyRouteComponent = (importView, name) => lazyRouteComponent(() => loadView(importView), name);

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const getParentRoute = () => rootRoute;

/** The views. The code of each is loaded when it is first opened, or when the pointer is over a link to it. */
const routes = [
  createRoute({
    getParentRoute,
    path: "/",
    component: lazyView(() => import("./home/home-page.tsx"), "HomePage"),
  }),
  createRoute({
    getParentRoute,
    path: "/days",
    validateSearch: readSearch((search) => ({
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./days/days-page.tsx"), "DaysPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/days/$date",
    component: lazyView(() => import("./days/day-page.tsx"), "DayPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/reports",
    validateSearch: readSearch((search) => ({
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./reports/reports-page.tsx"), "ReportsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/reports/$id",
    component: lazyView(() => import("./reports/report-page.tsx"), "ReportPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/orders",
    validateSearch: readSearch((search) => ({
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      report: readId(search, "report"),
      find: readText(search, "find"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./orders/orders-page.tsx"), "OrdersPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/orders/$id",
    validateSearch: readSearch((search) => ({ live: readChoice(search, "live", ["true"]) })),
    component: lazyView(() => import("./orders/order-page.tsx"), "OrderPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/metrics",
    validateSearch: readSearch((search) => ({
      measure: readText(search, "measure"),
      by: readText(search, "by"),
      thenBy: readText(search, "thenBy"),
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      compare: readChoice(search, "compare", metricComparisons),
    })),
    component: lazyView(() => import("./metrics/metrics-page.tsx"), "MetricsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/requests",
    validateSearch: readSearch((search) => ({
      range: readChoice(search, "range", usageRanges),
      page: readPage(search),
    })),
    component: lazyView(() => import("./requests/requests-page.tsx"), "RequestsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/webhooks",
    component: lazyView(() => import("./webhooks/webhooks-page.tsx"), "WebhooksPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/webhooks/deliveries",
    validateSearch: readSearch((search) => ({
      webhook: readId(search, "webhook"),
      event: readChoice(search, "event", webhookEvents),
      state: readChoice(search, "state", deliveryStates),
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./webhooks/deliveries-page.tsx"), "DeliveriesPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/webhooks/deliveries/$id",
    component: lazyView(() => import("./webhooks/delivery-page.tsx"), "DeliveryPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/webhooks/$id",
    component: lazyView(() => import("./webhooks/webhook-page.tsx"), "WebhookPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/sandbox",
    validateSearch: readSearch((search) => ({ page: readPage(search) })),
    component: lazyView(() => import("./sandbox/sandbox-page.tsx"), "SandboxPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/operator",
    validateSearch: readSearch((search) => ({ sandboxes: readChoice(search, "sandboxes", ["included"]) })),
    component: lazyView(() => import("./operator/overview-page.tsx"), "OverviewPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/operator/locations",
    validateSearch: readSearch((search) => ({
      name: readText(search, "name"),
      range: readChoice(search, "range", usageRanges),
      sandboxes: readChoice(search, "sandboxes", ["included"]),
      page: readPage(search),
    })),
    component: lazyView(() => import("./operator/locations-page.tsx"), "LocationsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/operator/locations/$id",
    component: lazyView(() => import("./operator/location-page.tsx"), "LocationPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/operator/consumers",
    validateSearch: readSearch((search) => ({
      name: readText(search, "name"),
      range: readChoice(search, "range", usageRanges),
      sandboxes: readChoice(search, "sandboxes", ["included"]),
      page: readPage(search),
    })),
    component: lazyView(() => import("./operator/consumers-page.tsx"), "ConsumersPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/operator/dead-letters",
    validateSearch: readSearch((search) => ({
      service: readChoice(search, "service", serviceNames),
      page: readPage(search),
    })),
    component: lazyView(() => import("./operator/dead-letters-page.tsx"), "DeadLettersPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/operator/audit",
    validateSearch: readSearch((search) => ({
      action: readChoice(search, "action", auditActions),
      actor: readChoice(search, "actor", auditActors) ?? readId(search, "actor"),
      location: readId(search, "location"),
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./operator/audit-page.tsx"), "AuditPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/exports",
    validateSearch: readSearch((search) => ({
      start: readChoice(search, "start", bulkExportData),
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./exports/exports-page.tsx"), "ExportsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/exports/$id",
    component: lazyView(() => import("./exports/bulk-export-page.tsx"), "BulkExportPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/exports/accounting",
    validateSearch: readSearch((search) => ({
      since: readDay(search, "since"),
      until: readDay(search, "until"),
      page: readPage(search),
    })),
    component: lazyView(() => import("./exports/accounting-exports-page.tsx"), "AccountingExportsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/exports/accounting/$id",
    component: lazyView(() => import("./exports/accounting-export-page.tsx"), "AccountingExportPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/e-reporting",
    validateSearch: readSearch((search) => ({
      siren: readText(search, "siren"),
      kind: readChoice(search, "kind", eReportKinds),
      since: readDay(search, "since"),
      until: readDay(search, "until"),
    })),
    component: lazyView(() => import("./e-reports/e-reports-page.tsx"), "EReportsPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/e-reporting/$siren/$kind/$period",
    params: {
      parse: ({ siren, kind, period }) => ({ siren, kind: kind as (typeof eReportKinds)[number], period }),
      stringify: (params) => params,
    },
    component: lazyView(() => import("./e-reports/e-report-page.tsx"), "EReportPage"),
  }),
  createRoute({
    getParentRoute,
    path: "/keys",
    validateSearch: readSearch((search) => ({
      location: readId(search, "location"),
      create: readChoice(search, "create", ["key", "pointOfSaleKey"]),
      page: readPage(search),
    })),
    component: lazyView(() => import("./keys/keys-page.tsx"), "KeysPage"),
  }),
] as const;

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultPendingComponent: Progress,
  defaultErrorComponent: ViewError,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
