import { toWords } from "./words.ts";

/** The payment modes whose words differ from their names in the API. */
const paymentModes: Record<string, string> = {
  restaurantCheck: "Meal voucher",
  amex: "American Express",
  credit: "Credit note",
  debt: "Customer account",
  custom: "Other",
  iZettle: "iZettle",
  uberEats: "Uber Eats",
  tablePayment: "Payment at the table",
};

const modeOf = (mode: string) => paymentModes[mode] ?? toWords(mode);

export const sharedTexts = {
  productName: "Pragma console",
  dialog: { cancel: "Cancel", done: "Done" },
  loading: { short: "Loading…", long: "Still loading. This takes longer than usual." },
  copy: {
    request: "Copy as curl",
    copied: "Copied",
    failed: "The browser does not allow copying here.",
  },
  theme: { label: "Color theme", system: "Theme of the device", light: "Light theme", dark: "Dark theme" },
  pages: {
    label: "Pages",
    range: (first: string, last: string, total: string) => `${first}–${last} of ${total}`,
    previous: "Previous",
    next: "Next",
  },
  table: {
    more: (columns: readonly string[]) => `More columns: ${columns.join(", ")}`,
    fewer: "Fewer columns",
  },
  filters: { label: "Filters", since: "From", until: "To", all: "All", remove: "Remove" },
  choice: {
    find: (label: string) => `Find ${label.toLowerCase()} by name`,
    noMatch: "No name contains this text.",
  },
  errors: {
    retry: "Try again",
    whatToDo: "What to do",
    atFields: "Correct the marked fields.",
    request: "Request",
    noResponse: "The API did not respond. Check your connection, and try again.",
    noInstallation: "The server of the console does not respond. Check your connection, and try again.",
    notFoundTitle: "Page not found",
    notFound: "There is no view at this address.",
    home: "Open Home",
    viewFailed: "This view cannot be shown",
  },
  connection: {
    lost: "The API does not respond.",
    whatToDo: (host: string) =>
      `What you see can be outdated. Check your connection, and whether the API at ${host} runs. The console tries again every few seconds.`,
  },
  signIn: {
    title: "Sign in with an API key",
    apiKey: "API key",
    hint: "The key stays in this browser tab, and is removed when you close the tab or sign out.",
    submit: "Sign in",
    checking: "Checking the key…",
    missing: "Enter an API key.",
    invalidCharacters: "An API key contains only letters, digits and signs without spaces. Copy it again.",
    checkKey: "The operator of the API can give you a new key.",
    signedOut: "You are signed out.",
    signedOutBecause: "You were signed out:",
    apiAt: "The API is at",
    howToGetKey: "How to get a key",
  },
  shell: {
    skip: "Skip to content",
    navigation: "Views",
    noLocation: "All locations",
    unnamedLocation: "Unnamed location",
    timeZone: (timeZone: string) => `All times are in the time zone ${timeZone}.`,
    needsLocation: "This view shows the data of one location. Sign in with the key of a location to see it.",
    needsScope: (scopes: readonly string[]) =>
      `This API key cannot read this view. It needs the scope ${scopes.join(" or ")}. The operator of the API can add it.`,
    expires: (at: string) => `This API key expires on ${at}. Ask the operator of the API for a new one before then.`,
  },
  key: {
    title: "API key",
    menu: (consumer: string) => `API key of ${consumer}`,
    consumer: "Consumer",
    prefix: "Key",
    location: "Location",
    timeZone: "Time zone",
    currency: "Currency",
    expires: "Expires",
    never: "Never",
    rateLimit: "Rate limit",
    perSecond: (perSecond: string, burst: string) => `${perSecond} requests per second, ${burst} at once`,
    scopes: "Scopes",
    api: "API",
    documentation: "Documentation",
    signOut: "Sign out",
  },
  measures: { sales: "Sales", orders: "Orders", guests: "Guests", averageOrder: "Average order" },
  payments: {
    modeOf,
    /** A payment method by the name that the point of sale gives it, and its mode. */
    method: (name: string | null, mode: string) =>
      name === null || name === modeOf(mode) ? modeOf(mode) : `${name} (${modeOf(mode)})`,
    types: {
      payment: "Payment",
      change: "Change",
      discount: "Discount",
      customerAccount: "Customer account",
      tip: "Tip",
    },
    statusOf: (status: string) => ({ pending: "Pending", cancelled: "Canceled" })[status] ?? toWords(status),
  },
};
