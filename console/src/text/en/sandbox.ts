import { plural } from "./words.ts";

export const sandboxTexts = {
  sandbox: {
    title: "Sandbox",
    summary: "A restaurant of your own with generated data, in which nothing can break",
    about: "About this sandbox",
    needsSandbox: "This view is for sandboxes. Sign in with the API key of a sandbox to see it.",
    expires: (at: string) => `This sandbox is removed on ${at}, with all its data. You can then create another one.`,
    filling: "Being filled",
    ready: "Ready",
    progress: (done: string, total: string) => `${done} of ${total} steps`,
    created: "Created",
    removed: "Removed",
    removedHint: "With all its data and its API keys.",
    location: "Location",
    guide: "Guide to sandboxes",
    events: {
      title: "Make something happen",
      hint: "Each event acts like a point of sale. Webhook messages about it arrive in the inbox.",
      types: {
        "order.call": { name: "Open an order", does: "A table orders. The order appears among the live orders." },
        "order.paid": { name: "Pay an order", does: "The order that you opened here, or a new one, is paid." },
        "order.canceled": { name: "Cancel an order", does: "The guests of that order leave without paying." },
        "order.transferred": {
          name: "Transfer an order",
          does: "That order is charged to a hotel room, so it is no sale here.",
        },
        "till.pushed": {
          name: "Close a shift",
          does: "The till of a shift is pushed. It pays the open orders of earlier events, and its report follows.",
        },
        "day.broken": {
          name: "Break a day",
          does: "The till of the newest of the thirty days is replaced by one with a problem.",
        },
        "delivery.failed": {
          name: "Let messages fail",
          does: "The inbox responds to the next messages with 500, so that they are sent again.",
        },
      },
      problem: "Problem",
      problems: {
        missing_shift: "A shift is missing",
        cash_difference: "The cash does not agree",
        unbalanced_till: "An order has no payment",
      },
      count: "Messages",
      results: {
        "order.call": "An order was opened.",
        "order.paid": "An order was paid.",
        "order.canceled": "An order was canceled.",
        "order.transferred": "An order was transferred to a room.",
        "till.pushed": "A till was pushed.",
        "day.broken": "A day was broken.",
        "delivery.failed": (count: number) =>
          count === 0
            ? "No further message fails."
            : plural(count, { one: "The next message fails.", other: "The next # messages fail." }),
      },
      openOrder: "Open the order",
      openDay: "Open the day",
      openReport: "Open its report",
      computing: "Its report is being computed…",
      openDeliveries: "Its deliveries",
      openAllDeliveries: "All deliveries",
    },
    days: {
      title: "Days with a problem on purpose",
      none: "No day has a problem.",
      day: "Day",
      problem: "What is wrong",
      check: "Check that fails",
      notPushed: "Not pushed yet",
      others: (count: number) =>
        plural(count, { one: "The other day is correct.", other: "The other # days are correct." }),
      all: "All days",
    },
    inbox: {
      title: "Inbox",
      hint: "Messages of the webhook that sends all events here, newest first. The last 100 are kept.",
      empty: "No message yet. Make something happen, and the message about it appears here.",
      emptyWhileFilling: "Messages arrive when the sandbox is filled.",
      noWebhook:
        "No webhook sends messages to this inbox: it was deleted, or this installation has no inboxes. Create an endpoint to receive messages.",
      failing: (count: number) => plural(count, { one: "The next message fails", other: "The next # messages fail" }),
      verified: "Signature valid",
      notVerified: "Signature not valid",
      responded: (status: number) => `Responded ${status}`,
      details: "Body and headers",
      body: "Body",
      copyBody: "Copy body",
      headers: "Headers",
      notUtf8: "The body is not valid UTF-8. Copy its bytes in Base64 with the request above.",
      unknownEvent: "Message",
    },
    create: {
      title: "No key yet?",
      hint: "A sandbox is a restaurant of your own with thirty days of tills, live orders and webhooks. It needs no account, and is removed after some days.",
      submit: "Create a sandbox",
      unreachable: (url: string) =>
        `A sandbox is created by the API at ${url}. If you run the installation yourself, check that it is started.`,
      creating: "Creating a sandbox…",
      created: (name: string, until: string) => `${name} is yours until ${until}.`,
      keyOnce: "This is its API key. It is shown only once, so store it now if you want to use it elsewhere.",
      copyKey: "Copy key",
      open: "Open the sandbox",
    },
  },
};
