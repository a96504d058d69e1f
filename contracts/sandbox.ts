import { array, object, z } from "zod";
import { dayCheckDescriptions } from "./day.ts";
import { enumOf, field, requestBodySchema } from "./fields.ts";

const locationExample = {
  id: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
  name: "L'Ardoise",
  timezone: "Europe/Paris",
  currencyCode: "EUR",
};

const SandboxLocation = object({
  id: field.uuid("ID of the location"),
  name: field.text("Name of the location"),
  timezone: field.text("Time zone of the location"),
  currencyCode: field.text("Currency of the location"),
}).meta({ id: "SandboxLocation", description: "The location of a sandbox, which no other API key can access" });

const SandboxLink = object({
  title: field.text("What the link leads to"),
  url: field.url("URL of the request, which needs the sandbox's API key"),
}).meta({ id: "SandboxLink", description: "A request to send next" });

export const CreatedSandbox = object({
  apiKey: field.text("The API key of the sandbox, which is returned only once"),
  location: SandboxLocation,
  expiresAt: field.dateTime("When the API key stops working, and the sandbox is removed with all its data"),
  links: array(SandboxLink).describe("Requests to send next"),
}).meta({
  id: "CreatedSandbox",
  description: "A new sandbox. Its days are added in the background, the newest day first.",
  example: {
    apiKey: "pragma_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE",
    location: locationExample,
    expiresAt: "2026-06-12T10:17:19.000Z",
    links: [{ title: "The sandbox and its days", url: "http://localhost:4000/v1/sandboxes/current" }],
  },
});

/** What can be wrong with a day, with what its reconciliation checks then find. */
export const sandboxProblemDescriptions = {
  cash_difference: "The counted cash is 5.00 more than expected",
  missing_shift: "A report number is missing, because the till of a shift was never pushed",
  unbalanced_till: "A paid order has no payment, so the sales exceed the payments",
} as const;

export type SandboxProblem = keyof typeof sandboxProblemDescriptions;

const problem = enumOf(sandboxProblemDescriptions);

export const Sandbox = object({
  location: SandboxLocation,
  createdAt: field.dateTime("When the sandbox was created"),
  expiresAt: field.dateTime("When the API key stops working, and the sandbox is removed with all its data"),
  state: z.enum(["filling", "ready"]).meta({
    description:
      "`filling`: the days, the catalog and the webhook are being added, the newest day first. `ready`: everything was added.",
  }),
  progress: object({
    done: field.count("Number of steps that are done"),
    total: field.count("Number of all steps"),
  }).describe("Progress of the filling"),
  days: array(
    object({
      day: field.date("Business day"),
      tillId: field.uuid("ID of the till of the day"),
      isPushed: field.boolean("Whether the till was pushed. Its report follows within seconds."),
      problem: object({
        name: problem.describe("Name of the problem"),
        description: field.text("What is wrong with the till, in one sentence"),
        check: enumOf(dayCheckDescriptions).describe("Reconciliation check that fails because of it"),
      })
        .nullable()
        .describe("What is wrong with the till on purpose; null for a correct till"),
    }).meta({ id: "SandboxDay", description: "A day of a sandbox, and what is wrong with it on purpose" }),
  ).describe("The thirty days before the sandbox was created, newest first"),
  webhookId: field.nullableUuid(
    "ID of the webhook that sends all events to the inbox of the sandbox; null until it is created at the end of the filling, or if this installation has no inboxes",
  ),
  failingDeliveries: field.count("Number of further webhook messages to which the inbox responds with status 500"),
}).meta({
  id: "Sandbox",
  description: "A sandbox: its state, its days and when it is removed",
  example: {
    location: locationExample,
    createdAt: "2026-05-29T10:17:19.000Z",
    expiresAt: "2026-06-12T10:17:19.000Z",
    state: "filling",
    progress: { done: 3, total: 32 },
    days: [
      {
        day: "2026-05-28",
        tillId: "0c6f2f1e-7d5a-4a3e-9f7f-1f6d2f1d7b44",
        isPushed: true,
        problem: {
          name: "cash_difference",
          description: `${sandboxProblemDescriptions.cash_difference}.`,
          check: "cash",
        },
      },
    ],
    webhookId: "5b1f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    failingDeliveries: 0,
  },
});

export type Sandbox = z.infer<typeof Sandbox>;

