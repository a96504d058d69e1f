import { createDayFormatter } from "@pragma/contracts/date-time";
import type { EReport, EReportKind, EReportState, OpenDay } from "@pragma/contracts/e-report";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { Temporal } from "temporal-polyfill";
import { sum } from "../calculation/groups.ts";
import type { ReportingContext } from "../context.ts";
import { listLocationsOfBusiness } from "./access.ts";
import { type CategoryFinder, createCategoryFinder } from "./categories.ts";
import { areBlocksEqual, compareBlocks } from "./compare-blocks.ts";
import {
  buildPaymentsBlocks,
  buildTransactionsBlocks,
  type DayFigures,
  type EReportBlocks,
  isVatOnDebits,
} from "./e-report.ts";
import { addUpOthers } from "./e-report-figures.ts";
import { createPause } from "./pause.ts";
import { type EReportPeriod, listPeriods } from "./periods.ts";
import type { StoredSettings } from "./queries/declarants.ts";
import { type LocationOfSiren, listTillEFigures, listUnclosedDays, type UnclosedDay } from "./queries/figures.ts";
import { listTransmissionsOfDays, type StoredTransmission } from "./queries/transmissions.ts";
import { type ReportedTill, readDays } from "./read-days.ts";

/** What e-reports are read from. */
export type EReportServices = Pick<ReportingContext, "db" | "locationCurrencies">;

export interface EReportQuery {
  siren: string;
  settings: StoredSettings;
  kind: EReportKind;
  since: string;
  until: string;
}

/** A period with its blocks, and what its state follows from. */
export interface PeriodReport {
  period: EReportPeriod;
  blocks: EReportBlocks;
  state: EReportState;
  openDays: OpenDay[];
  lastTransmission: StoredTransmission | undefined;
  changes: ReturnType<typeof compareBlocks>;
  tills: ReportedTill[];
  excludedOrders: { locationId: string; orderId: string; day: string }[];
  /** For payments, what was received or is owed and is not in the report; null for transactions. */
  notReported: NonNullable<EReport["notReported"]> | null;
}

/** Two months. */
const maxPeriodDays = 62;
/** A location without a currency is in France, like its SIRET. */
const defaultCurrency = "EUR";
const maxOpenDays = 100;

/** Returns the periods with at least one day of a range, earliest first. `sql` may be a transaction. */
export async function readPeriodReports(
  services: EReportServices,
  sql: SqlClient | SqlTransaction,
  { siren, settings, kind, since, until }: EReportQuery,
  context: ObservabilityContext,
): Promise<PeriodReport[]> {
  const transmissions = await listTransmissionsOfDays(
    sql,
    { siren, kind },
    { since: addDays(since, -maxPeriodDays), until: addDays(until, maxPeriodDays) },
  );
  const taken = transmissions.map(({ period: first, until: last, dueOn }) => ({ first, last, dueOn }));
  const periods = listPeriods({ kind, regime: settings.vatRegime, taken }, { since, until });
  const [first, last] = [periods[0]?.first, periods.at(-1)?.last];
  if (first === undefined || last === undefined) return [];
  const range = { since: first, until: last };
  const { locations } = await listLocationsOfBusiness(sql, siren, settings);
  const locationIds = locations.map(({ locationId }) => locationId);
  const [unclosed, currencies] = await Promise.all([
    listUnclosedDays(sql, locationIds, periods, maxOpenDays),
    services.locationCurrencies(locationIds, context),
  ]);
  const currencyOf = new Map(locationIds.map((id, index) => [id, currencies[index] ?? defaultCurrency]));
  const batches = listTillEFigures(sql, siren, locationIds, range);
  const { days, tills, tooLarge } = await readDays(batches, (id) => currencyOf.get(id) ?? defaultCurrency);
  const input = { settings, findCategory: createCategoryFinder(settings), pause: createPause() };
  const reports: PeriodReport[] = [];
  for (const period of periods) {
    const isWithin = ({ day }: { day: string }) => period.first <= day && day <= period.last;
    const tillsOfPeriod = tills.filter(isWithin);
    const lastTransmission = transmissions.find((each) => each.period === period.first);
    const content = await buildContent(days.filter(isWithin), { ...input, kind, lastTransmission });
    // Any till of the period, because the sum of all is too large.
    const withTooLargeSum = content ? [] : tillsOfPeriod.slice(0, 1).map(toDayWithoutFigures);
    const openDays = listOpenDays(period, [...withTooLargeSum, ...tooLarge, ...unclosed], locations);
    const { blocks, notReported, changes } = content ?? buildEmptyContent(kind);
    reports.push({
      ...{ period, blocks, openDays, lastTransmission, tills: tillsOfPeriod, notReported, changes },
      state: findState({ blocks, openDays, lastTransmission }),
      excludedOrders: tillsOfPeriod.flatMap(({ locationId, day, excludedOrderIds }) =>
        excludedOrderIds.map((orderId) => ({ locationId, orderId, day })),
      ),
    });
  }
  return reports;
}

