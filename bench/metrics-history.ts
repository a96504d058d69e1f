import { createHash, randomUUID } from "node:crypto";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import calculateTill from "@pragma/reporting/calculate-till";
import { upsertReportRow } from "@pragma/reporting/documents/queries/reports";
import { mergeMetricMonths } from "@pragma/reporting/metrics/periodic/merge-metric-months";
import { replaceTillMetrics } from "@pragma/reporting/metrics/queries/metrics";
import type { Database } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { generateTill } from "@pragma/simulator/generate-till";
import { getBenchOrderHistoryDate } from "./order-history.ts";

const ordersPerDay = 150;
/** Different tills, which the days of the history repeat. */
const templateCount = 30;
const timeZone = "Europe/Paris";

export interface MetricsHistory {
  /** All of them have the same figures. */
  locationIds: string[];
  /** The first and the last business day. */
  since: string;
  until: string;
}

/**
 * Writes the figures by dimension of new locations: one till of 150 generated orders for each of `days` days until
 * yesterday, and the merged figures of past months. Reports have no texts, and there are no orders. The figures of the
 * first location are computed and stored by the product's own functions, and copied to the other ones.
 */
export async function seedMetricsHistory(
  db: Database,
  { locations, days }: { locations: number; days: number },
  reportProgress: (detail: string) => void,
): Promise<MetricsHistory> {
  const locationIds = Array.from({ length: locations }, () => randomUUID());
  const [firstId = ""] = locationIds;
  const dates = Array.from({ length: days }, (_, index) => getBenchOrderHistoryDate(days - index));
  const templates = Array.from({ length: Math.min(templateCount, days) }, (_, index) => calculateTemplate(index));
  for (const [index, day] of dates.entries()) {
    const template = templates[index % templates.length];
    if (!template) throw new Error("There is no template.");
    const tillId = randomUUID();
    const [id, etag] = [computeTillReportId(tillId), `"${tillId}"`];
    const startedAt = `${day}T08:00:00.000Z`;
    // The task merges only months whose reports did not change in the last 24 hours.
    const times = { createdAt: startedAt, updatedAt: "2020-01-01T00:00:00.000Z" };
    await db.transaction(async (tx) => {
      await tx`insert into tills ${tx({ tillId, locationId: firstId, revision: 1, pushedAt: startedAt, hash: "" })}`;
      await upsertReportRow(tx, {
        ...{ id, tillId, locationId: firstId, day, startedAt, ...times, etag, hasMetrics: true },
        ...{ v2: "", v0: "", listItem: template.listItem, accountingData: "", finalized: "{}" },
        tillFigures: null,
      });
      const key = { locationId: firstId, tillId, day, previousDay: undefined };
      await replaceTillMetrics(tx, { ...key, metrics: template.metrics });
    });
    if (index % 20 === 0) reportProgress(`${index} of ${days} days of the first location`);
  }
  await mergeMetricMonths({ db, log: createLogger({ name: "bench", level: "silent" }) });
  const connection = await db.sql.reserve();
  try {
    await connection`set statement_timeout = 0`;
    for (const [index, locationId] of locationIds.entries()) {
      if (index > 0)
        for (const table of ["tills", "reports", "metric_totals", "metric_cells", "metric_months"])
          await copyRows(connection, table, { from: firstId, to: locationId });
      if (index % 5 === 0) reportProgress(`${index} of ${locations} locations`);
    }
    for (const table of ["tills", "reports", "metric_totals", "metric_cells", "metric_months"])
      await connection`vacuum analyze ${connection(table)}`;
  } finally {
    connection.release();
  }
  return { locationIds, since: dates[0] ?? "", until: dates.at(-1) ?? "" };
}

/** Copies the rows of a location. Keys contain the location, so that the copies can have the same ids. */
async function copyRows(
  sql: Pick<Database["sql"], "unsafe">,
  table: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const columns = await sql.unsafe<{ name: string }[]>(
    `select quote_ident(attname) as name from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> 'location_id'`,
    [table],
  );
  const names = columns.map(({ name }) => name).join(", ");
  await sql.unsafe(
    `insert into ${table} (location_id, ${names}) select $2::uuid, ${names} from ${table} where location_id = $1`,
    [from, to],
  );
}

function calculateTemplate(index: number) {
  const day = new Date(Date.UTC(2026, 4, 1 + index)).toISOString().slice(0, 10);
  const till = generateTill({ seed: "metrics", orders: ordersPerDay, day });
  const bytes = Buffer.from(JSON.stringify(till));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const ids = { tillId: till.id, locationId: randomUUID() };
  const calculated = calculateTill({ bytes, hash, version: "V2", timeZone, ...ids });
  if (!calculated) throw new Error("The generated till has no report.");
  return calculated;
}
