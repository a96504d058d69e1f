import type { MetricsAnswer } from "./metrics.ts";
import { getLastCompleteWeek, getWeekRequestPath, type Period, type WeekAnswers, weekQuestions } from "./questions.ts";

/** The answers of the API about the last complete week of the key's location. */
export interface LiveWeek {
  server: string;
  /** The name of the location; null if it has none, or if the key may not read the location. */
  locationName: string | null;
  period: Period;
  answers: WeekAnswers;
  answeredAt: Date;
}

/** The API responded with an error, such as an invalid key. */
export class ApiRejectionError extends Error {
  readonly status: number;

  constructor(status: number, code: string, title: string) {
    super(`${status} ${code}${title === "" ? "" : `: ${title}`}`);
    this.status = status;
  }
}

/**
 * Asks the API at `server` for the last complete week.
 * @throws `ApiRejectionError` if a response is an error; `TypeError` if no response arrives, or if one contains no metrics; `AbortError` if `signal` is
 * aborted; `TimeoutError` if the responses take more than ten seconds.
 */
export async function loadLiveWeek({
  server,
  key,
  signal,
  now = new Date(),
}: {
  server: string;
  key: string;
  signal: AbortSignal;
  now?: Date;
}): Promise<LiveWeek> {
  const baseUrl = server.replace(/\/+$/, "");
  const period = getLastCompleteWeek(now, weekTimeZone);
  const timeout = AbortSignal.timeout(maxWaitMs);
  const get = (path: string) => getJson(`${baseUrl}${path}`, key, AbortSignal.any([signal, timeout]));
  const [location, ...answers] = await Promise.all([
    get("/v1/locations/own").catch(ignoreMissingScope) as Promise<{ name: string | null } | undefined>,
    ...weekQuestions.map(async ({ name }) => {
      const answer = await get(getWeekRequestPath(name, period));
      if (!isMetricsAnswer(answer)) throw new TypeError("The server responded with something other than metrics.");
      return [name, answer] as const;
    }),
  ]);
  return {
    server: baseUrl,
    locationName: location?.name ?? null,
    period,
    answers: Object.fromEntries(answers) as WeekAnswers,
    answeredAt: now,
  };
}

async function getJson(url: string, key: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` }, signal });
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({}));
  throw new ApiRejectionError(response.status, problem.code ?? response.statusText, problem.title ?? "");
}

/** Returns whether a response has the lists that the charts read. A server at this address may be another program. */
function isMetricsAnswer(answer: unknown): answer is MetricsAnswer {
  const { data, totals }: { data?: unknown; totals?: unknown } = typeof answer === "object" && answer ? answer : {};
  return Array.isArray(data) && Array.isArray(totals);
}

/** The scope `reports:read` is enough for the figures. Without `locations:read`, the section shows no name. */
function ignoreMissingScope(error: unknown): undefined {
  if (!(error instanceof ApiRejectionError && error.status === 403)) throw error;
}

/** Returns the API key of the demo that the server of this site offers to all readers; null if there is none. */
export async function readDemoKeyOfSite(signal: AbortSignal): Promise<string | null> {
  const response = await fetch("/demo-access.json", { signal });
  return response.ok ? (((await response.json()) as { apiKey: string | null }).apiKey ?? null) : null;
}

/** The time zone of the demo restaurant, which is also the default of locations. */
const weekTimeZone = "Europe/Paris";

const maxWaitMs = 10_000;
