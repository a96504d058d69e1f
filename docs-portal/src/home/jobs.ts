/** The jobs for which integrators use the API, each with its guide. `icon` is the path of a 24 by 24 line icon. */
export const integratorJobs = [
  {
    title: "Push a till",
    text: "Send the orders, payments and financial movements of a shift when the shift is closed.",
    to: "/docs/push-a-till",
    icon: "M12 16V4m0 0L7.5 8.5M12 4l4.5 4.5M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4",
  },
  {
    title: "Sync a catalog",
    text: "Read or replace the products, prices, taxes and payment methods of a location.",
    to: "/docs/catalog-sync",
    icon: "M4 9a8 8 0 0 1 14.2-3.5L20 8m0-4v4h-4M20 15a8 8 0 0 1-14.2 3.5L4 16m0 4v-4h4",
  },
  {
    title: "Read totals by payment method",
    text: "Read how much guests paid by card, in cash and with vouchers, and compare the totals with the sales.",
    to: "/docs/totals-by-payment-method",
    icon: "M3 7a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2zm0 3h18M7 15h4",
  },
  {
    title: "Read a month of orders",
    text: "Read all orders of a month page by page, and write them to a CSV file.",
    to: "/docs/month-of-orders",
    icon: "M5 5h14a1 1 0 0 1 1 1v14H4V6a1 1 0 0 1 1-1zm-1 5h16M8 3v4m8-4v4M8 14h3m2 0h3m-8 3h3",
  },
  {
    title: "Export accounting entries",
    text: "Create the journal entries of each report for INEXWEB, FULLL or ISACOMPTA.",
    to: "/docs/accounting-exports",
    icon: "M6 3h9l4 4v14H6zM15 3v4h4M9 12h7M9 16h7",
  },
  {
    title: "Track stock from live orders",
    text: "Follow orders during the shift, and subtract the sold products from stock.",
    to: "/docs/stock-from-live-orders",
    icon: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  },
  {
    title: "Receive webhooks",
    text: "Receive a signed message when a report is available or when an order is paid.",
    to: "/docs/webhook-receivers",
    icon: "M6 9a6 6 0 1 1 12 0c0 6 2.5 7 2.5 7h-17S6 15 6 9m4 11a2.2 2.2 0 0 0 4 0",
  },
  {
    title: "Fix errors",
    text: "Look up every error code with its cause and its fix, and learn which requests to send again.",
    to: "/docs/errors",
    icon: "M12 4l9 16H3zM12 10v5m0 2.5v.5",
  },
  {
    title: "Go to production",
    text: "Check your keys, retries, limits, webhooks and monitoring before you serve real restaurants.",
    to: "/docs/production",
    icon: "M4 12.5l5 5L20 6.5",
  },
];