const toDayWithoutFigures = ({ locationId, day }: ReportedTill): UnclosedDay => ({
  ...{ locationId, day, state: "without_figures" },
});

type PeriodContent = Pick<PeriodReport, "blocks" | "notReported" | "changes">;
interface ContentQuery extends Pick<EReportQuery, "kind" | "settings">, Pick<PeriodReport, "lastTransmission"> {
  findCategory: CategoryFinder;
  pause(): Promise<void>;
}

/** Returns undefined if a sum, or a difference from the last file, is too large. */
async function buildContent(days: readonly DayFigures[], query: ContentQuery): Promise<PeriodContent | undefined> {
  const { kind, lastTransmission } = query;
  try {
    const blocks =
      kind === "transactions"
        ? { transactions: await buildTransactionsBlocks(days, query) }
        : { payments: await buildPaymentsBlocks(days, query) };
    const notReported = kind === "payments" ? computeNotReported(days, query) : null;
    return { blocks, notReported, changes: lastTransmission ? compareBlocks(lastTransmission.blocks, blocks) : [] };
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return undefined;
    throw error;
  }
}

const buildEmptyContent = (kind: EReportKind): PeriodContent => ({
  blocks: kind === "transactions" ? { transactions: [] } : { payments: [] },
  notReported: kind === "payments" ? { otherSales: 0, ...addUpOthers([]) } : null,
  changes: [],
});

function computeNotReported(
  days: readonly DayFigures[],
  { settings, findCategory }: Pick<ContentQuery, "settings" | "findCategory">,
): NonNullable<PeriodReport["notReported"]> {
  const otherSales = days.flatMap(({ day, figures }) =>
    figures.receipts.filter((receipt) => isVatOnDebits(day, settings) || findCategory(receipt) !== "TPS1"),
  );
  return {
    otherSales: sum(otherSales.map(({ amount }) => amount)),
    ...addUpOthers(days.map(({ figures }) => figures.others)),
  };
}

function findState({
  blocks,
  openDays,
  lastTransmission,
}: Pick<PeriodReport, "blocks" | "openDays" | "lastTransmission">): EReportState {
  if (lastTransmission) return areBlocksEqual(lastTransmission.blocks, blocks) ? "taken" : "changed";
  if (openDays.length > 0) return "open";
  return countBlocks(blocks) === 0 ? "empty" : "ready";
}

const countBlocks = (blocks: EReportBlocks): number =>
  "transactions" in blocks ? blocks.transactions.length : blocks.payments.length;

function listOpenDays(
  period: EReportPeriod,
  unclosed: readonly UnclosedDay[],
  locations: readonly LocationOfSiren[],
): OpenDay[] {
  const ofPeriod = unclosed.filter(({ day }) => period.first <= day && day <= period.last);
  const today = findEarliestToday(locations);
  const notEnded =
    today > period.last ? [] : [{ locationId: null, day: maxDay(today, period.first), state: "not_ended" as const }];
  return [...notEnded, ...ofPeriod].slice(0, maxOpenDays);
}

const maxDay = (one: string, other: string) => (one > other ? one : other);

/**
 * Returns the date in the location that is furthest behind, or in Paris: a period ends when its last day has ended in all
 * of them, because the administration checks that the file is created after it, in French local time.
 */
export function findEarliestToday(locations: readonly Pick<LocationOfSiren, "timeZone">[], now = new Date()): string {
  return (
    ["Europe/Paris", ...locations.map(({ timeZone }) => timeZone)]
      .map((timeZone) => createDayFormatter(timeZone)(now.toISOString()))
      .sort()[0] ?? ""
  );
}

const addDays = (day: string, days: number) => Temporal.PlainDate.from(day).add({ days }).toString();
