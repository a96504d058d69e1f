import { TillV2 } from "@pragma/contracts/till-v2";
import { generateTill } from "@pragma/simulator/generate-till";
import type { BenchEnvironment } from "../bench-environment.ts";
import type { BenchmarkDefinition } from "../benchmark.ts";
import {
  type BenchmarkMeasurementPair,
  computeBenchmarkComparison,
  type ProductToBaselineComparison,
} from "../benchmark-figure.ts";
import { type MetricsHistory, seedMetricsHistory } from "../metrics-history.ts";
import { type BenchOrderHistoryDatabase, openBenchOrderHistoryDatabase } from "../order-history.ts";
import { createBenchPrincipal, createGetSigner } from "../sign-requests.ts";

const namespace = "bench_metrics";
const ordersPerDay = 150;
/** Different tills whose orders the days of the first location repeat. */
const templateCount = 30;

interface Question {
  label: string;
  locations: "one" | "all";
  query: Record<string, string>;
  /** The same question about the texts of orders of the first location. */
  sql: string | undefined;
  /** The maximum of the 99th percentile of response times, in milliseconds; undefined if there is no aim. */
  maxMs: number | undefined;
}

/** The orders of the location and the days, each parsed once. */
const ordersSql = `(
  select v2::jsonb as body, day from bench_order_texts where location_id = $1 and day between $2::text::date and $3::text::date offset 0
) as o`;
const isSale = "not (body->>'isCanceled')::boolean and not (body->>'isTransferred')::boolean";
const byProductSql = `
  select row->>'productId', row->>'name', sum((row->>'totalRow')::bigint), sum((row->>'quantity')::bigint)
  from ${ordersSql}, lateral (
    select jsonb_array_elements(body->'productRowList')
    union all
    select jsonb_array_elements(menu->'productRowList') from jsonb_array_elements(body->'menuRowList') as menu
  ) as rows (row)
  where ${isSale} and not (row->>'isCanceled')::boolean and not (row->>'isTransferred')::boolean
    and not coalesce((row->>'isLoss')::boolean, false)
  group by 1, 2`;
const byDaySql = `select day, sum((body->>'total')::bigint), count(*) from ${ordersSql} where ${isSale} group by 1`;
const byRoomAndMethodSql = `
  select body->>'roomName', row->>'name', row->>'paymentMode', sum((row->>'amount')::bigint)
  from ${ordersSql}, jsonb_array_elements(body->'paymentRowList') as row
  where row->>'status' = 'validated' and row->>'paymentType' in ('payment', 'customerAccount')
  group by 1, 2, 3`;

const sales = "sales,orders";
const questions: Question[] = [
  {
    ...{ label: "one location, by product", locations: "one", sql: byProductSql, maxMs: 50 },
    query: { measures: "sales,quantity", dimensions: "product" },
  },
  {
    ...{ label: "one location, by day", locations: "one", sql: byDaySql, maxMs: undefined },
    query: { measures: sales, dimensions: "day" },
  },
  {
    ...{
      label: "one location, payments by room and method",
      locations: "one",
      sql: byRoomAndMethodSql,
      maxMs: undefined,
    },
    query: { measures: "payments", dimensions: "room,paymentMethod" },
  },
  {
    ...{ label: "one location, by weekday and hour", locations: "one", sql: undefined, maxMs: undefined },
    query: { measures: sales, dimensions: "weekday,hour" },
  },
  {
    ...{ label: "all locations, by day", locations: "all", sql: undefined, maxMs: 300 },
    query: { measures: sales, dimensions: "day" },
  },
  {
    ...{ label: "all locations, by product", locations: "all", sql: undefined, maxMs: 1_000 },
    query: { measures: "sales,quantity", dimensions: "product" },
  },
  {
    ...{
      label: "all locations, by location, compared with a year before",
      locations: "all",
      sql: undefined,
      maxMs: undefined,
    },
    query: { measures: sales, dimensions: "location", compare: "previous_year" },
  },
];

export const metricsBenchmark: BenchmarkDefinition = {
  id: "metrics",
  title: `Metrics of a year of ${ordersPerDay} orders a day: GET /v1/metrics/, sent to reporting one at a time`,
  baseline:
    "the same question asked of the texts of the orders in plain SQL, once each; for questions without one, the maximum of their 99th percentile",
  async run(environment, reportProgress) {
    const size = environment.isQuick ? { locations: 5, days: 60 } : { locations: 100, days: 365 };
    const product = await environment.startProduct(namespace, ["accounts", "reporting"]);
    const database = openBenchOrderHistoryDatabase(environment.urls.DATABASE_URL, namespace);
    try {
      const history = await seedMetricsHistory(database.database, size, reportProgress);
      await insertLocations(database, history);
      reportProgress("writing the texts of orders");
      await insertOrderTexts(database, history);
      const asker = createAsker(product, history);
      const figures: ProductToBaselineComparison[] = [];
      for (const question of questions) {
        reportProgress(question.label);
        figures.push(...(await measureQuestion(environment, { question, database, history, ask: asker })));
      }
      return {
        figures,
        notes: [
          `${size.locations} locations with ${size.days} days. A ratio of 0.05 means that the API takes a twentieth of the time.`,
          "The sums of both sides are compared before the measurement.",
        ],
      };
    } finally {
      await database.close();
      await product.stop();
    }
  },
};

