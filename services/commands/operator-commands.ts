import { parseArgs } from "node:util";
import { request } from "undici";
import { z } from "zod";
import { createProgressLog } from "./progress-log.ts";

export const opsCommandUsage = `dead-letters list                        list events whose processing failed, with the reason
dead-letters retry <event id>... | --all process these events again now
events in-flight                         list events that processes have received and not handled yet, the oldest first
tills unfinished [--seconds <n>]         list tills that have no result after n seconds (default 300)
tills retry <till id>... | --all         add these tills to the queue again now
tills reprocess <till id>...             compute the reports and orders of these tills again from their bodies
packed-tills check                       read all packed tills, and list those whose object is missing or damaged
erase --location <id> --orders <id,...>  request the erasure of the personal data of these orders in all services
erase --location <id> --before <day>     the same for all orders of tills pushed before this day
location count <location id>             count the rows of a location in all tables
location remove <location id> --yes <id or name>  permanently delete a location with all its data, and print a receipt
sandboxes remove                           permanently delete the sandboxes that have ended, with SANDBOX_REMOVAL=command

OPS_URLS lists the ops ports, separated by commas (default http://127.0.0.1:4090). OPS_TOKEN is the token that these ports require.
location and sandboxes connect to the databases instead. They read DATABASE_URL, <SERVICE>_DATABASE_URL, <SERVICE>_OWNER_DATABASE_URL,
NAMESPACE and OBJECT_STORE; location remove and sandboxes remove also read NATS_URL.`;

/** The error for an invalid command line. `npm run ops` then also prints the usage text. */
export class OpsCommandLineUsageError extends Error {}

const deadLetterSchema = z.object({
  service: z.string(),
  eventId: z.string(),
  subscription: z.string(),
  subject: z.string().nullable(),
  reason: z.string(),
  deadLetteredAt: z.string(),
});
const inFlightEventSchema = z.looseObject({ service: z.string(), event: z.string(), receivedAt: z.string() });
const unfinishedTillSchema = z.looseObject({ tillId: z.string() });

type OpsPortClient = ReturnType<typeof createOpsPortClient>;

