import { createDayFormatter } from "@pragma/contracts/date-time";
import type { EReportKind, EReportState, OpenDay } from "@pragma/contracts/e-reporting";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import { sum } from "../calculation/groups.ts";
import type { ReportingContext } from "../context.ts";
import { listLocationsOfBusiness } from "./access.ts";
import { areBlocksEqual, compareBlocks } from "./compare-blocks.ts";
import { buildPaymentsBlocks, buildTransactionsBlocks, type DayFigures, type EReportBlocks } from "./e-report.ts";
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
import { type EReportFigures, subtractEReportFigures } from "./till-e-figures.ts";

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
  /** Files of periods with other bounds, from before a change of the VAT regime. */
  overlapping: StoredTransmission[];
  excludedOrders: { locationId: string; orderId: string; day: string }[];
  unattributedReceipts: number;
}

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
  const periods = listPeriods(kind, settings.vatRegime, { since, until });
  const [first, last] = [periods[0]?.first, periods.at(-1)?.last];
  if (first === undefined || last === undefined) return [];
  const range = { since: first, until: last };
  const { locations } = await listLocationsOfBusiness(sql, siren, settings);
  const locationIds = locations.map(({ locationId }) => locationId);
  const [tills, unclosed, transmissions, currencies] = await Promise.all([
    listTillEFigures(sql, siren, locationIds, range),
    listUnclosedDays(sql, locationIds, periods, maxOpenDays),
    listTransmissionsOfDays(sql, { siren, kind }, range),
    services.locationCurrencies(locationIds, context),
  ]);
  const currencyOf = new Map(locationIds.map((id, index) => [id, currencies[index] ?? defaultCurrency]));
  const isWithin = ({ day }: { day: string }, period: EReportPeriod) => period.first <= day && day <= period.last;
  return periods.map((period): PeriodReport => {
    const tillsOfPeriod = tills.filter((till) => isWithin(till, period));
    const content = buildContent(tillsOfPeriod, currencyOf, { kind, settings });
    const overlapping = transmissions.filter(
      ({ period: first, until: last }) => first <= period.last && last >= period.first,
    );
    const ofPeriod = overlapping.filter((each) => each.period === period.first && each.until === period.last);
    const lastTransmission = ofPeriod.at(-1);
    const openDays = listOpenDays(period, [...content.tooLarge, ...unclosed], locations);
    const { blocks } = content;
    return {
      ...{ period, blocks, openDays, lastTransmission, tills: tillsOfPeriod },
      state: findState({ blocks, openDays, lastTransmission }),
      changes: lastTransmission ? compareBlocks(lastTransmission.blocks, blocks) : [],
      overlapping: overlapping.filter((each) => !ofPeriod.includes(each)),
      excludedOrders: tillsOfPeriod.flatMap(({ locationId, day, excludedOrderIds }) =>
        excludedOrderIds.map((orderId) => ({ locationId, orderId, day })),
      ),
      unattributedReceipts: content.unattributedReceipts,
    };
  });
}

interface PeriodContent {
  blocks: EReportBlocks;
  unattributedReceipts: number;
  /** A day of the period, if one of its sums is too large to be represented. */
  tooLarge: UnclosedDay[];
}

function buildContent(
  tills: readonly StoredTillEFigures[],
  currencyOf: ReadonlyMap<string, string>,
  { kind, settings }: Pick<EReportQuery, "kind" | "settings">,
): PeriodContent {
  const build = (days: readonly DayFigures[]): PeriodContent => ({
    blocks: {
      isVatOnDebits: settings.isVatOnDebits,
      ...(kind === "transactions"
        ? { transactions: buildTransactionsBlocks(days, settings) }
        : { payments: buildPaymentsBlocks(days, settings) }),
    },
    unattributedReceipts: sum(days.map(({ figures }) => figures.unattributedReceipts)),
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

/** Returns the date in the location that is furthest behind: a period ends when its last day has ended in all of them. */
export function findEarliestToday(locations: readonly Pick<LocationOfSiren, "timeZone">[], now = new Date()): string {
  const zones = locations.length > 0 ? locations.map(({ timeZone }) => timeZone) : ["Europe/Paris"];
  return zones.map((timeZone) => createDayFormatter(timeZone)(now.toISOString())).sort()[0] ?? "";
}

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