/** Reporting looks up the currencies of locations in accounts. */
async function insertLocations({ sql }: BenchOrderHistoryDatabase, { locationIds }: MetricsHistory): Promise<void> {
  await sql`
    insert into ${sql(`${namespace}_accounts`)}.locations
      (id, application, organization_id, agency_id, options, settings_id, settings)
    select id, 'POPINA', '1', '1', '{"currencyCode": "EUR"}', gen_random_uuid(), '{"timezone": "Europe/Paris"}'
    from unnest(${locationIds}::uuid[]) as id`;
}

/** Writes the orders of the first location as JSON to a table of its own, because reporting stores them compressed. */
async function insertOrderTexts({ sql }: BenchOrderHistoryDatabase, { locationIds }: MetricsHistory): Promise<void> {
  const [locationId = ""] = locationIds;
  await sql`create table bench_order_texts (location_id uuid, day date, v2 text compression lz4)`;
  await sql`create index on bench_order_texts (location_id, day)`;
  const tills = await sql<{ day: string }[]>`
    select day::text as day from reports where location_id = ${locationId} order by day`;
  for (const [index, { day }] of tills.entries()) {
    const templateDay = new Date(Date.UTC(2026, 4, 1 + (index % templateCount))).toISOString().slice(0, 10);
    const generated = generateTill({ ...{ seed: "metrics", orders: ordersPerDay }, day: templateDay });
    // As in responses, fields that the point of sale omits are present.
    const till = TillV2.parse(generated);
    const texts = till.orderList.filter(({ isTraining }) => !isTraining).map((order) => JSON.stringify(order));
    await sql`
      insert into bench_order_texts select ${locationId}, ${day}::text::date, text from unnest(${texts}::text[]) as text`;
  }
  await sql`vacuum analyze bench_order_texts`;
}

interface Answer {
  ms: number;
  totals: { values: Record<string, number> }[];
}

type Ask = (question: Question) => Promise<Answer>;

function createAsker(product: Awaited<ReturnType<BenchEnvironment["startProduct"]>>, history: MetricsHistory): Ask {
  const { url } = product.process("reporting");
  const [locationId = ""] = history.locationIds;
  const principal = createBenchPrincipal(locationId);
  const signs = {
    one: createGetSigner({ service: "reporting", internalKeys: product.internalKeys, principal }),
    all: createGetSigner({
      ...{ service: "reporting", internalKeys: product.internalKeys },
      principal: { ...principal, location: null, scopes: ["reports:read", "locations:any"] },
    }),
  };
  return async ({ locations, query }) => {
    const { since, until } = history;
    const search = new URLSearchParams({ ...query, since, until, limit: "1000" });
    if (locations === "all") search.set("locationIds", history.locationIds.join(","));
    const path = `/v1/metrics/?${search}`;
    const headers = signs[locations](path);
    const started = performance.now();
    const response = await fetch(url + path, { headers });
    const text = await response.text();
    const ms = performance.now() - started;
    if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${text}`);
    return { ms, totals: (JSON.parse(text) as Pick<Answer, "totals">).totals };
  };
}

interface MeasuredQuestion {
  question: Question;
  database: BenchOrderHistoryDatabase;
  history: MetricsHistory;
  ask: Ask;
}

async function measureQuestion(
  { isQuick }: BenchEnvironment,
  { question, database: { sql }, history: { locationIds, since, until }, ask }: MeasuredQuestion,
): Promise<ProductToBaselineComparison[]> {
  const { label, sql: text, maxMs, locations, query } = question;
  const [locationId = ""] = locationIds;
  const warmUp = await ask(question);
  const requests = locations === "one" ? 200 : 20;
  const times: number[] = [];
  for (let request = 0; request < (isQuick ? 20 : requests); request += 1) times.push((await ask(question)).ms);
  times.sort((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  const p99 = times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? 0;
  const figures: ProductToBaselineComparison[] = [];
  if (maxMs !== undefined)
    figures.push(
      computeBenchmarkComparison([{ ours: p99, baseline: maxMs }], {
        ...{ label: `${label}: 99th percentile against its maximum`, unit: "ms", goal: { max: 1 } },
      }),
    );
  if (text === undefined) {
    if (maxMs === undefined)
      figures.push(
        computeBenchmarkComparison([{ ours: p99, baseline: median }], {
          label: `${label}: 99th percentile against median`,
          unit: "ms",
        }),
      );
    return figures;
  }
  const pairs: BenchmarkMeasurementPair[] = [];
  for (let repetition = 0; repetition < (isQuick ? 1 : 3); repetition += 1) {
    const started = performance.now();
    const rows = await sql.unsafe<Record<string, string>[]>(text, [locationId, since, until]).values();
    const baseline = performance.now() - started;
    const sumColumn = query.dimensions === "product" ? 2 : query.dimensions === "day" ? 1 : 3;
    const total = rows.reduce((sum, row) => sum + Number(row[sumColumn]), 0);
    const [measure = ""] = (query.measures ?? "").split(",");
    const answered = warmUp.totals[0]?.values[measure];
    if (total !== answered) throw new Error(`${label}: the API returned ${answered}, and plain SQL ${total}.`);
    pairs.push({ ours: (await ask(question)).ms, baseline });
  }
  figures.push(
    computeBenchmarkComparison(pairs, { label: `${label}: against plain SQL`, unit: "ms", goal: { max: 0.05 } }),
  );
  return figures;
}
