import { createDayFormatter } from "@pragma/contracts/date-time";
import type { EReport, EReportKind, EReportState, OpenDay } from "@pragma/contracts/e-reporting";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { Temporal } from "temporal-polyfill";
import { sum } from "../calculation/groups.ts";
import type { ReportingContext } from "../context.ts";
import { listLocationsOfBusiness } from "./access.ts";
import { findCategory } from "./categories.ts";
import { areBlocksEqual, compareBlocks } from "./compare-blocks.ts";
import {
  buildPaymentsBlocks,
  buildTransactionsBlocks,
  type DayFigures,
  type EReportBlocks,
  isVatOnDebits,
} from "./e-report.ts";
import { type EReportPeriod, listPeriods } from "./periods.ts";
import type { StoredSettings } from "./queries/declarants.ts";
import {
  type LocationOfSiren,
  listTillEFigures,
  listUnclosedDays,
  type StoredTillEFigures,
  type UnclosedDay,
} from "./queries/figures.ts";
import { listTransmissionsOfDays, type StoredTransmission } from "./queries/transmissions.ts";
import { addUpOthers, type EReportFigures, subtractEReportFigures } from "./till-e-figures.ts";

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
  tills: StoredTillEFigures[];
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
  const taken = transmissions.map(({ period: first, until: last }) => ({ first, last }));
  const periods = listPeriods({ kind, regime: settings.vatRegime, taken }, { since, until });
  const [first, last] = [periods[0]?.first, periods.at(-1)?.last];
  if (first === undefined || last === undefined) return [];
  const range = { since: first, until: last };
  const { locations } = await listLocationsOfBusiness(sql, siren, settings);
  const locationIds = locations.map(({ locationId }) => locationId);
  const [tills, unclosed, currencies] = await Promise.all([
    listTillEFigures(sql, siren, locationIds, range),
    listUnclosedDays(sql, locationIds, periods, maxOpenDays),
    services.locationCurrencies(locationIds, context),
  ]);
  const currencyOf = new Map(locationIds.map((id, index) => [id, currencies[index] ?? defaultCurrency]));
  const isWithin = ({ day }: { day: string }, period: EReportPeriod) => period.first <= day && day <= period.last;
  return periods.map((period): PeriodReport => {
    const tillsOfPeriod = tills.filter((till) => isWithin(till, period));
    const content = buildContent(tillsOfPeriod, currencyOf, { kind, settings });
    const lastTransmission = transmissions.find((each) => each.period === period.first);
    const openDays = listOpenDays(period, [...content.tooLarge, ...unclosed], locations);
    const { blocks } = content;
    return {
      ...{ period, blocks, openDays, lastTransmission, tills: tillsOfPeriod },
      state: findState({ blocks, openDays, lastTransmission }),
      changes: lastTransmission ? compareBlocks(lastTransmission.blocks, blocks) : [],
      excludedOrders: tillsOfPeriod.flatMap(({ locationId, day, excludedOrderIds }) =>
        excludedOrderIds.map((orderId) => ({ locationId, orderId, day })),
      ),
      notReported: content.notReported,
    };
  });
}

interface PeriodContent {
  blocks: EReportBlocks;
  notReported: PeriodReport["notReported"];
  /** A day of the period, if one of its sums is too large to be represented. */
  tooLarge: UnclosedDay[];
}

function buildContent(
  tills: readonly StoredTillEFigures[],
  currencyOf: ReadonlyMap<string, string>,
  { kind, settings }: Pick<EReportQuery, "kind" | "settings">,
): PeriodContent {
  const build = (days: readonly DayFigures[]): PeriodContent => ({
    blocks:
      kind === "transactions"
        ? { transactions: buildTransactionsBlocks(days, settings) }
        : { payments: buildPaymentsBlocks(days, settings) },
    notReported: kind === "payments" ? computeNotReported(days, settings) : null,
    tooLarge: [],
  });
  try {
    return build(addUpDays(tills, currencyOf));
  } catch (error) {
    if (!(error instanceof AmountOutOfRangeError)) throw error;
    const tooLarge = tills
      .slice(0, 1)
      .map(({ locationId, day }) => ({ locationId, day, state: "without_figures" as const }));
    return { ...build([]), tooLarge };
  }
}

function computeNotReported(
  days: readonly DayFigures[],
  settings: StoredSettings,
): NonNullable<PeriodReport["notReported"]> {
  const otherSales = days.flatMap(({ day, figures }) =>
    figures.receipts.filter((receipt) => isVatOnDebits(day, settings) || findCategory(receipt, settings) !== "TPS1"),
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

function addUpDays(tills: readonly StoredTillEFigures[], currencyOf: ReadonlyMap<string, string>): DayFigures[] {
  return tills.flatMap(({ day, locationId, figures, excludedFigures }): DayFigures[] => {
    if (figures === null) return [];
    const all: EReportFigures = JSON.parse(figures);
    const left: EReportFigures | null = excludedFigures === null ? null : JSON.parse(excludedFigures);
    return [
      {
        ...{ day, currency: currencyOf.get(locationId) ?? defaultCurrency },
        figures: left ? subtractEReportFigures(all, left) : all,
      },
    ];
  });
}
