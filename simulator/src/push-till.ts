import { nullOn } from "@pragma/client/api-problem";
import { Temporal } from "temporal-polyfill";
import type { GeneratedTill } from "./generate-till.ts";
import type { LiveOrder } from "./order-revisions.ts";
import type { Playing } from "./play-day.ts";

/** Sends open orders as they are now, in one call. Returns how many were taken: the others were known already. */
export async function sendOrders({ api }: Playing, orders: readonly LiveOrder[]): Promise<number> {
  const { data: taken } = await api.POST("/v1/orders-live", { body: [...orders] });
  // A repeated call whose reply was too large to be kept is answered without one.
  return taken?.length ?? orders.length;
}

/** Pushes a till. One that the API has with other content stays as it is there. */
export async function pushTill({ api }: Playing, till: GeneratedTill): Promise<void> {
  await nullOn(api.POST("/v2/tills", { body: till }), "till_conflict");
}

/**
 * Waits until the report of a till can be read and no list shows its orders any more. Returns the report as lists show
 * it; null when that takes longer than a minute.
 */
export async function awaitReport({ api, timeZone, clock, signal }: Playing, { id: tillId, startedAt }: GeneratedTill) {
  const day = Temporal.Instant.from(startedAt).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  for (let polls = 0; polls < maxPolls; polls++) {
    const { data: reports } = await api.GET("/v2/reports", {
      params: { query: { since: day, until: day, size: 100 } },
    });
    const report = reports.data.find((listed) => Date.parse(listed.startedAt) === Date.parse(startedAt));
    const { data: live } = await api.GET("/v1/orders-live", { params: { query: { tillId, size: 1 } } });
    if (report && live.meta.totalCount === 0) return report;
    await clock.wait(pollIntervalMs, signal);
  }
  return null;
}

/** The number that the next report of the location has: reports are counted. */
export async function nextReportNumber({ api }: Playing): Promise<number> {
  const { data: reports } = await api.GET("/v2/reports", { params: { query: { size: 1 } } });
  const [newest] = reports.data;
  if (!newest) return 1;
  const { data: report } = await api.GET("/v2/reports/{id}", { params: { path: { id: newest.id } } });
  return report.reportNumber + 1;
}

const pollIntervalMs = 250;
const maxPolls = 240;