/** Returns a client. `urls` are the URLs of ops ports, such as `http://reporting:4090`. `token` is their OPS_TOKEN. */
export function createOpsPortClient(urls: string[], token: string | undefined) {
  async function requestProcess(url: string, method: string, path: string, body: unknown): Promise<unknown> {
    // fetch would refuse some ports, such as 4190.
    const response = await request(new URL(path, url), {
      method,
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: Error) => {
      const { code, message } = (cause.cause ?? cause) as Error & { code?: string };
      // Node.js reports one error for each address of a host, in an error without a message.
      throw new Error(
        `The ops port ${url} cannot be reached: ${message || code}. Set OPS_URLS to the ops ports of the running processes.`,
      );
    });
    const { statusCode: status } = response;
    const text = await response.body.text();
    if (status === 404) return undefined;
    if (status === 401)
      throw new Error(`The ops port ${url} rejected the command. Set OPS_TOKEN to the token of its process.`);
    if (status >= 300) throw new Error(`${url}${path} responded ${status}: ${text}`);
    return JSON.parse(text);
  }

  return {
    /** Sends a request to every process. Returns the response bodies of the processes that have this path. */
    async requestEachProcess(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown[]> {
      const responses = await Promise.all(urls.map((url) => requestProcess(url, method, path, body)));
      return responses.filter((response) => response !== undefined);
    },
    /** Sends a request to one process after the other until one has this path. Returns its response body. */
    async requestFirstProcess(method: "GET" | "POST", path: string): Promise<unknown> {
      for (const url of urls) {
        const response = await requestProcess(url, method, path, undefined);
        if (response !== undefined) return response;
      }
      throw new Error(`None of the processes in OPS_URLS has ${path}.`);
    },
  };
}

interface CommandOutput {
  log: (line: string) => void;
  reportFailure: (message: string) => void;
}

/** Runs a command and returns the result to print. Throws `OpsCommandLineUsageError` when the command line is invalid. */
export async function runOpsCommand(commandLine: string[], client: OpsPortClient, output: CommandOutput) {
  const { positionals, values } = parseOpsCommandLine(commandLine);
  const [noun, verb, ...ids] = positionals;
  switch (`${noun} ${verb ?? ""}`.trim()) {
    case "dead-letters list":
      return fetchDeadLetters(client);
    case "dead-letters retry": {
      const eventIds = values.all ? (await fetchDeadLetters(client)).map(({ eventId }) => eventId) : ids;
      return runForEachId(eventIds, output, {
        request: (id) => client.requestEachProcess("POST", `/dead-letters/${id}/retry`),
        hasEffect: () => true,
        isFailureReported: !values.all,
        reason: "is not a dead letter of these processes. `dead-letters list` lists all of them",
      });
    }
    case "events in-flight":
      // Instances of a service have different events.
      return (await fetchLists(client, "/events-in-flight", inFlightEventSchema)).sort((one, other) =>
        one.receivedAt.localeCompare(other.receivedAt),
      );
    case "tills unfinished":
      return fetchUnfinishedTills(client, values.seconds);
    case "tills retry": {
      const tillIds = values.all ? (await fetchUnfinishedTills(client, "0")).map(({ tillId }) => tillId) : ids;
      return runForEachId(tillIds, output, {
        request: (id) => client.requestEachProcess("POST", `/till-ingest/unfinished/${id}/retry`),
        hasEffect: ({ isRequeued }) => isRequeued === true,
        isFailureReported: !values.all,
        reason: "has a result already, or is not a till. `tills unfinished` lists the tills without a result",
      });
    }
    case "tills reprocess":
      return runForEachId(ids, output, {
        request: async (id) => [await client.requestFirstProcess("POST", `/till-ingest/tills/${id}/reprocess`)],
        hasEffect: ({ isReprocessed }) => isReprocessed === true,
        isFailureReported: true,
        reason: "is not a till of this installation",
      });
    case "packed-tills check":
      return checkPackedTills(client, output);
    case "erase": {
      const { location, orders, before } = values;
      if (!location || (orders === undefined) === (before === undefined)) {
        throw new OpsCommandLineUsageError("erase needs --location and either --orders or --before.");
      }
      if (before !== undefined && !z.iso.date().safeParse(before).success)
        throw new OpsCommandLineUsageError("--before needs a day, such as 2026-04-01.");
      const orderSelection = orders === undefined ? { before } : { orderIds: orders.split(",") };
      // Only reporting has this path. It publishes an event, so that the other services also erase the data.
      const [erasure] = await client.requestEachProcess("POST", "/reporting/erasures", {
        locationId: location,
        ...orderSelection,
      });
      if (!erasure) throw new Error("None of the processes in OPS_URLS runs reporting.");
      if (z.object({ tills: z.literal(0) }).safeParse(erasure).success)
        output.log("No till is changed. If this is unexpected, check the location, the orders and the day.");
      return erasure;
    }
    default:
      throw new OpsCommandLineUsageError(
        positionals.length > 0 ? `Unknown command: ${positionals.join(" ")}.` : "No command given.",
      );
  }
}

/** Returns the arguments and options of a command. @throws `OpsCommandLineUsageError` for an unknown option. */
export function parseOpsCommandLine(commandLine: string[]) {
  try {
    return parseArgs({
      args: commandLine,
      allowPositionals: true,
      options: {
        all: { type: "boolean" },
        seconds: { type: "string" },
        location: { type: "string" },
        orders: { type: "string" },
        before: { type: "string" },
        yes: { type: "string" },
      },
    });
  } catch (error) {
    throw new OpsCommandLineUsageError(error instanceof Error ? error.message : String(error));
  }
}

async function fetchLists<Schema extends z.ZodType>(client: OpsPortClient, path: string, schema: Schema) {
  const lists = await client.requestEachProcess("GET", path);
  return lists.flatMap((list) => z.array(schema).parse(list));
}

/** Returns all dead letters without duplicates, because the instances of a service return the same dead letters. */
async function fetchDeadLetters(client: OpsPortClient) {
  const deadLetters = await fetchLists(client, "/dead-letters", deadLetterSchema);
  return [...new Map(deadLetters.map((message) => [`${message.service} ${message.eventId}`, message])).values()];
}

async function fetchUnfinishedTills(client: OpsPortClient, seconds: string | undefined) {
  const query = seconds === undefined ? "" : `?seconds=${encodeURIComponent(seconds)}`;
  const tills = await fetchLists(client, `/till-ingest/unfinished${query}`, unfinishedTillSchema);
  return [...new Map(tills.map((till) => [till.tillId, till])).values()];
}

const packedTillsCheckSchema = z.object({
  checked: z.number(),
  unreadable: z.array(z.looseObject({ tillId: z.string() })),
  next: z.string().nullable(),
});

/** Checks all packed tills, page by page, so that no request takes long. */
async function checkPackedTills(client: OpsPortClient, { log }: CommandOutput) {
  const logProgress = createProgressLog(log);
  const unreadable: unknown[] = [];
  let checked = 0;
  for (let after: string | null = ""; after !== null; ) {
    const response = await client.requestFirstProcess("GET", `/reporting/packed-tills/check?after=${after}`);
    const page = packedTillsCheckSchema.parse(response);
    checked += page.checked;
    logProgress("packed tills", checked);
    unreadable.push(...page.unreadable);
    after = page.next;
  }
  return { checked, unreadable };
}

interface CommandForEachId {
  request: (id: string) => Promise<unknown[]>;
  hasEffect: (outcome: Record<string, unknown>) => boolean;
  /** Whether to report ids for which no process did anything, because an operator may have mistyped them. */
  isFailureReported: boolean;
  reason: string;
}

async function runForEachId(
  ids: string[],
  { log, reportFailure }: CommandOutput,
  { request, hasEffect, isFailureReported, reason }: CommandForEachId,
): Promise<Record<string, unknown[]>> {
  if (isFailureReported && ids.length === 0) throw new OpsCommandLineUsageError("Pass at least one ID, or --all.");
  const logProgress = createProgressLog(log);
  const outcomes: Record<string, unknown[]> = {};
  for (const [index, id] of ids.entries()) {
    outcomes[id] = (await request(id)).flat();
    logProgress(`of ${ids.length} done:`, index + 1);
  }
  for (const [id, ofId] of isFailureReported ? Object.entries(outcomes) : [])
    if (!ofId.some((outcome) => hasEffect(z.record(z.string(), z.unknown()).parse(outcome))))
      reportFailure(`Nothing was done for ${id}: it ${reason}.`);
  return outcomes;
}
