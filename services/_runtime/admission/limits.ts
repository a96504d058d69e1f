import type { AdmissionLimit, SenderError } from "./admission.ts";
import { isContended } from "./contention.ts";

/**
 * What a location can hold at a time in one process. A limit without a number gets it from an environment variable or
 * from the memory of the process. Limits of rates (`token-bucket.ts`) and quotas (`daily-quota.ts`) are in this folder,
 * too; those of single requests and of what is stored are with the routes and schemas. `docs/architecture.md` names
 * what is divided otherwise.
 *
 * `npm run openapi` writes the limits with `docs` to `docs-portal/docs/rate-limits.mdx`.
 */
export interface LocationLimit extends AdmissionLimit {
  /** The process in which each instance has this limit: the gateway, one service, or `service` for each of them. */
  process: string;
  docs?: LocationLimitDocs;
}

export interface LocationLimitDocs {
  /** What is held, in the plural. */
  what: string;
  /** Completes "in each", if `process` does not. */
  where?: string;
  /** Who holds it; `location` by default. */
  sender?: "API key" | "IP address";
  /** Texts for numbers that the machine or an environment variable determines. */
  perSender?: string;
  perProcess?: string;
  /** What happens beyond the limit, if further requests neither wait nor get `senderError`. */
  exceeded?: string;
  variables?: string[];
}

const whileBusy = "while the process is busy and other locations also send requests";
const tooManyLargeReads = "The server is creating too many large responses. Retry shortly.";
const mebibyte = 1024 * 1024;

const createWaitingError = (state: string): SenderError => ({
  detail: ({ maxWaitingPerSender }) =>
    `More than ${maxWaitingPerSender} requests of this location are ${state}. Send fewer requests at the same time.`,
  limit: { name: "waiting_requests", unit: "requests", isOfWaiting: true },
});

/** What all locations share: the event loop, the database connections, and the capacity of PostgreSQL for queries. */
const requests: Omit<LocationLimit, "docs"> = {
  process: "service",
  perSender: () => (isContended() ? 1 : 3),
  maxWaitingPerSender: 250,
  senderError: createWaitingError("waiting"),
};

const forwardedRequests = {
  process: "gateway",
  maxWaitingPerSender: 250,
  maxWaiting: 1_000,
  senderError: createWaitingError("waiting for this service"),
  overloadedDetail: "Too many requests are waiting for this service. Retry shortly.",
} satisfies LocationLimit;

const createChangeWaitError = (owner: string): SenderError => ({
  code: "too_many_waiting_requests",
  detail: ({ perSender }) =>
    `At most ${perSender} requests of ${owner} can wait at a time. Retry later, or without \`wait\`.`,
  limit: { name: "waiting_change_requests", unit: "requests" },
});