const sandboxEventDescriptions = {
  "till.pushed":
    "Pushes the till of a shift that has just ended. It contains the open orders of earlier events, which it pays. Sends `report.finalized`.",
  "order.call": "Opens an order. Sends `order.call`.",
  "order.paid": "Pays an order. Sends `order.paid`.",
  "order.canceled": "Cancels an order. Sends `order.canceled`.",
  "order.transferred": "Transfers an order to a hotel room. Sends `order.transferred`.",
  "day.broken":
    "Replaces the till of the newest of the thirty days by one with a problem. Sends `report.replaced`, and `day.incomplete` if the problem is `missing_shift`.",
  "delivery.failed":
    "Lets the inbox respond to the next webhook messages with status 500, so that they are sent again.",
} as const;

const maxFailingDeliveries = 20;

export const CreateSandboxEventRequest = requestBodySchema({
  type: enumOf(sandboxEventDescriptions).meta({
    description: `What happens:\n${Object.entries(sandboxEventDescriptions)
      .map(([name, text]) => `- \`${name}\`: ${text}`)
      .join("\n")}`,
  }),
  orderId: z.guid().optional().meta({
    description:
      "ID of the open live order that is paid, canceled or transferred. By default, a new order is opened first. Used only by `order.paid`, `order.canceled` and `order.transferred`.",
  }),
  problem: problem.default("missing_shift").describe("Problem of the till. Used only by `day.broken`."),
  count: z
    .int()
    .min(0)
    .max(maxFailingDeliveries)
    .default(1)
    .describe("Number of messages. 0 ends the failures. Used only by `delivery.failed`."),
}).meta({
  id: "CreateSandboxEvent",
  description: "Something that should happen in a sandbox now",
  example: { type: "order.paid" },
});

export type CreateSandboxEventRequest = z.output<typeof CreateSandboxEventRequest>;

export const SandboxEvent = object({
  type: enumOf(sandboxEventDescriptions).describe("What happened"),
  tillId: field.nullableUuid("ID of the till that was pushed or replaced; null otherwise"),
  orderId: field.nullableUuid("ID of the order that was opened or changed; null otherwise"),
  day: field.nullableDate("Business day of the till that was pushed or replaced; null otherwise"),
  failingDeliveries: field.nullableCount(
    "Number of messages to which the inbox will respond with status 500; null for other events",
  ),
  links: array(SandboxLink).describe("Requests that show what happened"),
}).meta({
  id: "SandboxEvent",
  description: "What happened in a sandbox, with the IDs of what changed",
  example: {
    ...{ type: "order.paid", tillId: null, orderId: "9d2f0a4e-1b3c-4d5e-8f60-718293a4b5c6", day: null },
    failingDeliveries: null,
    links: [
      {
        title: "The order",
        url: "http://localhost:4000/v1/orders-live/9d2f0a4e-1b3c-4d5e-8f60-718293a4b5c6",
      },
    ],
  },
});

export type SandboxEvent = z.infer<typeof SandboxEvent>;

/** The consumer of the API keys with which the service sandboxes acts in sandboxes. */
export const sandboxServiceConsumerName = "Sandbox service";

/** The maximum number of messages that the inbox of a sandbox stores. */
export const maxSandboxMessages = 100;

export const SandboxMessage = object({
  id: field.uuid("ID of the entry in the inbox"),
  receivedAt: field.dateTime("When the message was received"),
  headers: z.record(z.string(), z.string()).describe("Headers of the message, with names in lower case"),
  body: field.text("Body of the message as text. Bytes that are not valid UTF-8 are replaced by U+FFFD"),
  bodyBase64: field.nullableText(
    "Body in Base64 if it is not valid UTF-8; null if `body` is exactly what was received",
  ),
  isVerified: field.boolean(
    "Whether the message is signed with the secret that the recipient got when the sandbox was filled, as the client package verifies it",
  ),
  verificationError: field.nullableText("Why the signature is not valid; null if it is valid"),
  responseStatus: field.integer("Status with which the inbox responded: 204, or 500 if the delivery should fail"),
}).meta({
  id: "SandboxMessage",
  description: "A webhook message that the inbox of a sandbox received",
  example: {
    id: "2f6d2f1d-7b44-4c6f-9f1e-7d5a4a3e9f7f",
    receivedAt: "2026-05-29T10:17:25.000Z",
    headers: { "webhook-id": "msg_1", "webhook-timestamp": "1780049845", "webhook-signature": "v1,K5oZfzN95Z9U" },
    body: '{"meta":{"event":"order.paid"},"data":{}}',
    bodyBase64: null,
    isVerified: true,
    verificationError: null,
    responseStatus: 204,
  },
});

export type SandboxMessage = z.infer<typeof SandboxMessage>;
