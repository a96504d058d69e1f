import type { ProductToBaselineComparison } from "./benchmark-figure.ts";

/** The labels of the figures of the benchmark `bytes` from which the tables of deploy/SIZING.md are computed. */
export const storageFigureLabels = {
  stored: {
    bodies: "of a stored order: its share of the body of its till",
    packedObjects: "of a stored order: objects of packed tills",
    postgres: "of a stored order: PostgreSQL",
  },
  packed: {
    bodies: "of a packed order: its share of the body of its till",
    packedObjects: "of a packed order: its share of the packed till",
    postgres: "of a packed order: PostgreSQL",
  },
  packing: {
    wallMs: "packing a till against pushing it: duration",
    cpuMs: "packing a till against pushing it: CPU",
    postgresCpuMs: "packing a till against pushing it: CPU of PostgreSQL",
    walBytes: "packing a till against pushing it: WAL",
  },
};

/** Medians of the product's figures and of their baselines, by label. */
export type SizingFigures = Record<string, { ours: number; baseline: number }>;

const locationCounts = [1_000, 10_000, 100_000];
const ordersPerTill = 150;
const hotDays = 100;
const days = 5 * 365;
/** Three events of 6 KB for each order: an assumption, which the bench does not measure. */
const orderEventBytesPerTill = ordersPerTill * 3 * 6_000;
/** The events till.pushed, report.finalized, which contains the ids of all orders, and device.seen: an assumption too. */
const otherEventBytesPerTill = 10_000;
const secondsPerDay = 86_400;
/** `pack-tills.ts` packs up to 25 tills, and starts again 10 seconds later. Only one instance runs the task. */
const packedTillsPerRun = 25;
const packingPauseMs = 10_000;

/** Returns the figures that the tables need. @throws Error if the benchmark `bytes` has not measured one of them. */
export function selectSizingFigures(figures: ProductToBaselineComparison[]): SizingFigures {
  const labels = Object.values(storageFigureLabels).flatMap((group) => Object.values(group));
  return Object.fromEntries(
    labels.map((label) => {
      const figure = figures.find((each) => each.label === label);
      if (!figure) throw new Error(`The results lack the figure "${label}". Run: npm run bench -- --only bytes`);
      return [label, { ours: figure.ours.median, baseline: figure.baseline.median }];
    }),
  );
}

