import { nullOn } from "@pragma/client/api-problem";
import { Temporal } from "temporal-polyfill";
import type { GeneratedTill } from "./generate-till.ts";
import { patiently } from "./patiently.ts";
import type { Playing } from "./playing.ts";
import { tillV1Of } from "./till-v1.ts";

/** Pushes a till in the location's format. One that the API has with other content stays as it is there. */
export async function pushTill(playing: Playing, till: GeneratedTill): Promise<void> {
  const { api, legacy } = playing;
  await patiently(playing, (signal) =>
    nullOn<unknown>(
      legacy
        ? api.POST("/v1/tills", { body: tillV1Of(till, legacy), signal })
        : api.POST("/v2/tills", { body: till, signal }),
      "till_conflict",
    ),
  );
}

/**
 * Waits until the report of a till can be read and no list shows its orders any more, and gives the report as lists show
 * it; null when that takes longer than a minute.
 */
export async function awaitReport(
  playing: Playing,
  till: GeneratedTill,
): Promise<{ id: string; totalSales: number } | null> {
  const { clock, signal } = playing;
  for (let polls = 0; polls < mostPolls; polls++) {
    const report = await findReport(playing, till);
    if (report && (await countLive(playing, till.id)) === 0) return report;
    await clock.wait(pollInterval, signal);
  }
  return null;
}

/** The number that the next report of the location has: reports are counted. */
export async function nextReportNumber(playing: Playing): Promise<number> {
  const { api } = playing;
  const { data: page } = await patiently(playing, (signal) =>
    api.GET("/v2/reports", { params: { query: { size: 1 } }, signal }),
  );
  const [newest] = page.data;
  if (!newest) return 1;
  const { data: report } = await patiently(playing, (signal) =>
    api.GET("/v2/reports/{id}", { params: { path: { id: newest.id } }, signal }),
  );
  return report.reportNumber + 1;
}

async function findReport(playing: Playing, { startedAt }: GeneratedTill) {
  const { api, timeZone } = playing;
  const day = Temporal.Instant.from(startedAt).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  const query = { since: day, until: day, size: 100 };
  const { data: page } = await patiently(playing, (signal) => api.GET("/v2/reports", { params: { query }, signal }));
  return page.data.find((report) => Date.parse(report.startedAt) === Date.parse(startedAt));
}

async function countLive(playing: Playing, tillId: string): Promise<number> {
  const { api } = playing;
  const query = { tillId, size: 1 };
  const { data: page } = await patiently(playing, (signal) =>
    api.GET("/v1/orders-live", { params: { query }, signal }),
  );
  return page.meta.totalCount;
}

/** Milliseconds between two looks. */
const pollInterval = 250;
const mostPolls = 240;
