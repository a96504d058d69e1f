import { parseArgs } from "node:util";
import { z } from "zod";

/** What operators can do, in the words in which they do it. */
export const opsCommandUsage = `parked list                              messages that could not be handled, with the reason
parked retry <event id>... | --all       handles them again now
tills unfinished [--seconds <n>]         tills without a result for so long (300 by default)
tills retry <till id>... | --all         announces them again now
erase --location <id> --orders <id,...>  removes who ordered from these orders, wherever they are kept
erase --location <id> --before <day>     the same for all orders of tills that were pushed before a day

Processes are reached at OPS_URLS (with commas between them; http://127.0.0.1:4090 by default), with OPS_TOKEN.`;

/** Faulty words on the command line. */
export class OpsUsageError extends Error {}

const deadLetterListSchema = z.array(
  z.object({
    service: z.string(),
    eventId: z.string(),
    subscription: z.string(),
    subject: z.string().nullable(),
    reason: z.string(),
    parkedAt: z.string(),
  }),
);
const unfinishedTillListSchema = z.array(z.looseObject({ tillId: z.string() }));

/** The processes of an installation, as operators reach them on their ops ports. */
type OpsClient = ReturnType<typeof createOpsClient>;

/** `urls` are ops ports, e.g. `http://reporting:4090`; the token is what those processes have as OPS_TOKEN. */
export function createOpsClient(urls: string[], token: string | undefined) {
  async function requestProcess(url: string, method: string, path: string, body: unknown): Promise<unknown> {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: Error) => {
      throw new Error(
        `${url} cannot be reached: ${cause.cause instanceof Error ? cause.cause.message : cause.message}`,
      );
    });
    if (response.status === 404) return undefined;
    const text = await response.text();
    if (!response.ok) throw new Error(`${url}${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  return {
    /** What each process answers that knows the path, those that do not left out. */
    async requestEachProcess(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown[]> {
      const responses = await Promise.all(urls.map((url) => requestProcess(url, method, path, body)));
      return responses.filter((answer) => answer !== undefined);
    },
  };
}

/** Does what the words of a command line say, and gives what there is to show. Throws `UsageError`. */
export async function runOpsCommand(commandLine: string[], client: OpsClient): Promise<unknown> {
  const { positionals, values } = parseCommandLine(commandLine);
  const [noun, verb, ...ids] = positionals;
  switch (`${noun} ${verb ?? ""}`.trim()) {
    case "parked list":
      return fetchDeadLetters(client);
    case "parked retry": {
      const eventIds = values.all
        ? (await fetchDeadLetters(client)).map((message) => message.eventId)
        : requireIds(ids);
      return runForEachId(eventIds, (id) => client.requestEachProcess("POST", `/parked/${id}/retry`));
    }
    case "tills unfinished":
      return fetchUnfinishedTills(client, values.seconds);
    case "tills retry": {
      const tillIds = values.all
        ? (await fetchUnfinishedTills(client, "0")).map(({ tillId }) => tillId)
        : requireIds(ids);
      return runForEachId(tillIds, (id) => client.requestEachProcess("POST", `/till-ingest/unfinished/${id}/retry`));
    }
    case "erase": {
      const { location, orders, before } = values;
      if (!location || (orders === undefined) === (before === undefined)) {
        throw new OpsUsageError("erase needs --location, and either --orders or --before.");
      }
      const orderSelection = orders === undefined ? { before } : { orderIds: orders.split(",") };
      // One process does it for all: it tells the others.
      const [answer] = await client.requestEachProcess("POST", "/reporting/erasures", {
        locationId: location,
        ...orderSelection,
      });
      if (!answer) throw new Error("None of OPS_URLS is a process that runs reporting.");
      return answer;
    }
    default:
      throw new OpsUsageError(
        positionals.length > 0 ? `There is no command ${positionals.join(" ")}.` : "What is to be done?",
      );
  }
}

function parseCommandLine(commandLine: string[]) {
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
      },
    });
  } catch (error) {
    throw new OpsUsageError(error instanceof Error ? error.message : String(error));
  }
}

function requireIds(ids: string[]): string[] {
  if (ids.length === 0) throw new OpsUsageError("Name at least one, or say --all.");
  return ids;
}

/** Several instances of a service tell of the same: each is shown once. */
async function fetchDeadLetters(client: OpsClient) {
  const lists = await client.requestEachProcess("GET", "/parked");
  const all = lists.flatMap((list) => deadLetterListSchema.parse(list));
  return [...new Map(all.map((message) => [`${message.service} ${message.eventId}`, message])).values()];
}

async function fetchUnfinishedTills(client: OpsClient, seconds: string | undefined) {
  const query = seconds === undefined ? "" : `?seconds=${encodeURIComponent(seconds)}`;
  const lists = await client.requestEachProcess("GET", `/till-ingest/unfinished${query}`);
  const all = lists.flatMap((list) => unfinishedTillListSchema.parse(list));
  return [...new Map(all.map((till) => [till.tillId, till])).values()];
}

async function runForEachId(
  ids: string[],
  request: (id: string) => Promise<unknown[]>,
): Promise<Record<string, unknown>> {
  const outcomes: Record<string, unknown> = {};
  for (const id of ids) outcomes[id] = (await request(id)).flat();
  return outcomes;
}