/** Returns the tables of deploy/SIZING.md that follow from the figures of the benchmark `bytes`, by name. */
export function buildSizingTables(figures: SizingFigures): Record<string, string> {
  const read = (label: string) => figures[label] ?? { ours: Number.NaN, baseline: Number.NaN };
  const bytesOf = (kind: "stored" | "packed") => {
    const labels = storageFigureLabels[kind];
    const part = (label: string) => read(label).ours;
    const objects = part(labels.bodies) + part(labels.packedObjects);
    return {
      bodies: part(labels.bodies),
      packed: part(labels.packedObjects),
      objects,
      postgres: part(labels.postgres),
    };
  };
  const [stored, packed] = [bytesOf("stored"), bytesOf("packed")];
  const costs = storageFigureLabels.packing;
  const [pack, push] = [read(costs.wallMs).ours, read(costs.wallMs).baseline];
  const wal = read(costs.walBytes);
  const maxPackedPerSecond = packedTillsPerRun / ((packingPauseMs + packedTillsPerRun * pack) / 1_000);

  const perOrder = table(
    ["bytes per order", "last 100 days", "packed"],
    [
      ["PostgreSQL, with indexes", formatBytes(stored.postgres), formatBytes(packed.postgres)],
      ["body of its till, in the object store", formatBytes(stored.bodies), formatBytes(packed.bodies)],
      ["packed till, in the object store", "", formatBytes(packed.packed)],
      ["in total", formatBytes(stored.postgres + stored.objects), formatBytes(packed.postgres + packed.objects)],
    ],
  );
  const afterYears = table(
    ["after five years", ...locationCounts.map(formatLocations)],
    [
      ["orders", ...locationCounts.map((count) => formatCount(count * days * ordersPerTill))],
      ...(["postgres", "objects"] as const).flatMap((part) => {
        const hot = (count: number) => count * hotDays * ordersPerTill * stored[part];
        const cold = (count: number) => count * (days - hotDays) * ordersPerTill * packed[part];
        const name = part === "postgres" ? "PostgreSQL" : "object store";
        return [
          [`${name}, last 100 days`, ...locationCounts.map((count) => formatBytes(hot(count)))],
          [`${name}, packed`, ...locationCounts.map((count) => formatBytes(cold(count)))],
          [`${name}, in total`, ...locationCounts.map((count) => formatBytes(hot(count) + cold(count)))],
        ];
      }),
    ],
  );
  const perDay = (bytesPerTill: number) => locationCounts.map((count) => formatBytes(count * bytesPerTill));
  const growth = table(
    ["per day", ...locationCounts.map(formatLocations)],
    [
      ["PostgreSQL, for the first 100 days", ...perDay(ordersPerTill * stored.postgres)],
      ["PostgreSQL, afterwards", ...perDay(ordersPerTill * packed.postgres)],
      ["object store, for the first 100 days", ...perDay(ordersPerTill * stored.objects)],
      ["object store, afterwards", ...perDay(ordersPerTill * packed.objects)],
      ["WAL of tills, and of packing them 100 days later", ...perDay(wal.ours + wal.baseline)],
      ["stream of order events, for each replica", ...perDay(orderEventBytesPerTill)],
      ["stream of other events, for each replica", ...perDay(otherEventBytesPerTill)],
    ],
  );
  const packing = table(
    ["packing one till of each location a day", ...locationCounts.map(formatLocations)],
    [
      ["tills per second", ...locationCounts.map((count) => toTwoDigits(count / secondsPerDay))],
      ["share of the day in which the task works", ...locationCounts.map((count) => formatShare(count * pack))],
      [
        "cores of reporting and PostgreSQL",
        ...locationCounts.map((count) =>
          toTwoDigits((count * (read(costs.cpuMs).ours + read(costs.postgresCpuMs).ours)) / 1_000 / secondsPerDay),
        ),
      ],
      [
        "share of the maximum rate",
        ...locationCounts.map((count) => `${Math.round((100 * count) / secondsPerDay / maxPackedPerSecond)}%`),
      ],
      [
        "duration of packing five years at once",
        ...locationCounts.map(
          (count) => `${Math.ceil((count * (days - hotDays)) / maxPackedPerSecond / secondsPerDay)} days`,
        ),
      ],
    ],
  );
  const cost = table(
    ["a till of 150 orders", "duration", "CPU", "CPU of PostgreSQL", "WAL"],
    (
      [
        ["push, until its report is readable", "baseline"],
        ["pack", "ours"],
      ] as const
    ).map(([name, side]) => [
      name,
      `${Math.round(side === "ours" ? pack : push)} ms`,
      `${Math.round(read(costs.cpuMs)[side])} ms`,
      `${Math.round(read(costs.postgresCpuMs)[side])} ms`,
      formatBytes(wal[side]),
    ]),
  );
  return { "bytes per order": perOrder, "after five years": afterYears, "per day": growth, packing, "till cost": cost };
}

/** Returns the text with its tables replaced. A table is between `<!-- table: name -->` and `<!-- end of table -->`. */
export function replaceSizingTables(text: string, tables: Record<string, string>): string {
  return Object.entries(tables).reduce((result, [name, rows]) => {
    const [start, end] = [`<!-- table: ${name} -->\n`, "<!-- end of table -->"];
    const startsAt = result.indexOf(start);
    const endsAt = result.indexOf(end, startsAt);
    if (startsAt < 0 || endsAt < 0) throw new Error(`The text has no table "${name}".`);
    return `${result.slice(0, startsAt + start.length)}${rows}\n${result.slice(endsAt)}`;
  }, text);
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|---|${"---:|".repeat(head.length - 1)}`, ...rows.map(line)].join("\n");
}

const formatLocations = (count: number) => `${count.toLocaleString("en-US")} locations`;
const formatShare = (ms: number) => `${toTwoDigits((100 * ms) / 1_000 / secondsPerDay)}%`;

function formatCount(count: number): string {
  return count >= 1e9 ? `${toTwoDigits(count / 1e9)} billion` : `${toTwoDigits(count / 1e6)} million`;
}

/** Returns a number of bytes with two significant digits, in units of powers of 1,000. */
function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  const power = Math.max(0, Math.floor(Math.log10(Math.max(1, Number(bytes.toPrecision(2)))) / 3));
  return `${toTwoDigits(bytes / 1_000 ** power)} ${units[power]}`;
}

function toTwoDigits(value: number): string {
  return String(Number(value.toPrecision(2)));
}