export const locationLimits = {
  connections: {
    process: "gateway",
    docs: {
      what: "Connections, if the installation trusts no proxy",
      ...{ sender: "IP address", perSender: "1,000", perProcess: "20,000", exceeded: "connection closed" },
      variables: ["MAX_CONNECTIONS_PER_ADDRESS", "MAX_CONNECTIONS"],
    },
  },
  forwardedRequests: {
    ...forwardedRequests,
    ...{ perSender: 64, perProcess: 256 },
    docs: { what: "Requests to a service in another process, except streams and requests that wait for changes" },
  },
  /** Limited further than other requests, because each occupies a connection to the service for as long as the client sends. */
  forwardedUploads: {
    ...forwardedRequests,
    ...{ perSender: 32, perProcess: 192 },
    docs: { what: "Uploads of bodies larger than 64 KB among these requests" },
  },
  forwardedUploadsOfKey: {
    process: "gateway",
    perSender: 16,
    docs: { what: "Uploads of bodies larger than 64 KB among these requests", sender: "API key" },
  },
  /** The bodies of these requests also have at most 64 MB together, see `connection-wait.ts`. */
  requestsWithoutConnection: {
    process: "gateway",
    ...{ perSender: 250, perProcess: 5_000 },
    docs: {
      what: "Requests that wait while their service accepts no connections, for up to 30 seconds",
      exceeded: "`service_unavailable`",
    },
  },
  /** Requests that are sent concurrently after such a wait, so that a service is not flooded. */
  resumedRequests: { process: "gateway", perSender: 32, perProcess: 128 },
  mcpRequests: {
    ...requests,
    process: "gateway",
    docs: { what: "Requests to the MCP server, until their tools run", perSender: `3; 1 ${whileBusy}` },
  },
  toolCalls: {
    process: "gateway",
    ...{ perSender: 4, perProcess: 32, maxWaitingPerSender: 32, maxWaiting: 256 },
    senderError: {
      detail: ({ perSender, maxWaitingPerSender }) =>
        `Too many tool calls at a time: ${perSender} of this location run, and ${maxWaitingPerSender} wait. Send fewer at a time.`,
    },
    overloadedDetail: "The server runs too many tool calls at a time.",
    docs: { what: "Tool calls of [assistants](/docs/assistants)" },
  },
  /** A parsed response needs several times the memory of its text. */
  toolResponses: {
    process: "gateway",
    ...{ perSender: 1, perProcess: 2 },
    docs: { what: "Responses of more than 128 KB that tools read" },
  },
  /** They have connections of their own, on which more of them cost less (`Database.lookUp`). */
  lookups: {
    ...requests,
    perSender: () => (isContended() ? 1 : 16),
    docs: {
      what: "Requests for one report or order by its ID",
      perSender: `16; 1 ${whileBusy}`,
    },
  },
  reads: {
    ...requests,
    docs: {
      what: "Other reads, except requests that wait for changes",
      where: "process, for all services",
      perSender: `3; 1 ${whileBusy}`,
    },
  },
  /** Each service has its own, because writes can wait for other systems, such as webhook endpoints. */
  writes: { ...requests, docs: { what: "Changes", perSender: `3; 1 ${whileBusy}` } },
  /** A body that arrives slowly gives up its turn, because it takes little of the event loop. */
  largeBodies: {
    ...requests,
    perSender: () => (isContended() ? 1 : Number.POSITIVE_INFINITY),
    docs: {
      what: "Bodies of 1 MB or more, compressed bodies and bodies of unknown size that are read, for up to 2 seconds each",
      where: "process, for all services",
      perSender: `1 ${whileBusy}`,
    },
  },
  /** The numbers depend on the memory of the process, see `request-body-memory.ts`. */
  bodyBytes: {
    process: "service",
    senderError: {
      code: "overloaded",
      detail: ({ perSender }) =>
        `This location is sending more than ${Math.floor(perSender / mebibyte)} MB of request bodies at the same time. Retry shortly.`,
      limit: { name: "concurrent_body_bytes_per_location", unit: "bytes" },
    },
    overloadedDetail: "The server is receiving too many large request bodies at the same time. Retry shortly.",
    docs: {
      what: "Request bodies in memory. One tenth of the memory for all locations is reserved for bodies of up to 1 MB",
      perSender: "a quarter of that of all locations, at least 50 MB",
      perProcess:
        "a quarter of the memory of the process or half of its heap, whichever is less, but at least 56 MB and at most 256 MB",
      variables: ["REQUEST_BODY_MEMORY_MB"],
    },
  },
  unreadResponseBytes: {
    process: "service",
    canExceedAlone: true,
    senderError: {
      detail: ({ perSender }) =>
        `This location has reached its limit of ${perSender} bytes of unread responses. Read these responses first, or send fewer requests at the same time.`,
      limit: { name: "unread_response_bytes", unit: "bytes" },
    },
    overloadedDetail: "The server has too many unread responses in memory. Retry shortly.",
    docs: {
      what: "Responses larger than 256 KB that clients have not read",
      ...{ perSender: "32 MB", perProcess: "128 MB" },
      variables: ["UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION", "UNREAD_RESPONSE_MAX_BYTES"],
    },
  },
  /** While a large body is read, it uses several times its size: as stored, decompressed, and as a copy. */
  largeReads: {
    process: "service",
    ...{ perSender: 1, maxWaitingPerSender: 16, maxWaitMs: 2_000 },
    senderError: {
      detail: ({ maxWaitingPerSender, maxWaitSeconds }) =>
        `This location is requesting too many large responses at the same time. One is created at a time, and up to ${maxWaitingPerSender} requests wait for up to ${maxWaitSeconds} seconds. Send fewer requests at the same time.`,
      limit: { name: "concurrent_large_reads", unit: "requests", isOfWaiting: true },
    },
    overloadedDetail: tooManyLargeReads,
    docs: {
      what: "Responses larger than 256 KB for single resources that are created",
      perProcess: "2, for all services of a process",
    },
  },
  /** The large reads of all locations. It is separate, because a location can also wait for its unread responses. */
  largeReadsOfProcess: {
    process: "service",
    perProcess: 2,
    overloadedDetail: tooManyLargeReads,
  },
  /** Large request bodies that are parsed in threads, so that a location can occupy only one thread. */
  parsedBodies: { process: "service", perSender: 1 },
  catalogLists: { process: "catalog", perSender: 1 },
  metricsQueries: {
    process: "reporting",
    ...{ perSender: 2, maxWaitingPerSender: 16, maxWaitMs: 2_000 },
    senderError: {
      detail: ({ perSender, maxWaitingPerSender, maxWaitSeconds }) =>
        `This location is sending too many queries of metrics and e-reports at the same time. ${perSender} run at a time, and up to ${maxWaitingPerSender} wait for up to ${maxWaitSeconds} seconds. Send fewer queries at the same time.`,
      limit: { name: "concurrent_metrics", unit: "requests" },
    },
    overloadedDetail: "The server runs too many queries of metrics and e-reports. Retry shortly.",
    docs: {
      what: "Queries of `GET /v1/metrics` and of e-reports that run",
      perProcess: "3",
      variables: ["METRICS_QUERY_CONCURRENCY"],
    },
  },
  /** Reads of chunks of files, so that the downloads of a location do not slow down those of others. */
  exportFileReads: { process: "reporting", perSender: 1 },
  /** Blocks of earlier days that are read and decompressed. A block has up to 2 MB of text. */
  packedBlocks: { process: "reporting", perSender: 4 },
  /** The thread pool of libuv has four threads, so more blocks at a time would only use more memory. */
  decodedBlocks: { process: "reporting", perProcess: 4 },
  /** So that dry runs leave threads to pushed tills. The sender of a dry run that waits longer has stopped waiting. */
  calculatedDryRuns: { process: "reporting", perSender: 1, perProcess: 1, maxWaitMs: 15_000 },
  tillDryRuns: {
    process: "till-ingest",
    perSender: 10,
    senderError: {
      detail: ({ perSender }) =>
        `This location already has ${perSender} unfinished pushes with \`dryRun=true\`. Send the next one after a response.`,
      limit: { name: "concurrent_till_dry_runs", unit: "requests" },
    },
    docs: { what: "Unfinished pushes with [`dryRun=true`](/docs/push-a-till#dry-run)" },
  },
  liveOrderStreams: {
    process: "order-live",
    perSender: 500,
    senderError: {
      code: "too_many_streams",
      detail: ({ perSender }) =>
        `This location has ${perSender} open streams, which is the limit. Close unused streams.`,
      retryAfterSeconds: 10,
    },
    docs: { what: "Open streams of live orders" },
  },
  /** Streams that have a batch in memory, from its read until the client has read it. */
  streamBatches: { process: "order-live", perSender: 8 },
  /** As many as of requests, so that streams that open at once do not occupy all database connections. */
  streamReads: { process: "order-live", perSender: 3 },
  changeWaitsOfKey: {
    process: "webhooks",
    perSender: 10,
    senderError: createChangeWaitError("an API key"),
    docs: { what: "Requests that wait for changes", sender: "API key" },
  },
  changeWaits: {
    process: "webhooks",
    ...{ perSender: 100, perProcess: 1_000 },
    senderError: createChangeWaitError("all API keys of a location together"),
    overloadedDetail: "Too many requests of all locations are waiting for changes. Retry later, or without `wait`.",
    docs: { what: "Requests that wait for changes, of all API keys together" },
  },
} satisfies Record<string, LocationLimit>;
